"""A whole run against the target's own time, both as processor time: what a run costs where answers take a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

import fidelitree as ft
from benchmarks.queries.runs import progress
from benchmarks.queries.settings import DELTA, EPSILON, Settings
from benchmarks.queries.targets import generator, iid
from benchmarks.report import Bar, Section, Table, duration

SIZES = (20, 2_000)
LIMITS = {100e-6: 2.0, 1e-3: 1.1}  # seconds a row, and the most that a whole run may take of them
TURNS = 3
Target = Callable[[Any], Any]


def rule(space: ft.ProductSpace, random: np.random.Generator) -> Target:
    """Two bits, or three others."""
    a, b, c, d, e = random.choice(len(space), 5, replace=False)
    return lambda batch: (batch[:, a] & batch[:, b]) | (batch[:, c] & batch[:, d] & batch[:, e])


SUBJECTS: dict[str, Callable[[ft.ProductSpace, np.random.Generator], Target]] = {
    "tree of depth 4": lambda space, random: iid(space, 4, random),
    "rule of two terms": rule,
    "constant": lambda space, random: lambda batch: np.zeros(len(batch), np.int64),
}


class Busy:
    """A target that works for so many seconds of processor time a row, and counts them."""

    def __init__(self, target: Target, row: float) -> None:
        self.target, self.row, self.seconds, self.rows = target, row, 0.0, 0

    def __call__(self, batch: Any) -> Any:
        started = time.process_time()
        answers = self.target(batch)
        while (taken := time.process_time() - started) < self.row * len(batch):
            sum(range(300))  # looking at the clock all the time would be the system's work, not the target's
        self.seconds += taken
        self.rows += len(batch)
        return answers


def measure(name: str, n: int, row: float, number: int, settings: Settings) -> tuple[float, float, int]:
    """Seconds of a run, how many times those inside its target, and rows; of several runs, the shortest counts."""
    found = []
    for _ in range(TURNS):
        space = ft.ProductSpace.bernoulli(n)
        busy = Busy(SUBJECTS[name](space, generator(settings.seed, f"{name} n={n}", number)), row)
        started = time.process_time()
        ft.distill(busy, space, EPSILON, DELTA, seed=settings.seed_of(number))
        whole = time.process_time() - started
        found.append((whole, whole / busy.seconds, busy.rows))
    return min(found)


def run(settings: Settings) -> Section:
    count = 1 if settings.smoke else settings.slow_targets
    table, bars = [], []
    measure("rule of two terms", 20, 0.0, 0, settings)  # what is loaded once belongs to no run
    for (row, most), name, n in ((one, name, n) for one in LIMITS.items() for name in SUBJECTS for n in SIZES):
        runs = [measure(name, n, row, number, settings) for number in range(count)]
        whole, ratio, rows = (median(column) for column in zip(*runs, strict=True))
        progress(f"time {name}, n = {n}, {duration(row)} a row: {ratio:.2f}")
        table.append([name, f"{n:,}", duration(row), f"{rows:,.0f}", duration(whole), f"{ratio:.2f}"])
        if name != "constant":
            promise = f"{name}, n = {n:,}, {duration(row)} a row: at most {most:g} times the target's own time"
            bars.append(Bar(promise, f"{ratio:.2f}", None if settings.smoke else ratio <= most))
    headings = ["target", "n", "a row", "rows", "whole run", "over the target"]
    remark = (
        f"p = .5, strategy auto, medians over {count} targets, each with a seed of its own; of {TURNS} runs the "
        "shortest counts. All times are processor time. Other work on the machine makes it longer where it takes away "
        "what is cached, by a third on a busy one. A constant has no bar: it takes what a run takes at least, for the "
        "fewest answers."
    )
    return Section("time", "the whole run against a target that takes a while", [Table(headings, table)], bars, remark)
