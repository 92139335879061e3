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
            started, worked = time.perf_counter(), time.process_time()
            ft.distill(sleeper, cell.space(), EPSILON, DELTA, seed=settings.seed_of(k), max_seconds=settings.seconds)
            worked = time.process_time() - worked
            taken.append((time.perf_counter() - started, ROW * sleeper.rows, sleeper.slept, worked))
        own = taken[1:]  # the first run loads what is loaded once
        whole, nominal, slept, cpu = (median(column) for column in zip(*own, strict=True))
        ratio = median(whole / nominal for whole, nominal, *_ in own)
        alone = median(1 + cpu / nominal for _, nominal, _, cpu in own)
        progress(f"time {cell.name}: {ratio:.2f}")
        ratios = [f"{ratio:.2f}", f"{alone:.2f}"]
        table.append([cell.name, duration(whole), duration(nominal), duration(slept), duration(cpu), *ratios])
        promise = f"n = {n:,}: whole run at most {LIMIT} times the target's {ROW * 1e6:.0f} microseconds a row"
        bars.append(Bar(promise, f"{ratio:.2f}", None if settings.smoke else ratio <= LIMIT))
    headings = ["target", "whole run", "100 µs x rows", "measured in target", "processor", "ratio", "ratio alone"]
    remark = (
        f"iid, depth 4, p = .5, strategy auto, medians over {count} targets after one that does not count. The bar is "
        "about 100 microseconds for every row paid; sleeping really takes longer, as the column beside it says. "
        "*Ratio alone* is what a machine without other work would show: 1 + processor time / (100 microseconds x rows)."
    )
    return Section("time", "the whole run against a slow target", [Table(headings, table)], bars, remark)
