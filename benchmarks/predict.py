"""`Tree.predict` against scikit-learn's `predict`: the same tree, the same rows.

Of bits, each in the type it likes best; of numbers, float64 as an array and as a pandas frame.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.clock import Contestant, shortest
from benchmarks.report import Bar, Section, Table, duration, times
from benchmarks.twin import sklearn_twin
from fidelitree.spaces.features import AtMost
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets import balanced
from fidelitree.trees.tree import Tree

FEATURES = 20
JUDGED_DEPTH = 4
NUMBERS, FITTED = 10, 60_000  # features that are numbers, and rows that a tree is fitted to


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


def numbers(depth: int, rows: int, seconds: float) -> tuple[int, list[float]]:
    """Leaves of a tree that scikit-learn fitted; seconds of both for an array, and of both for a frame."""
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    random = np.random.default_rng(depth)
    values = random.normal(size=(rows, NUMBERS)).astype(np.float32).astype(np.float64)  # scikit-learn compares float32
    frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(NUMBERS)])
    noisy = values[:, 0] + values[:, 1] * values[:, 2] + random.normal(size=rows) > 0
    fitted = [
        DecisionTreeClassifier(max_depth=depth, random_state=0).fit(inputs[:FITTED], noisy[:FITTED])
        for inputs in (values, frame)
    ]
    inner = fitted[0].tree_
    sides = zip(inner.feature, inner.threshold, inner.children_right, inner.children_left, inner.value, strict=True)
    nodes: list[Any] = [
        int(shares.argmax()) if feature < 0 else (AtMost(int(feature), float(cut)), int(no), int(yes))
        for feature, cut, no, yes, shares in sides
    ]
    tree = Tree.build(ProductSpace.from_data(frame[:1_000]), nodes, [False, True])
    for inputs in (values, frame):
        if not np.array_equal(tree.predict(inputs), fitted[0].predict(values)):
            raise RuntimeError(f"predictions of {tree!r} must be those of scikit-learn")
    return tree.size, shortest(
        Contestant(lambda _: fitted[0].predict(values)),
        Contestant(lambda _: tree.predict(values)),
        Contestant(lambda _: fitted[1].predict(frame)),
        Contestant(lambda _: tree.predict(frame)),
        seconds=seconds,
    )


def of_numbers(smoke: bool) -> tuple[Table, list[Bar]]:
    """Three depths, with a bar for each."""
    table, bars = [], []
    for depth, least in ((4, 2.0),) if smoke else ((4, 2.0), (8, 2.0), (12, 1.8)):
        leaves, (peer, ours, peer_frame, ours_frame) = numbers(depth, 2_000 if smoke else 500_000, 0.1 if smoke else 4)
        ratios = peer / ours, peer_frame / ours_frame
        taken = [duration(peer), duration(ours), times(ratios[0]), duration(peer_frame), duration(ours_frame)]
        table.append([str(depth), f"{leaves:,}", *taken, times(ratios[1])])
        judged = None if smoke else min(ratios) >= least
        bars.append(Bar(f"numbers, depth {depth}: at least {least:g}x scikit-learn", times(min(ratios)), judged))
    headings = ["depth", "leaves", "scikit-learn, array", "fidelitree", "", "scikit-learn, frame", "fidelitree", ""]
    return Table(headings, table, 0), bars


def run(smoke: bool) -> Section:
    """Complete trees of 4 to 1024 leaves over bits, and fitted trees over numbers."""
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
        "its best case; we get uint8. Both check their input; all predictions are equal. The second table is of "
        f"500,000 rows of {NUMBERS} numbers, float64 in C order and as a pandas frame, and of trees that scikit-learn "
        f"fitted to {FITTED:,} of them."
    )
    by_numbers, bars = of_numbers(smoke)
    tables = [Table(headings, table, 0), by_numbers]
    return Section("predict", "labels of many rows from one tree", tables, [bar, *bars], remark)
