"""Forecasts after 400 labels against what the sizes reach in the end, model by model; none of them calibrated it."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.frontier.calibrate import FIRST, LAST, STEPS
from benchmarks.frontier.cases import MODELS, Case
from benchmarks.frontier.trial import DELTA, SIZES, labelled, true_errors
from benchmarks.report import Bar, Section, Table
from fidelitree.runs.forecast import Forecast, forecast
from fidelitree.search.labelled import Binning
from fidelitree.search.local.iterated import Refiner

if TYPE_CHECKING:
    import argparse

COVERED, WIDTH, LEAST = 0.9, 0.15, 12
JUDGED = 50_000  # fresh inputs: an end is not so sharp that more would matter


def section(options: argparse.Namespace) -> Section:
    """One forecast for each model, over marginals or a box."""
    lines, hits, widths = [], [], []
    for model in options.models:
        case = Case(model, "box" if MODELS[model]().uniform else "marginals")
        found, errors = _told_and_true(case)
        inside = [one.low <= error <= one.high for one, error in zip(found.prospects, errors, strict=True)]
        wide = [one.high - one.low for one in found.prospects]
        hits += inside
        widths += wide
        last = found.prospects[-1]
        told = f"{last.low:.3f} to {last.high:.3f}"
        lines.append([model, f"{np.mean(inside):.2f}", f"{median(wide):.3f}", told, f"{errors[-1]:.3f}"])
    share, width = float(np.mean(hits)), median(widths)
    judged = len(lines) >= LEAST
    bars = [
        Bar(
            f"{COVERED:.0%} of errors inside, over at least {LEAST} models",
            f"{share:.3f}",
            share >= COVERED if judged else None,
        ),
        Bar(f"median width at most {WIDTH:g}", f"{width:.3f}", width <= WIDTH if judged else None),
    ]
    headings = ["model", "inside", "median width", "64 leaves, forecast", "64 leaves, true"]
    remark = f"The end is a search on {LAST:,} labels, the same that the forecast was calibrated by."
    return Section("forecasts", f"after {FIRST} labels", [Table(headings, lines, 1)], bars, remark)


def _told_and_true(case: Case) -> tuple[Forecast, list[float]]:
    data = labelled(case, 0, LAST)
    classes, codes = np.unique(data.labels, return_inverse=True)
    found = forecast(data.space, data.inner[:FIRST], codes[:FIRST], SIZES, DELTA)
    binning = Binning.of(data.space, data.inner)
    search = Refiner(binning.coded(codes), 0)
    for size in SIZES[1:]:
        search.improve_at(size, STEPS)
    fitted = [search.with_leaves(size).tree for size in SIZES]
    trees = [binning.tree(tree, range(len(classes)), list(classes)) for tree in fitted]
    return found, true_errors(case, trees, 0, JUDGED)
