"""Frontiers of small functions against the least error of every size: the rows of `optimal/frontier.tsv`."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from benchmarks.queries.forests import read as read_forest
from benchmarks.report import Bar, Section, Table
from benchmarks.subjects import DATA
from fidelitree.search.optimal.lattice import axes_of
from fidelitree.search.optimal.optimum import least_errors

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

NEAR = 1.05  # of the least error that a tree of this size can have
EXACT = 1e-9
NAMES: dict[str, Callable[..., Any]] = {
    r"majority_(\d+)": ft.targets.majority,
    r"tribes_(\d+)x(\d+)": ft.targets.tribes,
    r"address_(\d+)": ft.targets.multiplexer,
    r"hwb_(\d+)": ft.targets.hidden_weighted_bit,
    r"sel_parity_(\d+)x(\d+)_k(\d+)": ft.targets.selector_parity,
}


def section(options: argparse.Namespace) -> Section:
    """One call as it comes, and one for as many leaves as the table goes up to."""
    lines, far, points = [], [], 0
    for name, n, most in _rows():
        target, space = _target(name), ft.ProductSpace.bernoulli(n)
        inputs = space.whole.inputs(0, 1 << n)
        least = least_errors(*axes_of(space, np.asarray(target(inputs), np.intp)), max(64, most)).errors
        for leaves in (64, most):
            front = ft.frontier(target, space, max_leaves=leaves)
            over = {point.leaves: _over(point.error_bound, least, point.leaves) for point in front}
            far += [f"{name}, {size} leaves: {ratio:.3f}" for size, ratio in over.items() if ratio > NEAR]
            points += len(front)
            worst = max(over.values())
            lines.append([name, f"{leaves}", f"{len(front)}", f"{worst:.3f}", f"{front.queries.asked:,}"])
    bars = [Bar(f"every point within {NEAR:g} of the least error of its size", "; ".join(far) or f"{points}", not far)]
    headings = ["function", "leaves at most", "points", "worst ratio", "labels"]
    remark = "Every input can be asked here, so errors are exact. Ratios: to the least error of any tree of that size."
    return Section("optima", "small functions", [Table(headings, lines, 1)], bars, remark)


def _rows() -> Iterator[tuple[str, int, int]]:
    """Name, bits, and the fewest leaves for the least error that the table has."""
    with (DATA / "optimal" / "frontier.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield row["target"], int(row["n"]), int(row["leaves_at_0.01"])


def _target(name: str) -> Callable[[Any], Any]:
    for pattern, make in NAMES.items():
        if match := re.fullmatch(pattern, name):
            return make(*map(int, match.groups()))  # type: ignore[no-any-return]
    return read_forest(DATA / "forests" / f"{name}.txt")


def _over(error: float, least: Any, leaves: int) -> float:
    """Our error over the least; 1 where both are nothing."""
    best = float(least[min(leaves, len(least)) - 1])
    return (error + EXACT) / (best + EXACT)
