"""``python -m benchmarks.diff``: the figures of docs/diff.md; ``--few`` is a smoke run."""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np

import fidelitree as ft
from benchmarks.diff.cases import Case, forests, patched, random_patch


def judged(case: Case, found: Any) -> tuple[float, float, float]:
    """The true share of changes, and the true precision and recall of the tree, by many fresh inputs."""
    batch = case.space.draw(200_000, seed=12_345)
    old, new = (np.asarray(one(batch)) for one in (case.old, case.new))
    flagged, changed = found.flags(batch, old.tolist()), old != new
    both = (flagged & changed).sum()
    return float(changed.mean()), float(both / max(1, flagged.sum())), float(both / max(1, changed.sum()))


def one_line(case: Case, found: Any, seconds: float) -> tuple[str, bool]:
    share, precision, recall = judged(case, found)
    true = found.changed[0] <= share <= found.changed[1] and precision >= found.precision and recall >= found.recall
    asked = int(found.queries.asked)
    figures = f"{100 * share:5.2f} % {asked:7,} labels {(asked - 500) * share:6.1f} {found.leaves:3} leaves"
    bounds = f"precision {found.precision:.3f} ({precision:.3f}) recall {found.recall:.3f} ({recall:.3f})"
    return f"{case.name:<10} {figures} {bounds} {seconds:5.1f} s {'' if true else 'FALSE'} {found.reason}", true


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.diff")
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--part", choices=["patch", "random", "identical", "forests"])
    told = parser.parse_args()
    part = lambda name: told.part in (None, name)  # noqa: E731
    model, one, two, space = forests()
    runs, patches = (2, 2) if told.few else (9, 30)
    for recall in (0.9, 0.8) if part("patch") else ():
        labels, leaves = [], []
        for seed in range(runs):
            began = time.perf_counter()
            found = ft.diff(*(patched(model, space).old, patched(model, space).new), space, recall=recall, seed=seed)
            print(one_line(patched(model, space), found, time.perf_counter() - began)[0])
            labels.append(int(found.queries.asked))
            leaves.append(found.leaves)
        print(f"recall {recall}: median {statistics.median(labels):,} labels, {statistics.median(leaves)} leaves\n")
    if part("random"):
        costs, certified, false = [], 0, 0
        for seed in range(patches):
            case, began = random_patch(seed), time.perf_counter()
            found = ft.diff(case.old, case.new, case.space, seed=seed)
            line, true = one_line(case, found, time.perf_counter() - began)
            print(line)
            costs.append((int(found.queries.asked) - 500) * case.truth())
            certified, false = certified + found.explained, false + (not true)
        few = [sum(cost <= bar for cost in costs) for bar in (70, 100)]
        print(
            f"{certified} of {patches} certified, {false} false; (labels - 500) x share: median "
            f"{statistics.median(costs):.0f}, {few[0]} at most 70, {few[1]} at most 100\n"
        )
    if part("identical"):
        found = ft.diff(model, model, space)
        print(f"identical: {found.queries.asked:,} labels, changed at most {found.changed[1]:.2g}: {found.reason}\n")
    if part("forests"):
        began = time.perf_counter()
        found = ft.diff(one, two, space)
        print(one_line(Case("forests", one, two, space), found, time.perf_counter() - began)[0])
        for point in found.curve:
            print(f"  {point.leaves:3} leaves: precision {point.precision:.3f}, recall {point.recall:.3f}")


if __name__ == "__main__":
    main()
