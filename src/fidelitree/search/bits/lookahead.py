"""The cheapest tree of depth up to 4 for labelled rows of bits, for every feature at its root.

A literal is a feature with one of its values; literals of different features hold together in some of the rows. What
the best label gets wrong there is counted once for every set of at most 4 literals, by matrix products of the sets of
two. Then minima lead from larger sets to smaller ones: below a set, either its best label, or the split whose two
larger sets cost least.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on

Floats = NDArray[np.float32]
Places = NDArray[np.intp]
AHEAD = 4  # splits that are seen: of fewer features than that, the whole tree


class Lookahead:
    """The rows of one node, sorted by label, so that each label's rows are a slice.

    What is counted has one column for every set of features, in the order of `_places`, and one line for each
    combination of their values, that of the last feature changing first.
    """

    def __init__(
        self, bits: Floats, codes: NDArray[np.intp], weights: Floats, penalties: Floats, watch: Watch = go_on
    ) -> None:
        self._watch = watch
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
        for features in range(depth, 1, -1):
            splits = self._splits(below, features)
            below = np.minimum(self._errors(features - 1), splits.take(_without(self._features, features), 1).min(1))
        return np.asarray(below[0] + below[1] + self.penalties)

    def _splits(self, costs: Floats, features: int) -> Floats:
        """What a split costs on the first feature of each set, then on the second, and so on: a column for each."""
        sets = _sets(self._features, features)
        splits = np.empty((1 << features - 1, features, sets.shape[1]), np.float32)
        for place, added in enumerate(sets):
            sides = costs.reshape(1 << place, 2, -1, len(added))
            np.add(sides[:, 0], sides[:, 1], out=splits[:, place].reshape(1 << place, -1, len(added)))
        splits += self.penalties[sets]
        return splits.reshape(len(splits), -1)

    def _errors(self, features: int) -> Floats:
        found: Floats = getattr(self, ("_one", "_two", "_three", "_four")[features - 1])
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
        return self._wrong(self._literals, self._weights[None]).reshape(-1, 2).T

    @cached_property
    def _two(self) -> Floats:
        return self._wrong(self._pairs, self._weights[None]).reshape(-1, 4).T

    @cached_property
    def _three(self) -> Floats:
        return self._wrong(self._pairs, self._literals * self._weights).take(_triples(self._features))

    @cached_property
    def _four(self) -> Floats:
        weighted, start = self._pairs * self._weights, _starts(self._features)
        parts = []
        for b in range(1, self._features - 2):
            ending = self._pairs[start[:b] + np.arange(b - 1, -1, -1)]  # pairs of any earlier feature with this one
            wrong = self._wrong(ending, weighted[start[b + 1] :]).reshape(b, 4, -1, 4)
            parts.append(wrong.transpose(1, 3, 0, 2).reshape(16, -1))
        return np.concatenate(parts, axis=1)

    def _wrong(self, sets: Floats, others: Floats) -> Floats:
        """What the best label gets wrong in each set of rows joined with each other set, whose rows are weighted."""
        left, right = (part.reshape(-1, part.shape[-1]) for part in (sets, others))
        wrong: Floats = left[:, self._slices[0]] @ right[:, self._slices[0]].T
        total = wrong.copy() if len(self._slices) != 2 else wrong
        for part in self._slices[1:]:
            self._watch()
            other = left[:, part] @ right[:, part].T
            if total is wrong:
                np.minimum(wrong, other, out=wrong)
                return wrong
            total += other  # weights are whole numbers, so that no order of additions matters
            np.maximum(wrong, other, out=wrong)
        np.subtract(total, wrong, out=wrong)
        return wrong


@lru_cache(maxsize=64)
def _sets(m: int, size: int) -> Places:
    """All sets of so many among m features, one a column, in the order of their places."""
    sets = np.array(list(combinations(range(m), size)), np.intp).T
    return np.asarray(sets[:, np.argsort(_places(m, sets))])


@lru_cache(maxsize=64)
def _without(m: int, size: int) -> Places:
    """For every set that is smaller by one, a column: the splits (`_splits`) that leave it, one for each feature."""
    sets = _sets(m, size)
    left = [_places(m, np.delete(sets, place, axis=0)) for place in range(size)]
    return np.ascontiguousarray(np.argsort(np.concatenate(left), kind="stable").reshape(-1, m - size + 1).T)


@lru_cache(maxsize=64)
def _triples(m: int) -> Places:
    """Where sets of three features stand among pairs of literals joined with one literal: a column for each set."""
    (a, b, c), values = _sets(m, 3), np.arange(8)[:, None]
    return np.asarray((4 * _places(m, (a, b)) + values // 2) * 2 * m + 2 * c + values % 2)


def _places(m: int, features: Sequence[Places] | Places) -> Places:
    """Where sets of features stand, which are given in order; those of three or four are grouped by the second."""
    if len(features) == 1:
        return np.asarray(features[0])
    (a, b), start = features[:2], _starts(m)
    if len(features) == 2:
        return np.asarray(start[a] + b - a - 1)
    c = features[2]
    later = m - 1 - np.arange(m)  # features after each one
    widths, place = (later, c - b - 1)
    if len(features) == 4:
        widths = later * (later - 1) // 2
        place = _places(m, features[2:]) - start[b + 1]
    groups = np.cumsum(np.arange(m) * widths) - np.arange(m) * widths
    return np.asarray(groups[b] + a * widths[b] + place)


@lru_cache(maxsize=64)
def _starts(m: int) -> Places:
    """The first pair of each feature with a later one."""
    return np.array([comb(m, 2) - comb(m - i, 2) for i in range(m + 1)], np.intp)
