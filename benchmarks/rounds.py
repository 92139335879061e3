"""Rounds against labels: ``prefer="rounds"`` beside ``prefer="queries"``; `benchmarks.reach` has servers and workers.

python -m benchmarks.rounds [--runs 30] [--first SEED] [--only NAME ...]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import fidelitree as ft
from benchmarks.queries.forests import compas
from benchmarks.queries.targets import generator, iid

EPSILON = 0.1
BARS = (8, 1.5)  # rounds, and times the labels
Case = tuple[Callable[[Any], Any], ft.ProductSpace]


def black_box(target: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same without anything that could be looked up."""

    def asked(batch: Any) -> Any:
        return target(batch)

    return asked


def random_tree(p: float, number: int) -> Case:
    space = ft.ProductSpace.bernoulli(20, p)
    return black_box(iid(space, 4, generator(0, f"iid p={p}", number)).predict_inner), space


def forest(number: int) -> Case:
    found = list(compas().values())[number % 5]
    return black_box(found), ft.ProductSpace.bernoulli(found.n)


CASES: dict[str, Callable[[int], Case]] = {
    "iid p=0.5": partial(random_tree, 0.5),
    "iid p=0.3": partial(random_tree, 0.3),
    "iid p=0.1": partial(random_tree, 0.1),
    "multiplexer 20": lambda number: (black_box(ft.targets.multiplexer(4)), ft.ProductSpace.bernoulli(20)),
    "tribes 3x3": lambda number: (black_box(ft.targets.tribes(3, 3)), ft.ProductSpace.bernoulli(9)),
    "tribes 3x5": lambda number: (black_box(ft.targets.tribes(3, 5)), ft.ProductSpace.bernoulli(15)),
    "COMPAS": forest,
}


def measure(name: str, prefer: Any, seeds: range) -> tuple[float, float, float, int]:
    """Medians of rounds, labels and leaves, and how many runs were certified."""
    found = []
    for number in seeds:
        target, space = CASES[name](number)
        made = ft.distill(target, space, epsilon=EPSILON, seed=number, prefer=prefer)
        found.append((made.queries.rounds, int(made.queries.asked), made.tree.size, made.certificate.holds))
    rounds, labels, leaves, holds = zip(*found, strict=True)
    return statistics.median(rounds), statistics.median(labels), statistics.median(leaves), sum(holds)


def line(name: str, seeds: range) -> str:
    usual, few = (measure(name, prefer, seeds) for prefer in ("queries", "rounds"))
    times = few[1] / usual[1]
    met = "met" if few[0] <= BARS[0] and times <= BARS[1] and few[3] == len(seeds) else "NOT MET"
    both = " | ".join(f"{one[0]:g} | {one[1]:g} | {one[2]:g}" for one in (usual, few))
    return f"| {name} | {both} | {times:.2f} | {few[3]}/{len(seeds)} | {met} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    print("| target | rounds | labels | leaves | rounds | labels | leaves | times the labels | certified | bar |")
    print("| :-- " + "| --: " * 8 + "| :-- |")
    for name in options.only:
        print(line(name, range(options.first, options.first + options.runs)), flush=True)


if __name__ == "__main__":
    main()
