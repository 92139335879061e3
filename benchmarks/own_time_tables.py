"""Our own processor time over numbers and categories against release 0.1.0, and how it grows with features and leaves.

As in `own_time`, but other versions ask for other numbers of labels here, so each subject is run with several seeds.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.own_time import ROOT, child, geometric_mean, measure, release
from benchmarks.table_targets import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from benchmarks.own_time import Subject
    from benchmarks.report import Section

SEEDS = 3
FASTER, WIDER, LINEAR, STEEPEST = 8, 10, 1.1, 1.6
WIDE, WIDTHS = "boosting, {} numbers", (44, 88, 175, 350)
LEAVES, DEPTHS = "numeric tree of depth {}", (3, 4, 5, 6, 7)


def made(family: str, n: int, size: int, **options: Any) -> Subject:
    """A target of a family, the same for both versions."""
    target, space = FAMILIES[family](np.random.default_rng(size), n, size)
    return target, space, {"max_queries": 30_000} | options


COMPARED: dict[str, Callable[[], Subject]] = {
    "rules, 8 features": lambda: made("rules", 8, 4, epsilon=0.1),
    "rules, 16 features": lambda: made("rules", 16, 9, epsilon=0.05),
    "tree of depth 3, 6 numbers": lambda: made("numeric trees", 6, 3, epsilon=0.05),
    "tree of depth 5, 10 numbers": lambda: made("numeric trees", 10, 5, epsilon=0.05),
    "logistic regression, 5 numbers": lambda: made("logistic regressions", 5, 3, epsilon=0.1),
    "logistic regression, 20 numbers": lambda: made("logistic regressions", 20, 5, epsilon=0.1),
    "boosting, 8 numbers": lambda: made("boosted models", 8, 30, epsilon=0.1),
    "boosting, 30 numbers": lambda: made("boosted models", 30, 60, epsilon=0.1),
    "forest, 10 numbers": lambda: made("forests", 10, 20, epsilon=0.1),
    "forest, 30 numbers": lambda: made("forests", 30, 20, epsilon=0.15),
}
"""The tables that the bar is about; the wide one has a bar of its own."""
SUBJECTS = (
    COMPARED
    | {WIDE.format(n): partial(made, "boosted models", n, 50, epsilon=0.01, max_queries=3_000) for n in WIDTHS}
    | {LEAVES.format(depth): partial(made, "numeric trees", 12, depth, epsilon=0.05) for depth in DEPTHS}
)


def own(sources: Sequence[Path], name: str, seeds: int) -> list[tuple[float, float, float]]:
    """Of each version the geometric means of its own seconds, and the means of labels and of the target's seconds."""
    found = []
    for version in zip(
        *([child(place, name, seed, "own_time_tables") for place in sources] for seed in range(seeds)), strict=True
    ):
        means = [float(np.mean([run[what] for run in version])) for what in ("labels", "target")]
        found.append((geometric_mean([run["own"] for run in version]), *means))
    return found


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The power of the size by which time grows, fitted to the logarithms."""
    return float(np.polyfit([math.log(size) for size in sizes], [math.log(taken) for taken in seconds], 1)[0])


def run(smoke: bool) -> Section:
    """Ten tables and a wide one, both versions in turns; then ours alone, by features and by leaves of the target."""
    from benchmarks.report import Bar, Section, Table, duration, times

    widest, seeds = WIDE.format(WIDTHS[-1]), 1 if smoke else SEEDS
    rows, ratios, grown = [], {}, {}
    with tempfile.TemporaryDirectory() as folder:
        ours = ROOT / "src"
        versions = (ours if smoke else release(folder), ours)
        for name in list(COMPARED)[:1] if smoke else [*COMPARED, widest]:
            before, now = own(versions, name, seeds)
            ratios[name] = before[0] / now[0]
            labels = [f"{before[1]:,.0f}", f"{now[1]:,.0f}"]
            rows.append([name, *labels, duration(before[0]), duration(now[0]), times(ratios[name]), duration(now[2])])
        growing = [*map(LEAVES.format, DEPTHS), *map(WIDE.format, WIDTHS)]
        for name in growing[:1] if smoke else growing:
            grown[name] = own([ours], name, seeds)[0]
    wide = ratios.pop(widest, 1.0)
    mean = geometric_mean(list(ratios.values()))
    by_features, by_leaves = (
        0.0 if smoke else slope(sizes, [grown[name.format(size)][0] for size in named])
        for name, named, sizes in ((WIDE, WIDTHS, WIDTHS), (LEAVES, DEPTHS, [2**depth for depth in DEPTHS]))
    )
    promises = (
        (f"ten tables, geometric mean: at least {FASTER} times as fast as 0.1.0", times(mean), mean >= FASTER),
        (f"{widest}: at least {WIDER} times", times(wide), wide >= WIDER),
        (f"own time at most features^{LINEAR} at as many labels", f"{by_features:.2f}", by_features <= LINEAR),
        (f"own time at most leaves^{STEEPEST} of the target", f"{by_leaves:.2f}", by_leaves <= STEEPEST),
    )
    headings = ["target", "labels, 0.1.0", "labels", "own time, 0.1.0", "own time", "", "target"]
    growth = [[name, f"{labels:,.0f}", duration(taken)] for name, (taken, labels, _) in grown.items()]
    remark = (
        "Own time is processor time of the run less that inside the target's calls: geometric means of "
        f"{SEEDS} seeds, each run in a process of its own, both versions in turns. Below, ours alone: as many labels "
        "over ever more features, and trees as targets whose leaves double."
    )
    tables = [Table(headings, rows), Table(["target", "labels", "own time"], growth)]
    bars = [Bar(promise, measured, None if smoke else met) for promise, measured, met in promises]
    return Section("own_time_tables", "own processor time over tables, against 0.1.0", tables, bars, remark)


if __name__ == "__main__":
    print(json.dumps(measure(SUBJECTS[sys.argv[1]](), int(sys.argv[2]))))
