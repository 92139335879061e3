"""The cheapest tree of depth up to 4 for labelled rows of bits, for every feature at its root.

A set of literals (a literal is a feature with one of its values) holds some of the rows. What the best label gets wrong
there is counted once for every set of at most 4 literals, by matrix products of the sets of two; then minima lead from
larger sets to smaller ones: below a set, either its best label, or the split whose two larger sets cost least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.intp]
MOST = 4

_Literal = tuple[NDArray[Any], Any]
"""Features, and their values: arrays of one shape, or of shapes that go together."""


class Lookahead:
    """The rows of one node, sorted by label, so that each label's rows are a slice."""

    def __init__(self, bits: Floats, codes: NDArray[np.intp], weights: Floats, penalties: Floats) -> None:
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes)
        ends = np.cumsum(sizes)
        self._slices = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True) if size]
        self.penalties, self._weights, self._features = penalties, weights[order], bits.shape[1]
        ones = bits[order].T
        self._literals = np.stack([1 - ones, ones], axis=1)

    def costs(self, depth: int) -> Floats:
        """For each feature, the cost of the best tree up to this depth that starts with it: errors and penalties."""
        depth = min(depth, self._features)
        below = self._errors(depth)
        for literals in range(depth - 1, 0, -1):
            step = _step(self._features, literals)
            split = below.take(step.no) + below.take(step.yes)
            split += self.penalties.take(step.feature)
            below = np.minimum(self._errors(literals), split.min(axis=0))
        return np.asarray(below[::2] + below[1::2] + self.penalties)

    def _errors(self, literals: int) -> Floats:
        found: Floats = getattr(self, ("_one", "_two", "_three", "_four")[literals - 1])
        return found

    @cached_property
    def _pairs(self) -> Floats:
        """Rows in which two literals hold, for every pair of features in order: features, their values, rows."""
        literals, start = self._literals, _starts(self._features)
        pairs = np.empty((start[-1], 2, 2, literals.shape[-1]), np.float32)
        for i in range(self._features - 1):
            np.multiply(literals[i, :, None], literals[i + 1 :, None], out=pairs[start[i] : start[i + 1]])
        return pairs

    @cached_property
    def _one(self) -> Floats:
        return self._wrong(self._literals, self._weights[None])

    @cached_property
    def _two(self) -> Floats:
        return self._wrong(self._pairs, self._weights[None])

    @cached_property
    def _three(self) -> Floats:
        return self._wrong(self._pairs, self._literals * self._weights).take(_triples(self._features))

    @cached_property
    def _four(self) -> Floats:
        weighted, start = self._pairs * self._weights, _starts(self._features)
        parts = [self._wrong(self._ending_in(b), weighted[start[b + 1] :]) for b in range(1, self._features - 2)]
        return np.concatenate(parts)

    def _ending_in(self, b: int) -> Floats:
        """The pairs of any earlier feature with feature ``b``."""
        return np.asarray(self._pairs[_starts(self._features)[:b] + np.arange(b - 1, -1, -1)])

    def _wrong(self, sets: Floats, others: Floats) -> Floats:
        """What the best label gets wrong in each set of rows joined with each other set, whose rows are weighted."""
        left, right = (part.reshape(-1, part.shape[-1]) for part in (sets, others))
        counts: list[Floats] = [left[:, part] @ right[:, part].T for part in self._slices]
        wrong = counts[0]
        if len(counts) == 2:
            np.minimum(wrong, counts[1], out=wrong)
        else:
            total = np.sum(counts, axis=0)
            for other in counts[1:]:
                np.maximum(wrong, other, out=wrong)
            np.subtract(total, wrong, out=wrong)
        return wrong.ravel()


@dataclass(frozen=True)
class _Step:
    """From sets of some literals to sets of one more: ``no`` and ``yes`` are their places, for each way to add one."""

    feature: Places
    no: Places
    yes: Places


@lru_cache(maxsize=64)
def _step(features: int, literals: int) -> _Step:
    """For every set of so many literals, in the order of their errors, and every further feature."""
    sets = np.array(list(combinations(range(features), literals)), np.int32)
    values = np.array(list(product((0, 1), repeat=literals)), np.int32)
    free = np.ones((len(sets), features), np.bool_)
    free[np.arange(len(sets))[:, None], sets] = False
    added = np.nonzero(free)[1].astype(np.int32).reshape(len(sets), 1, -1)
    # Axes: the set, the values of its literals, the feature that is added.
    old = [(sets[:, s, None, None], values[None, :, s, None]) for s in range(literals)]
    rank = (sets[:, :, None] < added).sum(axis=1)[:, None]
    places = [_places(features, _insert(old, (added, np.int32(value)), rank)) for value in (0, 1)]
    order = np.argsort(np.broadcast_to(_places(features, old), (len(sets), len(values), 1)).ravel())
    columns = np.broadcast_arrays(added, *places)
    return _Step(*(column.reshape(len(order), -1)[order].T.astype(np.intp) for column in columns))


def _insert(old: Sequence[_Literal], new: _Literal, rank: NDArray[Any]) -> list[_Literal]:
    """Literals in the order of their features; ``rank`` of the old ones come before the new one."""
    padded, literals = [*old, old[-1]], []
    for s, late in enumerate(padded):
        parts = zip(late, new, padded[s - 1], strict=True)
        feature, value = (np.where(rank > s, one, np.where(rank == s, two, three)) for one, two, three in parts)
        literals.append((feature, value))
    return literals


def _places(m: int, literals: Sequence[_Literal]) -> Places:
    """Where the errors of a set of literals stand; literals are features, in order, with their values."""
    (a, va), start = literals[0], _starts(m)
    if len(literals) == 1:
        return np.asarray(2 * a + va)
    b, vb = literals[1]
    if len(literals) == 2:
        return np.asarray(4 * (start[a] + b - a - 1) + 2 * va + vb)
    c, vc = literals[2]
    left = m - 1 - np.arange(m)  # features after each one
    widths = 2 * left if len(literals) == 3 else 2 * left * (left - 1)
    offsets = np.concatenate([[0], np.cumsum(4 * np.arange(m) * widths)])
    column = 2 * (c - b - 1) + vc
    if len(literals) == MOST:
        d, vd = literals[3]
        column = 4 * (start[c] + d - c - 1 - start[b + 1]) + 2 * vc + vd
    return np.asarray(offsets[b] + (4 * a + 2 * va + vb) * widths[b] + column)


@lru_cache(maxsize=64)
def _triples(m: int) -> Places:
    """Sets of three literals, in the order of their places, as a pair and a later literal of their product."""
    blocks = []
    for b in range(1, m - 1):
        pairs = 4 * (_starts(m)[:b] + np.arange(b - 1, -1, -1))[:, None] + np.arange(4)
        blocks.append((2 * m * pairs.reshape(-1, 1) + np.arange(2 * b + 2, 2 * m)).ravel())
    return np.concatenate(blocks)


@lru_cache(maxsize=64)
def _starts(m: int) -> Places:
    """The first pair of each feature with a later one."""
    return np.array([comb(m, 2) - comb(m - i, 2) for i in range(m + 1)], np.intp)
