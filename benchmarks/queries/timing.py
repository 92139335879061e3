"""A whole run against the target's own time, where the target takes 100 microseconds a row."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import fidelitree as ft
from benchmarks.queries.runs import Cell, progress
from benchmarks.queries.settings import DELTA, EPSILON, Settings
from benchmarks.report import Bar, Section, Table, duration

ROW = 100e-6
LIMIT = 3
SIZES = (20, 2_000)


class Sleeper:
    """A target that sleeps once a batch, as long as its rows take."""

    def __init__(self, target: Any) -> None:
        self.target, self.rows, self.slept = target, 0, 0.0

    def __call__(self, batch: Any) -> Any:
        started = time.perf_counter()
        time.sleep(ROW * len(batch))
        self.rows += len(batch)
        answers = self.target(batch)
        self.slept += time.perf_counter() - started
        return answers


def run(settings: Settings) -> Section:
    count = 1 if settings.smoke else settings.slow_targets
    table, bars = [], []
    for n in SIZES:
        cell = Cell(f"iid n={n}", n, family="iid", depth=2 if settings.smoke else 4)
        taken = []
        for k in range(count + 1):
            sleeper = Sleeper(cell.target(settings.seed, k))
            started = time.perf_counter()
            ft.distill(sleeper, cell.space(), EPSILON, DELTA, seed=k, max_seconds=settings.seconds)
            taken.append((time.perf_counter() - started, ROW * sleeper.rows, sleeper.slept))
        own = taken[1:]  # the first run loads what is loaded once
        whole, nominal, slept = (median(column) for column in zip(*own, strict=True))
        ratio, kinder = median(w / r for w, r, _ in own), median(w / s for w, _, s in own)
        progress(f"time {cell.name}: {ratio:.2f}")
        ratios = [f"{ratio:.2f}", f"{kinder:.2f}"]
        table.append([cell.name, duration(whole), duration(nominal), duration(slept), *ratios])
        promise = f"n = {n:,}: whole run at most {LIMIT} times the target's {ROW * 1e6:.0f} microseconds a row"
        bars.append(Bar(promise, f"{ratio:.2f}", None if settings.smoke else ratio <= LIMIT))
    headings = ["target", "whole run", "100 µs x rows", "measured in target", "ratio", "ratio to measured"]
    remark = (
        f"iid, depth 4, p = .5, strategy auto, medians over {count} targets after one that does not count. The bar is "
        "about 100 microseconds for every row paid; sleeping really takes longer, as the column beside it says. "
        "Measured on a machine that others used too."
    )
    return Section("time", "the whole run against a slow target", [Table(headings, table)], bars, remark)
