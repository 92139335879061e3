"""Algorithm 2 from end to end against scikit-learn's bare `predict` of as many rows with the same target tree.

Drawing, pairing, asking, routing and counting together must not take longer than the peer's labels alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import Contestant, shortest
from benchmarks.report import Bar, Section, Table, duration, times
from benchmarks.twin import sklearn_twin
from fidelitree.asking.repeats import CHECK
from fidelitree.runs.paper import practical_top_down
from fidelitree.runs.result import Distillation
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets import balanced
from fidelitree.trees.tree import Tree

DEPTH, EPSILON, DELTA = 4, 0.1, 0.1
PEER_ROWS = 1 << 20
PEER_BATCHES = (1 << 12, 1 << 14, 1 << 16, 1 << 20)


class Receiver:
    """A target that counts the rows it really receives, and keeps a share of them, spread over the whole run."""

    def __init__(self, tree: Tree, share: float = 0.0) -> None:
        self.tree, self.share, self.rows = tree, share, 0
        self.kept: list[NDArray[np.uint8]] = []

    def __call__(self, batch: NDArray[np.uint8]) -> Any:
        self.rows += len(batch)
        wanted = int(self.share * self.rows) - sum(map(len, self.kept))
        if wanted > 0:
            self.kept.append(batch[:wanted].copy())
        return self.tree.predict(batch)


def distil(target: Any, space: ProductSpace, schedule: str, epsilon: float) -> Distillation:
    """The run that is timed."""
    return practical_top_down(target, space, epsilon, DELTA, seed=0, schedule=schedule)  # type: ignore[arg-type]


def peer_rate(tree: Tree, rows: NDArray[np.uint8], seconds: float) -> float:
    """Rows a second of scikit-learn, in batches of the size that suits it best."""
    twin = sklearn_twin(tree)
    floats = rows.astype(np.float32, order="C")
    if not np.array_equal(twin.predict(floats), tree.predict(rows)):
        raise RuntimeError(f"predictions of {tree!r} must be those of scikit-learn")

    def in_batches(step: int) -> Contestant:
        # Through all rows every time: a processor soon knows the branches of a small batch by heart.
        starts = range(0, len(floats), step)
        return Contestant(lambda _: [twin.predict(floats[start : start + step]) for start in starts])

    return len(floats) / min(shortest(*map(in_batches, PEER_BATCHES), seconds=seconds))


def measure(schedule: str, p: float, smoke: bool) -> tuple[list[str], float]:
    """A row of the table, and how many times as fast as the peer."""
    space = ProductSpace.bernoulli(6 if smoke else 20, p)
    epsilon = 0.4 if smoke else EPSILON
    tree = balanced(space, DEPTH, seed=0)
    result = distil(tree, space, schedule, epsilon)
    asked = int(result.queries.asked)
    receiver = Receiver(tree, min(1.0, PEER_ROWS / asked))
    queries = distil(receiver, space, schedule, epsilon).queries
    received = receiver.rows - queries.paid[CHECK]  # a function that is no tree is asked again, to see that it is one
    if not asked == queries.asked == received:
        raise RuntimeError(
            f"label queries must be rows that the target received, beside checks; got {asked}, {queries.asked} and "
            f"{received}"
        )
    seconds = 0.1 if smoke else 6
    ours = shortest(Contestant(lambda _: distil(tree, space, schedule, epsilon)), seconds=seconds)[0]
    peer = peer_rate(tree, np.concatenate(receiver.kept), seconds)
    ratio = asked / ours / peer
    cells = [f"{asked:,}", f"{result.tree.size}", duration(ours), f"{asked / ours / 1e6:.1f}", f"{peer / 1e6:.1f}"]
    return [schedule, f"{p:g}", *cells, times(ratio)], ratio


def run(smoke: bool) -> Section:
    """Both schedules at the paper's biases."""
    cells = [(schedule, p) for schedule in ("printed", "corrected") for p in (0.5, 0.3, 0.1)]
    measured = [measure(schedule, p, smoke) for schedule, p in cells]
    ratios = [ratio for _, ratio in measured]
    headings = ["schedule", "p", "label queries", "leaves", "seconds", "million/s", "scikit-learn, million/s", ""]
    bar = Bar(
        "label queries at least as fast as scikit-learn's bare predict",
        f"{times(min(ratios))} to {times(max(ratios))}",
        None if smoke else min(ratios) >= 1,
    )
    remark = (
        f"n = 20, a balanced target of depth {DEPTH}, epsilon = {EPSILON}, delta = {DELTA}, one core, no memory of "
        "answers: every query is a row that the target received. The peer predicts a million of those very rows, "
        "spread over the run, with the same tree: float32 in C order, in batches of the size that suits it best."
    )
    table = Table(headings, [row for row, _ in measured], 2)
    return Section("algorithm2", "practical_top_down from end to end", [table], [bar], remark)
