"""Exact answers from the list of all inputs of a finite space, whatever its features.

The label codes form a grid with one axis for each feature. How often two values of a feature get different labels, all
else being equal, is a small matrix; influences and the worth of every test are sums over it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.subfunction import Floats, Splits
from fidelitree.features import AtMost, Categorical, IsIn, IsOne, Test, midway
from fidelitree.region import Region

MOST = 1 << 22
"""Inputs of a grid: about fifty bytes each while it works."""
ALL_SUBSETS = 10
"""Up to so many categories every subset is tried, beyond only those that are next to each other in an order."""
_NEAR_TIE = 1e-12


class GridSubfunction:
    """A target inside a region whose inputs are all listed, the first feature changing fastest."""

    def __init__(self, region: Region, codes: NDArray[np.integer[Any]], labels: list[Any]) -> None:
        self._region, self.labels = region, labels
        left = region.restrictions
        self._lists = [feature.listed(left.get(i)) for i, feature in enumerate(region.space)]
        self._codes = codes.reshape([len(values) for values, _ in self._lists], order="F")

    def label_probabilities(self) -> Floats:
        """The mass of each label's inputs."""
        shares = self._weigh([share for _, share in self._lists])
        found = np.bincount(self._codes.ravel(order="F"), shares, len(self.labels))
        return np.asarray(found / shares.sum())

    def influences(self) -> Floats:
        """Two values are drawn; how often do they part the labels?"""
        return np.array([float(shares @ self._apart(i) @ shares) for i, (_, shares) in enumerate(self._lists)])

    def splits(self) -> Splits:
        """The best test of every feature (THEORY 4(f)); near ties go to the lowest cut, or the first set."""
        best = [self._best_test(i) for i in range(len(self._lists))]
        return Splits(np.array([drop for drop, _ in best]), [test for _, test in best])

    def split(self, test: Test) -> tuple[GridSubfunction, GridSubfunction]:
        """Two smaller grids."""
        yes = test.answers(self._lists[test.feature][0])
        regions = self._region.split(test)
        sides = [np.compress(side, self._codes, axis=test.feature) for side in (~yes, yes)]
        no_side, yes_side = (
            GridSubfunction(region, codes.ravel(order="F"), self.labels)
            for region, codes in zip(regions, sides, strict=True)
        )
        return no_side, yes_side

    @cached_property
    def _known(self) -> dict[int, Floats]:
        return {}

    def _apart(self, i: int) -> Floats:
        """How often each pair of values of a feature gets different labels, all else being equal."""
        if i not in self._known:
            codes = np.moveaxis(self._codes, i, 0).reshape(self._codes.shape[i], -1, order="F")
            others = self._weigh([shares for k, (_, shares) in enumerate(self._lists) if k != i])
            # Only what differs is summed up, so that 0 means: never.
            apart = np.zeros((len(codes), len(codes)))
            for code in np.unique(codes):
                found = (codes == code).astype(np.float64)
                apart += (found * others) @ (1 - found).T
            self._known[i] = apart / others.sum()
        return self._known[i]

    def _weigh(self, shares: Iterable[Floats]) -> Floats:
        """Probabilities of all combinations, the first feature changing fastest."""
        weights = np.ones(1)
        for part in shares:
            weights = (part[:, None] * weights).ravel()
        return weights

    def _best_test(self, i: int) -> tuple[float, Test]:
        values, shares = self._lists[i]
        pairs = shares[:, None] * self._apart(i) * shares
        sets = self._sets(i, pairs)
        inside, outside = sets.astype(np.float64), (~sets).astype(np.float64)
        q1, q0 = inside @ shares, outside @ shares
        both_in = ((inside @ pairs) * inside).sum(axis=1)
        both_out = ((outside @ pairs) * outside).sum(axis=1)
        cross = ((inside @ pairs) * outside).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            drops = np.where((q0 > 0) & (q1 > 0), 2 * cross - q0 / q1 * both_in - q1 / q0 * both_out, 0.0)
        if not len(drops) or drops.max() <= 0:
            return 0.0, IsOne(i)
        first = int(np.argmax(drops >= drops.max() * (1 - _NEAR_TIE)))
        return float(drops[first]), self._test(i, values, sets[first])

    def _test(self, i: int, values: Floats, inside: NDArray[np.bool_]) -> Test:
        feature = self._region.space.features[i]
        if isinstance(feature, Categorical):
            return IsIn(i, frozenset(values[inside].astype(int).tolist()))
        if feature.kind == "boolean":
            return IsOne(i)
        last = int(inside.sum()) - 1
        return AtMost(i, midway(float(values[last]), float(values[last + 1])))

    def _sets(self, i: int, pairs: Floats) -> NDArray[np.bool_]:
        """The sets of values that a test can tell from the others, one row each."""
        count = len(pairs)
        if self._region.space.features[i].kind == "boolean":
            return np.eye(2, dtype=np.bool_)[1:] if count == 2 else np.zeros((0, count), np.bool_)
        if self._region.space.features[i].kind == "numeric":
            return np.tri(count, dtype=np.bool_)[:-1]
        if count <= ALL_SUBSETS:
            # The set without the last value stands for its complement too.
            numbers = np.arange(1, 1 << max(0, count - 1))
            return (numbers[:, None] >> np.arange(count) & 1).astype(np.bool_)
        ordered = np.tri(count, dtype=np.bool_)[:-1][:, np.argsort(np.argsort(self._direction(pairs), kind="stable"))]
        return np.concatenate([np.eye(count, dtype=np.bool_), ordered])

    def _direction(self, pairs: Floats) -> Floats:
        """Values that part labels most from each other come to opposite ends: the lowest eigenvector."""
        weights = np.sqrt(np.maximum(pairs.sum(axis=1), math.ulp(0.0)))
        _, vectors = np.linalg.eigh(-pairs / weights[:, None] / weights)
        return np.asarray(vectors[:, -1] / weights)
