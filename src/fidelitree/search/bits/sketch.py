"""Small trees for labelled rows, by looking several splits ahead.

The cost of a tree is its errors plus a penalty for every split. At each node the search takes the first split of
the cheapest tree of depth up to 4 for the node's rows, then goes on below: impurity alone sees nothing in a
parity, and an exhaustive search to full depth is out of reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.lookahead import Lookahead
from fidelitree.spaces.features import IsOne, Test
from fidelitree.trees.nested import Nested, itself, mapped
from fidelitree.trees.predict import leaf_values

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class LabelledRows:
    """Rows of bits with label codes and weights; ``penalties`` is what a split on each feature costs."""

    bits: Floats
    codes: NDArray[np.intp]
    weights: Floats
    penalties: Floats


def fit(rows: LabelledRows, horizon: int, before: Nested | None = None, watch: Watch = go_on) -> Nested:
    """A tree for the rows; where it costs the same, the tree of ``before`` is kept. ``watch`` may end it by raising."""
    return _grow(rows, np.arange(len(rows.codes)), horizon, before, watch)


def _grow(rows: LabelledRows, inside: NDArray[np.intp], horizon: int, before: Nested | None, watch: Watch) -> Nested:
    codes = rows.codes[inside]
    masses = np.bincount(codes, rows.weights[inside])
    label, errors = int(masses.argmax()), float(masses.sum() - masses.max())
    least = float(rows.penalties.min(initial=np.inf))
    if errors <= least:
        return label
    bits = rows.bits[inside]
    varied = np.flatnonzero(bits.any(axis=0) & ~bits.all(axis=0))
    if not len(varied):
        return label
    node = Lookahead(
        rows.bits[np.ix_(inside, varied)], rows.codes[inside], rows.weights[inside], rows.penalties[varied], watch
    )
    feature, cost = _best_split(node, varied, horizon, before)
    if cost >= errors:
        return label
    yes = bits[:, feature] > 0
    below = before[1:] if isinstance(before, tuple) and before[0].feature == feature else (None, None)
    sides = [
        _grow(rows, part, min(horizon, 3), old, watch)
        for part, old in zip((inside[~yes], inside[yes]), below, strict=True)
    ]
    return sides[0] if sides[0] == sides[1] else (IsOne(feature), sides[0], sides[1])


def _best_split(node: Lookahead, varied: NDArray[np.intp], horizon: int, before: Nested | None) -> tuple[int, float]:
    for depth in range(1, horizon + 1):
        costs = node.costs(depth)
        # A tree that needs more depth has more than ``depth`` splits.
        if costs.min() <= (depth + 1) * node.penalties.min():
            break
    best = int(costs.argmin())
    if isinstance(before, tuple):
        old = np.flatnonzero(varied == before[0].feature)
        if len(old) and costs[old[0]] <= costs[best] + 1e-4:
            best = int(old[0])
    return int(varied[best]), float(costs[best])


def predict(tree: Nested, bits: NDArray[np.generic]) -> NDArray[np.intp]:
    """The code of every row."""
    return leaf_values(tree, itself, lambda test, here: bits[here, test.feature] != 0, len(bits))


def rename(tree: Nested, names: Mapping[int, int]) -> Nested:
    """The same tree over features with other numbers; below a feature without one, the first label is put."""

    def change(test: Test, no: Nested, yes: Nested) -> Nested:
        return (IsOne(names[test.feature]), no, yes) if test.feature in names else 0

    return mapped(tree, change)
