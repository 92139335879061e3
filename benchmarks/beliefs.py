"""Is what a run believes of a tree, when it opens a test for it, as likely as it says?

    python -m benchmarks.beliefs [--seeds 6] [--first 61000] [--epsilons 0.1 0.02]

Every opening of `distill` is noted with the chance that the tree's error is at most epsilon, as the run believed it.
Whether the error is, is decided by 20,000 inputs that the run does not see. Openings are put into five bins by what was
believed. The families are those of `benchmarks.paired`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

import fidelitree as ft
from benchmarks.paired import BITS, SAMPLE, TABLES, _model
from benchmarks.report import Table
from fidelitree.runs.economics import CURSE
from fidelitree.runs.loop import Candidate, Loop

BINS = 5
MOST = 30_000  # labels of a run


class Opening(NamedTuple):
    """What was believed of a tree, and its error."""

    believed: float
    error: float


@contextmanager
def noted(error_of: Callable[[Any], float], epsilon: float) -> Iterator[list[Opening]]:
    """Collect the openings of all runs for a while."""
    usual, found = Loop.open, []

    def opened(run: Any, candidate: Candidate) -> Any:
        best_of_many = 0.0 if candidate is run.asked_for else CURSE
        belief = candidate.evidence.and_(best_of_many, best_of_many)
        found.append(Opening(belief.chance(epsilon), error_of(candidate.tree)))
        return usual(run, candidate)

    Loop.open = opened  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Loop.open = usual  # type: ignore[method-assign]


def openings(target: Any, space: Any, epsilon: float, seed: int) -> list[Opening]:
    """Those of one run."""
    batch = space.draw(SAMPLE, seed=50_000 + seed)
    labels = np.asarray(target(batch))

    def error_of(tree: Any) -> float:
        return float(np.mean(np.asarray(tree.predict(batch)) != labels))

    with noted(error_of, epsilon) as found:
        ft.distill(target, space, epsilon=epsilon, seed=seed, max_queries=MOST)
    return found


def of_bits(epsilon: float, seed: int) -> Iterator[Opening]:
    """Those of all families over bits."""
    for case, (n, p, make) in BITS.items():
        target = make(np.random.default_rng([seed, sum(map(ord, case))]))
        yield from openings(target, ft.ProductSpace.bernoulli(n, p), epsilon, seed)


def of_tables(epsilon: float, seed: int) -> Iterator[Opening]:
    """Those of all models of tables."""
    for case in TABLES:
        yield from openings(*_model(case), epsilon, seed)


def row(found: list[Opening], epsilon: float) -> list[str]:
    """For each bin what was believed, on average, how often it was so, and of how many openings."""
    cells = []
    for place in range(BINS):
        inside = [one for one in found if min(BINS - 1, int(BINS * one.believed)) == place]
        if not inside:
            cells.append("-")
            continue
        believed = np.mean([one.believed for one in inside])
        true = np.mean([one.error <= epsilon for one in inside])
        cells.append(f"{believed:.2f} → {true:.2f} ({len(inside)})")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.beliefs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=6, help="runs of each case (default %(default)s)")
    parser.add_argument("--first", type=int, default=61_000, help="the first seed (default %(default)s)")
    parser.add_argument("--epsilons", type=float, nargs="*", default=[0.1, 0.02])
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.seeds)
    rows = []
    for name, runs in (("bits", of_bits), ("tables", of_tables)):
        for epsilon in chosen.epsilons:
            found = [one for seed in seeds for one in runs(epsilon, seed)]
            rows.append([f"{name}, {epsilon:g}", *row(found, epsilon)])
    bins = [f"{place / BINS:.1f} to {(place + 1) / BINS:.1f}" for place in range(BINS)]
    print(f"{chosen.seeds} seeds from {chosen.first}: what was believed → how often it was so (openings)")
    print(Table(["inputs, epsilon", *bins], rows).text())


if __name__ == "__main__":
    main()
