"""Exact answers from the list of all inputs of a finite space, whatever its features.

The label codes form a grid with one axis for each feature. How often two values of a feature get different labels, all
else being equal, is a small matrix; influences and the worth of every test are sums over it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.cells import Cells, best_tests, combined
from fidelitree.exact.subfunction import BestTests, Floats, Subfunction

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.region import Region

MOST = 1 << 22
"""Inputs of a grid: about fifty bytes each while it works."""


class GridSubfunction(Subfunction):
    """A target inside a region whose inputs are all listed, the first feature changing fastest."""

    def __init__(self, region: Region, codes: NDArray[np.integer[Any]], labels: list[Any]) -> None:
        self._region, self.labels = region, labels
        left = region.restrictions
        self._cells = [Cells.of_values(i, feature, left.get(i)) for i, feature in enumerate(region.space)]
        self._codes = codes.reshape([len(cells.shares) for cells in self._cells], order="F")

    def label_probabilities(self) -> Floats:
        """The mass of each label's inputs."""
        shares = combined(cells.shares for cells in self._cells)
        found = np.bincount(self._codes.ravel(order="F"), shares, len(self.labels))
        return np.asarray(found / shares.sum())

    def influences(self) -> Floats:
        """Two values are drawn; how often do they part the labels?"""
        return np.array([float(c.shares @ a @ c.shares) for c, a in zip(self._cells, self._apart, strict=True)])

    def splits(self) -> BestTests:
        """The best test of every feature."""
        return best_tests(zip(self._cells, self._apart, strict=True))

    def split(self, test: Test) -> tuple[GridSubfunction, GridSubfunction]:
        """Two smaller grids."""
        values, _ = self._region.space.features[test.feature].listed(self._region.restrictions.get(test.feature))
        yes = test.answers(values)
        sides = [np.compress(side, self._codes, axis=test.feature).ravel(order="F") for side in (~yes, yes)]
        no_side, yes_side = (
            GridSubfunction(region, codes, self.labels)
            for region, codes in zip(self._region.split(test), sides, strict=True)
        )
        return no_side, yes_side

    @cached_property
    def _apart(self) -> list[Floats]:
        """For each feature, how often each pair of its values gets different labels, all else being equal."""
        return [self._apart_along(i) for i in range(len(self._cells))]

    def _apart_along(self, i: int) -> Floats:
        codes = np.moveaxis(self._codes, i, 0).reshape(self._codes.shape[i], -1, order="F")
        others = combined(cells.shares for cells in self._cells if cells.feature != i)
        # Only what differs is summed up, so that 0 means: never.
        apart = np.zeros((len(codes), len(codes)))
        for code in np.unique(codes):
            found = (codes == code).astype(np.float64)
            apart += (found * others) @ (1 - found).T
        return np.asarray(apart / others.sum())
