"""`Tree.predict` against scikit-learn's `predict`: the same tree, the same rows, each in the type it likes best."""

from __future__ import annotations

import numpy as np

from benchmarks.clock import Contestant, shortest
from benchmarks.report import Bar, Section, Table, duration, times
from benchmarks.twin import sklearn_twin
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets import balanced

FEATURES = 20
JUDGED_DEPTH = 4


def measure(depth: int, rows: int, seconds: float) -> list[float]:
    """Seconds of scikit-learn, of ours row by row in memory, of ours feature by feature."""
    tree = balanced(ProductSpace.bernoulli(FEATURES), depth, seed=depth)
    twin = sklearn_twin(tree)
    by_rows = np.random.default_rng(depth).integers(0, 2, (rows, FEATURES), dtype=np.uint8)
    by_features = np.asfortranarray(by_rows)
    floats = by_rows.astype(np.float32)
    labels = twin.predict(floats)
    for inputs in (by_rows, by_features):
        if not np.array_equal(tree.predict(inputs), labels):
            raise RuntimeError(f"predictions of {tree!r} must be those of scikit-learn")
    return shortest(
        Contestant(lambda _: twin.predict(floats)),
        Contestant(lambda _: tree.predict(by_rows)),
        Contestant(lambda _: tree.predict(by_features)),
        seconds=seconds,
    )


def run(smoke: bool) -> Section:
    """Complete trees of 4 to 1024 leaves."""
    depths = [2, JUDGED_DEPTH] if smoke else [2, 4, 6, 8, 10]
    table, judged = [], []
    for rows in [2_000] if smoke else [1_000_000, 20_000]:
        for depth in depths:
            peer, by_rows, by_features = measure(depth, rows, 0.1 if smoke else 4)
            ratios = [peer / by_rows, peer / by_features]
            ours = [duration(by_rows), times(ratios[0]), duration(by_features), times(ratios[1])]
            table.append([f"{rows:,}", f"{2**depth:,}", duration(peer), *ours])
            judged += ratios if depth == JUDGED_DEPTH else []
    headings = ["rows", "leaves", "scikit-learn", "fidelitree, C order", "", "fidelitree, F order", ""]
    bar = Bar(
        "at least 3x scikit-learn on the tree of depth 4",
        f"{times(min(judged))} to {times(max(judged))} over numbers of rows and orders",
        None if smoke else min(judged) >= 3,
    )
    remark = (
        f"n = {FEATURES} fair bits, complete trees. scikit-learn has the same nodes and gets float32 rows in C order, "
        "its best case; we get uint8. Both check their input; all predictions are equal."
    )
    return Section("predict", "labels of many rows from one tree", [Table(headings, table, 0)], [bar], remark)
