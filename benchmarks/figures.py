"""Both figures of the paper at full scale, six repetitions, on two processes, under both schedules."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import Bar, Section, Table, duration
from fidelitree.experiments import pictures, sizes
from fidelitree.experiments.catalogue import save_rows
from fidelitree.experiments.sizes import PlannedRun, Row

if TYPE_CHECKING:
    from collections.abc import Callable

REPETITIONS = 6
PROCESSES = 2
LIMITS = {"printed": 180, "corrected": 1800}
FIGURES: dict[str, tuple[Callable[..., list[PlannedRun]], str]] = {
    "size-vs-epsilon": (sizes.size_vs_epsilon, "epsilon"),
    "size-vs-dimension": (sizes.size_vs_dimension, "n"),
}


def draw_figure(name: str, schedule: str, smoke: bool) -> tuple[list[Row], float]:
    """Run every cell, write the CSV and the pictures as `fidelitree experiment` does; the rows and the seconds."""
    plan, axis = FIGURES[name]
    started = time.perf_counter()
    cells = plan(schedule, 1 if smoke else REPETITIONS, 0)
    if smoke:
        cells = [replace(cell, n=3) for cell in cells if cell.n == 3 or cell.epsilon == 0.30]
    rows = sizes.run(cells, PROCESSES, lambda: None)
    with tempfile.TemporaryDirectory() as folder:
        save_rows(rows, Path(folder) / f"{name}.csv")
        pictures.save(pictures.sizes_figure(rows, axis), Path(folder), name)
    return rows, time.perf_counter() - started


def run(smoke: bool) -> Section:
    """Two figures under two schedules."""
    table, bars = [], []
    for schedule, limit in LIMITS.items():
        total = 0.0
        for name in FIGURES:
            rows, seconds = draw_figure(name, schedule, smoke)
            total += seconds
            wrong = sum(row.error > row.epsilon for row in rows)
            asked = sum(row.asked for row in rows)
            table.append([schedule, name, f"{len(rows)}", f"{asked:,}", f"{wrong}", duration(seconds)])
        met = None if smoke else total <= limit
        bars.append(Bar(f"both figures, {schedule} schedule, within {limit} s", duration(total), met))
    headings = ["schedule", "figure", "runs", "label queries", "error > epsilon", "time"]
    remark = (
        f"{REPETITIONS} repetitions of every cell on {PROCESSES} processes, CSV, PNG and SVG included. Each figure is "
        "timed once, so these times show what else the machine was doing."
    )
    return Section("figures", "the paper's two figures at full scale", [Table(headings, table, 2)], bars, remark)
