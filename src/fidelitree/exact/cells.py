"""The best test of a feature whose values fall into cells that a function does not tell apart.

Splitting by a test that is true with probability q1 (and false with q0) lowers the cost by
q0 q1 (2 P_cross - P_in - P_out): how often two inputs that agree on all other features have different labels, when the
test parts them, when it is true of both, and when it is false of both (THEORY 4(f)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.subfunction import BestTests, Floats
from fidelitree.spaces.features import MISSING, AtMost, Feature, IsIn, IsOne, Restriction, Test, left_of, midway

ALL_SUBSETS = 10
"""Up to so many categories every subset is tried; of more, single ones and those that are neighbours in an order."""
_NEAR_TIE = 1e-12


@dataclass(frozen=True)
class Cells:
    """A feature in parts: each cell is a restriction, and has a share of the probability."""

    feature: int
    kind: str
    parts: tuple[Restriction, ...]
    shares: Floats

    @classmethod
    def of_values(cls, i: int, feature: Feature, left: Restriction | None) -> Cells:
        """A cell for each value that is left."""
        values, shares = feature.listed(left)
        if feature.kind == "numeric":
            known = values[~np.isnan(values)].tolist()
            cuts = (midway(*pair) for pair in itertools.pairwise(known))
            intervals = list(itertools.pairwise([-math.inf, *cuts, math.inf])) if known else []
            return cls(i, feature.kind, (*intervals, *[MISSING] * (len(known) < len(values))), shares)
        codes = values.astype(int).tolist()
        parts = codes if feature.kind == "boolean" else [frozenset({code}) for code in codes]
        return cls(i, feature.kind, tuple(parts), shares)

    @classmethod
    def of_tests(cls, i: int, feature: Feature, left: Restriction | None, tests: Iterable[Test]) -> Cells:
        """As few cells as these tests tell apart."""
        parts: list[Restriction | None] = [left]
        for test in tests:
            parts = [side for part in parts for side in reversed(feature.parts(test, part)) if side is not None]
        if parts == [None]:
            return cls(i, feature.kind, (None,), np.ones(1))
        if feature.kind == "numeric":
            parts.sort()
        whole = feature.mass(left) or 1.0
        return cls(i, feature.kind, tuple(parts), np.array([feature.mass(part) / whole for part in parts]))

    def inside(self, left: Restriction | None) -> NDArray[np.bool_]:
        """The cells that lie in a restriction."""
        if left is None or len(self.parts) == 1:
            return np.ones(len(self.parts), np.bool_)
        if self.kind == "numeric":
            return np.array([_within(left_of(part), left_of(left)) for part in self.parts])
        return np.array([part == left if self.kind == "boolean" else part <= left for part in self.parts])

    def best_test(self, apart: Floats) -> tuple[float, Test]:
        """The largest drop and its test; near ties go to the lowest cut, or the first set. No drop, no real test.

        ``apart[a, b]`` is how often cells a and b get different labels, all else being equal.
        """
        shares = self.shares
        pairs = shares[:, None] * apart * shares
        sets = self._sets(pairs)
        inside, outside = sets.astype(np.float64), (~sets).astype(np.float64)
        q1, q0 = inside @ shares, outside @ shares
        both_in = ((inside @ pairs) * inside).sum(axis=1)
        both_out = ((outside @ pairs) * outside).sum(axis=1)
        cross = ((inside @ pairs) * outside).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            drops = np.where((q0 > 0) & (q1 > 0), 2 * cross - q0 / q1 * both_in - q1 / q0 * both_out, 0.0)
        if not len(drops) or drops.max() <= 0:
            return 0.0, IsOne(self.feature)
        first = int(np.argmax(drops >= drops.max() * (1 - _NEAR_TIE)))
        return float(drops[first]), self._test(sets[first])

    def _test(self, inside: NDArray[np.bool_]) -> Test:
        if self.kind == "boolean":
            return IsOne(self.feature)
        parts = [part for part, chosen in zip(self.parts, inside, strict=True) if chosen]
        if self.kind == "numeric":
            cut = max(high for low, high, _ in map(left_of, parts) if low < high)
            gaps = any(left_of(part)[2] for part in self.parts)
            return AtMost(self.feature, float(cut), any(left_of(part)[2] for part in parts) if gaps else None)
        return IsIn(self.feature, frozenset().union(*parts))

    def _sets(self, pairs: Floats) -> NDArray[np.bool_]:
        """The sets of cells that a test can tell from the others, one row each."""
        count = len(pairs)
        if self.kind == "boolean":
            return np.eye(2, dtype=np.bool_)[1:] if count == 2 else np.zeros((0, count), np.bool_)
        if self.kind == "numeric":
            below = np.tri(count, dtype=np.bool_)[:-1]
            if self.parts[-1] != MISSING:
                return below
            also = below[:-1].copy()
            also[:, -1] = True  # missing numbers may be on either side
            return np.concatenate([below, also])
        if count <= ALL_SUBSETS:
            return halves(count)
        rank = np.argsort(np.argsort(_direction(pairs), kind="stable"))
        return np.concatenate([np.eye(count, dtype=np.bool_), np.tri(count, dtype=np.bool_)[:-1][:, rank]])


def best_tests(pairs: Iterable[tuple[Cells, Floats]]) -> BestTests:
    """The best test of every feature; of each its cells, and how often these get different labels."""
    best = [cells.best_test(apart) for cells, apart in pairs]
    return BestTests(np.array([drop for drop, _ in best]), [test for _, test in best])


def _within(part: tuple[float, float, bool], left: tuple[float, float, bool]) -> bool:
    """Whether numbers of a part, and missing ones as far as it has them, are all left."""
    numbers = part[0] >= part[1] or (left[0] <= part[0] and part[1] <= left[1])
    return numbers and (left[2] or not part[2])


def halves(count: int) -> NDArray[np.bool_]:
    """Every set of cells up to its complement, one row each: the set without the last cell stands for both."""
    return (np.arange(1, 1 << max(0, count - 1))[:, None] >> np.arange(count) & 1).astype(np.bool_)


def combined(shares: Iterable[Floats]) -> Floats:
    """Probabilities of all combinations of some features' cells, the first feature changing fastest."""
    weights = np.ones(1)
    for part in shares:
        weights = (part[:, None] * weights).ravel()
    return weights


def _direction(pairs: Floats) -> Floats:
    """Cells that part labels most from each other come to opposite ends: the lowest eigenvector."""
    weights = np.sqrt(np.maximum(pairs.sum(axis=1), math.ulp(0.0)))
    _, vectors = np.linalg.eigh(-pairs / weights[:, None] / weights)
    return np.asarray(vectors[:, -1] / weights)
