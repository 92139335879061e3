"""What a run costs beside its target: seconds of the whole run over seconds inside the target's calls, in one run.

The calls are those of the run itself, so the bare time is that of the same batches in the same order.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from benchmarks.report import Bar, Section, Table, duration

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
MEMORY = 10**9


class Timed:
    """A target that notes the time spent inside it; ``seconds`` that a row sleeps, or nothing."""

    def __init__(self, target: Callable[[Any], Any], sleep: float = 0.0) -> None:
        self.target, self.sleep = target, sleep
        self.seconds, self.rows, self.calls = 0.0, 0, 0

    def __call__(self, batch: Any) -> Any:
        started = time.perf_counter()
        if self.sleep:
            time.sleep(self.sleep * len(batch))
        labels = self.target(batch)
        self.seconds += time.perf_counter() - started
        self.rows += len(labels)
        self.calls += 1
        return labels


def rule(bits: Any) -> Any:
    """What the forest learns, and what the sleeping target answers."""
    return (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & bits[:, 3] & bits[:, 4])


def forest(trees: int, n: int) -> Callable[[Any], Any]:
    """A random forest over bits."""
    from sklearn.ensemble import RandomForestClassifier

    bits = np.random.default_rng(0).integers(0, 2, (4_000, n), np.uint8)
    return RandomForestClassifier(trees, random_state=0, n_jobs=1).fit(bits, rule(bits)).predict


def forest_of_numbers(smoke: bool) -> Callable[[Any], Any]:
    """A random forest over six numbers, two of which count together."""
    from sklearn.ensemble import RandomForestClassifier

    rows = np.random.default_rng(0).uniform(size=(500 if smoke else 4_000, 6))
    labels = ((rows[:, 0] > 0.5) & (rows[:, 1] > 0.3)) | (rows[:, 2] + rows[:, 3] > 1.4)
    fitted = RandomForestClassifier(10 if smoke else 200, random_state=0, n_jobs=1).fit(rows, labels)
    return lambda batch: fitted.predict(np.column_stack(list(batch.values())))


def ratio(target: Timed, run: Callable[[Timed], Any]) -> tuple[float, float]:
    """Seconds of the whole run, and how many times those inside the target."""
    started = time.perf_counter()
    run(target)
    seconds = time.perf_counter() - started
    return seconds, seconds / target.seconds


def run(smoke: bool) -> Section:
    """All bars of one machine in one run."""
    space = ft.ProductSpace.bernoulli(20)
    large = ft.ProductSpace.bernoulli(30)
    tree = ft.targets.balanced(large, 4, 1)
    epsilon = 0.1 if smoke else 0.01
    ft.distill(rule, ft.ProductSpace.bernoulli(5), 0.1)  # what is imported on the way belongs to no run
    practical = Timed(tree.predict)
    measured = {"practical_top_down, a tree": (*ratio(practical, _practical(large, smoke)), practical, 3.0)}
    votes = Timed(forest(10 if smoke else 200, 20))
    measured["distill, a forest over bits"] = (*ratio(votes, lambda t: ft.distill(t, space, epsilon)), votes, 1.25)
    numbers, many = ft.ProductSpace([ft.Numeric(f"x{i}", 0, 1) for i in range(6)]), Timed(forest_of_numbers(smoke))
    measured["distill, a forest over numbers"] = (*ratio(many, lambda t: ft.distill(t, numbers, epsilon)), many, 1.25)
    slow = Timed(rule, 0.001)
    measured["distill, 1 ms a row"] = (*ratio(slow, lambda t: ft.distill(t, space, epsilon)), slow, 1.05)
    rows = [
        [name, f"{target.rows:,}", f"{target.calls:,}", duration(seconds), f"{share:.3f}", f"{most:g}"]
        for name, (seconds, share, target, most) in measured.items()
    ]
    bars = [
        Bar(f"{name}: at most {most:g} times the bare target", f"{share:.3f}", None if smoke else share <= most)
        for name, (_, share, _, most) in measured.items()
    ]
    bars += [*_journal_and_workers(space, epsilon, smoke), _memory(smoke)]
    headings = ["run", "rows", "calls", "whole run", "over bare", "bar"]
    remark = (
        "Bare is the time inside the target's own calls in the same run. The forests are scikit-learn's, 200 trees, "
        "one thread; they and the sleeping target are asked at epsilon 0.01. Over bits a whole run takes fewer answers "
        "than one batch of 1 024 has: the table says how many calls there were. Over numbers there are such batches, "
        "in which a forest takes some 20 microseconds a row, and the time goes into the search for a small tree. The 2 "
        "workers share a run that asks all 2^12 inputs, which is what workers are for. Memory is that of a process "
        "that certifies the same rule over 1 000 bits at epsilon 0.001."
    )
    return Section("overhead", "what a run costs beside its target", [Table(headings, rows)], bars, remark)


def _practical(space: ft.ProductSpace, smoke: bool) -> Callable[[Timed], Any]:
    return lambda target: ft.practical_top_down(target, space, 0.3 if smoke else 0.1, 0.1)


def _journal_and_workers(space: ft.ProductSpace, epsilon: float, smoke: bool) -> list[Bar]:
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = ratio(Timed(rule, 0.001), lambda t: ft.distill(t, space, epsilon))
        kept, _ = ratio(Timed(rule, 0.001), lambda t: ft.distill(t, space, epsilon, journal=Path(folder, "run.db")))
    small = ft.ProductSpace.bernoulli(6 if smoke else 12)
    with ProcessPoolExecutor(2) as pool:
        pool.submit(time.sleep, 0).result()
        alone, _ = ratio(Timed(rule, 0.001), lambda t: ft.distill(t, small, 0))
        started = time.perf_counter()
        ft.distill(partial(_asleep, 0.001), small, 0, executor=pool)
        together = time.perf_counter() - started
    return [
        Bar(
            "with a journal at most 1.1 times that, 1 ms a row",
            f"{kept / plain:.3f}",
            None if smoke else kept <= 1.1 * plain,
        ),
        Bar(
            "2 workers at least 1.8 times as fast, 1 ms a row",
            f"{alone / together:.2f}",
            None if smoke else alone >= 1.8 * together,
        ),
    ]


def _asleep(seconds: float, batch: Any) -> Any:
    time.sleep(seconds * len(batch))
    return rule(batch)


def _memory(smoke: bool) -> Bar:
    n, epsilon = (50, 0.01) if smoke else (1_000, 0.001)
    command = [sys.executable, "-m", "benchmarks.run_memory", str(n), str(epsilon)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = int(json.loads(done.stdout)["bytes"])
    return Bar(
        f"epsilon {epsilon:g} at n = {n:,} below 1 GB", f"{found / 1e6:.0f} MB", None if smoke else found < MEMORY
    )
