"""Do `distill` and `frontier` tell one story of a model, and what does a goal out of reach cost?

    python -m benchmarks.story [--seeds 2] [--first 9000] [--epsilon 0.1] [--prefer queries rounds]

Twelve models of tables that come with scikit-learn, or are made. A run of `distill` that is certified is held against
`frontier` with as many labels: the smallest tree that it certifies for the same epsilon. What a run that fails has
asked is held against `frontier` without a limit on the same model, and against other seeds and `prefer`s.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import fidelitree as ft
from benchmarks.paired import TABLES, _model
from benchmarks.report import Table

MODELS = (*TABLES, "wine logistic", "breast_cancer boosting", "iris forest", "credit forest")
TIMES, MORE = 1.2, 1  # of the frontier's leaves


class Told(NamedTuple):
    """What came of one run, and of the frontier beside it."""

    certified: bool
    labels: int
    leaves: int
    of_frontier: int | None
    """The leaves of the smallest tree that the frontier certifies with as many labels."""
    sizes: int
    """How many of the frontier's sizes up to the tree's own are in `result.frontier`, too."""
    all_sizes: int


def compare(case: str, seed: int, epsilon: float, prefer: Any) -> Told:
    """One run of each."""
    target, space = _model(case)
    found = ft.distill(target, space, epsilon=epsilon, seed=seed, prefer=prefer)
    front = ft.frontier(target, space, seed=seed, max_queries=int(found.queries.asked))
    good = [point.leaves for point in front if point.error_bound <= epsilon]
    sizes = {point.leaves for point in front if point.leaves <= found.tree.size}
    both = sizes & {point.leaves for point in found.frontier}
    held = found.certificate.holds
    return Told(held, int(found.queries.asked), found.tree.size, min(good, default=None), len(both), len(sizes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="runs of each model (default %(default)s)")
    parser.add_argument("--first", type=int, default=9_000, help="the first seed (default %(default)s)")
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--prefer", nargs="*", default=["queries"])
    chosen = parser.parse_args()
    headings = ["model", "seed", "prefer", "labels", "leaves", "frontier's", "its sizes"]
    rows, cost = list[list[str]](), list[tuple[str, list[int], int]]()
    one_story = certified = 0
    for case in MODELS:
        failed = []
        for prefer in chosen.prefer:
            for seed in range(chosen.first, chosen.first + chosen.seeds):
                run = compare(case, seed, chosen.epsilon, prefer)
                leaves = f"{run.leaves}" if run.certified else f"{run.leaves}, not certified"
                sizes = f"{run.sizes} of {run.all_sizes}"
                frontiers = "-" if run.of_frontier is None else f"{run.of_frontier}"
                rows.append([case, f"{seed}", prefer, f"{run.labels:,}", leaves, frontiers, sizes])
                if run.certified:
                    certified += 1
                    one_story += run.of_frontier is None or run.leaves <= TIMES * run.of_frontier + MORE
                else:
                    failed.append(run.labels)
        if failed:
            target, space = _model(case)
            asked = int(ft.frontier(target, space, seed=chosen.first).queries.asked)
            cost.append((case, failed, asked))
    print(Table(headings, rows).text())
    print(f"at most {TIMES} times the frontier's leaves, and {MORE} more: {one_story} of {certified} certified runs")
    for case, labels, asked in cost:
        least, most = min(labels), max(labels)
        print(
            f"{case}: failed after {least:,} to {most:,} labels, {most / least:.2f} times apart;"
            f" a frontier asks {asked:,}: at most {most / asked:.2f} times as many"
        )


if __name__ == "__main__":
    main()
