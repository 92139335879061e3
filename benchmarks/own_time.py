"""Our own processor time over bits, run minus target, against release 0.1.0 in the same run.

Both versions make the same calls, each in a process of its own, in turns. A child is a module run as a program with the
version's sources on its path, so it uses nothing but the public names that both have.
"""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft

if TYPE_CHECKING:
    from benchmarks.report import Section

ROOT = Path(__file__).resolve().parents[1]
RELEASE = "584378f"  # 0.1.0
TURNS = 3
Subject = tuple[Callable[[Any], Any], ft.ProductSpace, dict[str, Any]]


class Clocked:
    """A target that notes the processor time spent inside it."""

    def __init__(self, target: Callable[[Any], Any]) -> None:
        self.target, self.seconds = target, 0.0

    def __call__(self, batch: Any) -> Any:
        started = time.process_time()
        labels = self.target(batch)
        self.seconds += time.process_time() - started
        return labels


def tree(n: int, depth: int, seed: int = 3) -> Subject:
    """A random balanced tree as a black box."""
    space = ft.ProductSpace.bernoulli(n)
    return ft.targets.balanced(space, depth, seed).predict, space, {"epsilon": 0.05}


def textbook(function: Callable[[Any], Any], n: int, **options: Any) -> Subject:
    """A function with a name, over fair bits."""
    return function, ft.ProductSpace.bernoulli(n), options


def network(n: int, width: int, **options: Any) -> Subject:
    """A network of one hidden layer with weights of -3 to 3, whose two labels are about as frequent."""
    random = np.random.default_rng(n)
    first, second = (random.integers(-3, 4, shape).astype(np.float32) for shape in ((n, width), width))

    def score(batch: Any) -> Any:
        return np.maximum(batch.astype(np.float32) @ first, 0) @ second

    middle = np.median(score(random.integers(0, 2, (1_000, n))))
    return lambda batch: (score(batch) > middle).astype(int), ft.ProductSpace.bernoulli(n), options


def words(n: int, p: float, **options: Any) -> Subject:
    """A text is spam when enough of the words that say so are in it, and few of the others: bits that are rarely 1."""
    votes = np.random.default_rng(n).integers(-2, 4, n)
    return lambda batch: (batch.astype(np.int64) @ votes > 2).astype(int), ft.ProductSpace.bernoulli(n, p), options


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "tree of depth 4, n = 20": lambda: tree(20, 4),
    "tree of depth 6, n = 20": lambda: tree(20, 6),
    "tree of depth 6, n = 200": lambda: tree(200, 6),
    "tree of depth 4, n = 2 000": lambda: tree(2_000, 4),
    "multiplexer, n = 20": lambda: textbook(ft.targets.multiplexer(4), 20, epsilon=0.05),
    "tribes, n = 16": lambda: textbook(ft.targets.tribes(4, 4), 16, epsilon=0.05),
    "parity of 5, n = 200": lambda: textbook(lambda batch: batch[:, :5].sum(axis=1) % 2, 200, epsilon=0.05),
    "network, n = 20": lambda: network(20, 6, epsilon=0.1, max_queries=2_000),
    "word bits at p = .02, n = 200": lambda: words(200, 0.02, epsilon=0.2, max_queries=731),
    "network, n = 1 024": lambda: network(1_024, 16, epsilon=0.3, max_queries=2_500),
}
WIDE = tuple(SUBJECTS)[-2:]


def measure(subject: Subject, seed: int) -> dict[str, Any]:
    """One run: our own seconds and the target's, labels, leaves and the tree's digest."""
    target, space, options = subject
    ft.distill(lambda batch: batch[:, 0] & batch[:, 1], ft.ProductSpace.bernoulli(5), 0.1)  # imports belong to no run
    ft.distill(lambda batch: batch["x"] > 0.3, ft.ProductSpace([ft.Numeric("x", 0, 1)]), 0.1)
    clocked = Clocked(target)
    started = time.process_time()
    found = ft.distill(clocked, space, seed=seed, **options)
    whole = time.process_time() - started
    return {
        "own": whole - clocked.seconds,
        "target": clocked.seconds,
        "labels": int(found.queries.asked),
        "leaves": found.tree.size,
        "digest": found.tree.digest,
    }


def child(sources: Path, name: str, seed: int = 0, program: str = "own_time") -> dict[str, Any]:
    """The same of a benchmark's subject, in a fresh process with another version's sources."""
    command = [sys.executable, "-m", f"benchmarks.{program}", name, str(seed)]
    environment = os.environ | {"PYTHONPATH": f"{sources}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=sources)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def release(folder: str) -> Path:
    """The sources of 0.1.0, out of this repository's history."""
    packed = subprocess.run(["git", "archive", RELEASE, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder, "src")


def geometric_mean(values: list[float]) -> float:
    """The mean of the logarithms, as a number again."""
    return math.exp(sum(map(math.log, values)) / len(values))


def run(smoke: bool) -> Section:
    """All subjects, both versions in turns; the shortest time of each counts."""
    from benchmarks.report import Bar, Section, Table, duration, times

    names = list(SUBJECTS)[:1] if smoke else list(SUBJECTS)
    rows, ratios = [], {}
    with tempfile.TemporaryDirectory() as folder:
        ours = ROOT / "src"
        versions = (ours if smoke else release(folder), ours)  # a copy without history can show that it runs, too
        for name in names:
            turns = [[child(sources, name) for sources in versions] for _ in range(1 if smoke else TURNS)]
            before, now = (min(version, key=lambda found: found["own"]) for version in zip(*turns, strict=True))
            ratios[name] = before["own"] / now["own"]
            labels = [f"{before['labels']:,}", f"{now['labels']:,}"]
            taken = [duration(before["own"]), duration(now["own"]), times(ratios[name]), duration(now["target"])]
            rows.append([name, *labels, *taken])
    wide = geometric_mean([ratios.get(name, 1.0) for name in WIDE])
    bars = [
        Bar(
            "ten subjects, geometric mean: at least 5 times as fast as 0.1.0",
            times(geometric_mean(list(ratios.values()))),
            None if smoke else geometric_mean(list(ratios.values())) >= 5,
        ),
        Bar("sparse and wide: at least 10 times", times(wide), None if smoke else wide >= 10),
    ]
    headings = ["target", "labels, 0.1.0", "labels", "own time, 0.1.0", "own time", "", "target"]
    remark = (
        "Own time is processor time of the run less that inside the target's calls; the shortest of "
        f"{TURNS} runs, each in a process of its own, both versions in turns."
    )
    return Section("own_time", "own processor time over bits, against 0.1.0", [Table(headings, rows)], bars, remark)


if __name__ == "__main__":
    print(json.dumps(measure(SUBJECTS[sys.argv[1]](), int(sys.argv[2]))))
