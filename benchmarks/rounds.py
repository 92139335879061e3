"""Rounds against labels: ``prefer="rounds"`` beside ``prefer="queries"``, and what a far server makes of both.

python -m benchmarks.rounds [--runs 30] [--only NAME ...] [--server]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
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


def measure(name: str, prefer: Any, runs: int) -> tuple[float, float, float, int]:
    """Medians of rounds, labels and leaves, and how many runs were certified."""
    found = []
    for number in range(runs):
        target, space = CASES[name](number)
        made = ft.distill(target, space, epsilon=EPSILON, seed=number, prefer=prefer)
        found.append((made.queries.rounds, int(made.queries.asked), made.tree.size, made.certificate.holds))
    rounds, labels, leaves, holds = zip(*found, strict=True)
    return statistics.median(rounds), statistics.median(labels), statistics.median(leaves), sum(holds)


def line(name: str, runs: int) -> str:
    usual, few = (measure(name, prefer, runs) for prefer in ("queries", "rounds"))
    times = few[1] / usual[1]
    met = "met" if few[0] <= BARS[0] and times <= BARS[1] and few[3] == runs else "NOT MET"
    both = " | ".join(f"{one[0]:g} | {one[1]:g} | {one[2]:g}" for one in (usual, few))
    return f"| {name} | {both} | {times:.2f} | {few[3]}/{runs} | {met} |"


def slow_workers() -> str:
    """137 rows or so at 50 ms a call, on 64 threads."""

    def slow(batch: Any) -> Any:
        time.sleep(0.05 * len(batch))
        return batch[:, 3] & (batch[:, 0] | batch[:, 7])

    space = ft.ProductSpace.bernoulli(20)
    with ThreadPoolExecutor(64) as pool:
        ft.distill(slow, space, epsilon=0.05, executor=pool, prefer="rounds")  # imports, and threads that start
        began = time.perf_counter()
        found = ft.distill(slow, space, epsilon=0.05, executor=pool, prefer="rounds")
        taken = time.perf_counter() - began
    return f"64 threads, 50 ms a row: {found.queries.asked:,} labels, {found.queries.rounds} rounds, {taken:.2f} s"


def limited_server() -> str:
    """A server with 200 ms latency, a limit of 50 rows a second and 5 % failures."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from endpoints import Endpoint, serving

    space, shares = ft.ProductSpace.bernoulli(12), []
    with serving(Endpoint(latency=0.2, fails_every=20, rows_per_second=50)) as endpoint:
        target = ft.targets.http(endpoint.url, rows_per_second=50)
        tree = ft.Tree.constant(space, 1)
        ft.certify(tree, target, space, within=0.001, max_queries=500, retries=5, batch_size=2, deterministic=False)
        shares.append(endpoint.rows / (endpoint.last - endpoint.first) / 50)
    with serving(Endpoint(lambda rows: [row[3] & (row[0] | row[7]) for row in rows], 0.2, 20, 50)) as endpoint:
        target = ft.targets.http(endpoint.url, rows_per_second=50)
        ft.distill(target, space, epsilon=0.02, prefer="rounds", retries=5, batch_size=2)
        shares.append(endpoint.rows / (endpoint.last - endpoint.first) / 50)
    return f"limited server: certify {shares[0]:.3f} of the limit, distill {shares[1]:.3f}; bar 0.9"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--only", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--server", action="store_true", help="the far server and the slow workers only")
    options = parser.parse_args()
    if options.server:
        print(slow_workers())
        print(limited_server())
        return
    print("| target | rounds | labels | leaves | rounds | labels | leaves | times the labels | certified | bar |")
    print("| :-- " + "| --: " * 8 + "| :-- |")
    for name in options.only:
        print(line(name, options.runs), flush=True)


if __name__ == "__main__":
    main()
