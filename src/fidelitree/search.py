"""Small trees for labelled rows, by looking several splits ahead.

The cost of a tree is its errors plus a penalty for every split. At each node the search takes the first split of
the cheapest tree of depth up to 4 for the node's rows, then goes on below: impurity alone sees nothing in a
parity, and an exhaustive search to full depth is out of reach. Counts for all pairs of pairs of literals (a
literal is a feature with one of its values) come from one matrix product per label; the rest is minima.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Sketch = int | tuple[int, "Sketch", "Sketch"]
"""A tree as it is searched: the code of a label, or (feature, no, yes)."""

_CHUNK = 192  # nodes weighed at a time, so that their counts stay in the cache


@dataclass(frozen=True)
class LabelledRows:
    """Rows of bits with label codes and weights; ``penalties`` is what a split on each feature costs."""

    bits: Floats
    codes: NDArray[np.intp]
    weights: Floats
    penalties: Floats


def fit(rows: LabelledRows, horizon: int, before: Sketch | None = None) -> Sketch:
    """A tree for the rows; where it costs the same, the tree of ``before`` is kept."""
    return _grow(rows, np.arange(len(rows.codes)), horizon, before)


def _grow(rows: LabelledRows, inside: NDArray[np.intp], horizon: int, before: Sketch | None) -> Sketch:
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
    feature, cost = _best_split(rows, inside, varied, horizon, before)
    if cost >= errors:
        return label
    yes = bits[:, feature] > 0
    below = before[1:] if isinstance(before, tuple) and before[0] == feature else (None, None)
    sides = [
        _grow(rows, part, min(horizon, 3), old) for part, old in zip((inside[~yes], inside[yes]), below, strict=True)
    ]
    return sides[0] if sides[0] == sides[1] else (feature, sides[0], sides[1])


def _best_split(
    rows: LabelledRows, inside: NDArray[np.intp], varied: NDArray[np.intp], horizon: int, before: Sketch | None
) -> tuple[int, float]:
    node = _Node(rows.bits[np.ix_(inside, varied)], rows.codes[inside], rows.weights[inside], rows.penalties[varied])
    for depth in range(1, horizon + 1):
        costs = node.costs(depth)
        # A tree that needs more depth has more than ``depth`` splits.
        if costs.min() <= (depth + 1) * node.penalties.min():
            break
    best = int(costs.argmin())
    if isinstance(before, tuple):
        old = np.flatnonzero(varied == before[0])
        if len(old) and costs[old[0]] <= costs[best] + 1e-4:
            best = int(old[0])
    return int(varied[best]), float(costs[best])


class _Node:
    """The rows of one node, sorted by label, so that each label's rows are a slice."""

    def __init__(self, bits: Floats, codes: NDArray[np.intp], weights: Floats, penalties: Floats) -> None:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes))
        self._slices = [
            slice(end - size, end) for end, size in zip(ends, np.diff(ends, prepend=0), strict=True) if size
        ]
        self.penalties = penalties
        self._weights = weights[order]
        self._features = bits.shape[1]
        self._literals = np.empty((2, self._features, len(order)), np.float32)
        self._literals[1] = bits[order].T
        np.subtract(1, self._literals[1], out=self._literals[0])

    def costs(self, horizon: int) -> Floats:
        """For each feature, the cost of the best tree up to this depth that starts with it."""
        literals, weights = self._literals, self._weights
        single = self._errors(literals, weights[None])[:, :, 0]
        if horizon == 1 or self._features == 1:
            return np.asarray(single.sum(axis=0) + self.penalties)
        pairs = self._pairs
        if horizon == 2:
            below = self._partners(self._errors(pairs, weights[None]))[:, :, 0]
        elif horizon == 3:
            nodes = (literals * weights).reshape(-1, literals.shape[2])
            below = self._two_deep(nodes, pairs).reshape(2, -1)
        else:
            nodes = (pairs * weights).reshape(-1, literals.shape[2])
            below = self._partners(self._two_deep(nodes, pairs).reshape(2, 2, -1, 1))[:, :, 0]
        return np.asarray(np.minimum(single, below).sum(axis=0) + self.penalties)

    @cached_property
    def _pairs(self) -> Floats:
        """Rows where two literals hold, for every pair of features in order."""
        literals, features = self._literals, self._features
        pairs = np.empty((2, 2, features * (features - 1) // 2, literals.shape[2]), np.float32)
        start = 0
        for k in range(features - 1):
            stop = start + features - 1 - k
            np.multiply(literals[:, None, k, None], literals[None, :, k + 1 :], out=pairs[:, :, start:stop])
            start = stop
        return pairs

    def _errors(self, sets: Floats, nodes: Floats) -> Floats:
        """For every set of rows and every node (weights of its rows): what the best label there gets wrong."""
        flat = sets.reshape(-1, sets.shape[-1])
        counts: list[Floats] = [flat[:, part] @ nodes[:, part].T for part in self._slices]
        wrong = counts[0]
        if len(counts) == 2:
            np.minimum(wrong, counts[1], out=wrong)
        else:
            total = np.sum(counts, axis=0)
            for other in counts[1:]:
                np.maximum(wrong, other, out=wrong)
            np.subtract(total, wrong, out=wrong)
        return wrong.reshape(*sets.shape[:-1], -1)

    def _partners(self, costs: Floats) -> Floats:
        """From the cost below each pair of literals: for each literal, the best split on another feature."""
        features = self._features
        best = np.full((2, features, costs.shape[-1]), np.inf, np.float32)
        start = 0
        for k in range(features - 1):
            stop = start + features - 1 - k
            part = costs[:, :, start:stop]
            first = (part[:, 0] + part[:, 1] + self.penalties[k + 1 :, None]).min(axis=1)
            np.minimum(best[:, k], first, out=best[:, k])
            np.minimum(best[:, k + 1 :], part[0] + part[1] + self.penalties[k], out=best[:, k + 1 :])
            start = stop
        return best

    def _two_deep(self, nodes: Floats, pairs: Floats) -> Floats:
        """Cost of the best tree of depth up to 2 for each node."""
        out = np.empty(len(nodes), np.float32)
        for start in range(0, len(nodes), _CHUNK):
            part = nodes[start : start + _CHUNK]
            below = self._partners(self._errors(pairs, part))
            np.minimum(below, self._errors(self._literals, part), out=below)
            split = (below[0] + below[1] + self.penalties[:, None]).min(axis=0)
            leaf = self._errors(np.ones((1, part.shape[1]), np.float32), part)[0]
            np.minimum(leaf, split, out=out[start : start + _CHUNK])
        return out


def predict(sketch: Sketch, bits: NDArray[np.generic]) -> NDArray[np.intp]:
    """The code of every row."""
    codes = np.empty(len(bits), np.intp)
    waiting = [(sketch, np.arange(len(bits)))]
    while waiting:
        node, rows = waiting.pop()
        if isinstance(node, tuple):
            yes = bits[rows, node[0]] != 0
            waiting += [(node[1], rows[~yes]), (node[2], rows[yes])]
        else:
            codes[rows] = node
    return codes


def size(sketch: Sketch) -> int:
    """Number of leaves."""
    return size(sketch[1]) + size(sketch[2]) if isinstance(sketch, tuple) else 1


def rename(sketch: Sketch, names: Mapping[int, int]) -> Sketch:
    """The same tree over features with other numbers; below a feature without one, the first label is put."""
    if not isinstance(sketch, tuple):
        return sketch
    if sketch[0] not in names:
        return 0
    return names[sketch[0]], rename(sketch[1], names), rename(sketch[2], names)
