"""Regions: the part of a space that reaches a leaf, one restriction per feature.

Restricting features of a product leaves a product, so masses are exact and inputs can be drawn inside a region
without rejection, however rare it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, show
from fidelitree.spaces.features import Boolean, IsOne, Restriction, Test, left_of

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace


@dataclass(frozen=True, eq=False)
class Region:
    """A box of a product space; ``restrictions`` holds the features that are not free, in the order they were met.

    Its text has one character for each bit where all features are bits, and names conditions otherwise.

    >>> region = Region.of(ProductSpace.bernoulli(4, 0.1), {"x0": 1, "x2": 0})
    >>> print(region, round(region.mass, 3))
    1-0- 0.09
    """

    space: ProductSpace
    restrictions: Mapping[int, Restriction]

    @classmethod
    def of(cls, space: ProductSpace, given: Mapping[str, Any] | None) -> Region:
        """The region a user names: ``{"x3": 1, "age": (18, 30), "job": {"nurse"}}``."""
        if given is not None and not isinstance(given, Mapping):
            raise ParameterError(f"given must map feature names to values, as in {{'x3': 1}}; got {show(given)}")
        positions = {space.index(name): wanted for name, wanted in (given or {}).items()}
        return cls(space, {i: space.features[i].restriction(wanted) for i, wanted in positions.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Region):
            return NotImplemented
        return self.space == other.space and dict(self.restrictions) == dict(other.restrictions)

    def __hash__(self) -> int:
        return hash((self.space, frozenset(self.restrictions.items())))

    def __str__(self) -> str:
        if all(isinstance(feature, Boolean) for feature in self.space):
            return "".join(str(self.restrictions.get(i, "-")) for i in range(len(self.space)))
        conditions = [self.space.features[i].text(left) for i, left in sorted(self.restrictions.items())]
        return " and ".join(conditions) or "all inputs"

    @cached_property
    def mass(self) -> float:
        """Probability that an input falls into the region."""
        return math.prod(self.space.features[i].mass(left) for i, left in self.restrictions.items())

    @cached_property
    def points(self) -> int | None:
        """How many inputs the region has; None where there are infinitely many."""
        if self.space.all_bits:
            return 1 << len(self.free())
        if self.space.points is None:
            return None
        left = self.restrictions
        return math.prod(len(feature.listed(left.get(i))[0]) for i, feature in enumerate(self.space))

    @property
    def depth(self) -> int:
        """How many features are restricted."""
        return len(self.restrictions)

    def free(self) -> list[int]:
        """Features without a restriction, lowest first."""
        return [i for i in range(len(self.space)) if i not in self.restrictions]

    def split(self, test: Test) -> tuple[Region, Region]:
        """The parts where the test says no and yes."""
        feature = test.feature
        sides = self.space.features[feature].split(test, self.restrictions.get(feature))
        no, yes = (Region(self.space, {**self.restrictions, feature: side}) for side in sides)
        return no, yes

    def parts(self, test: Test) -> tuple[Region | None, Region | None]:
        """The same for any test: None where nothing of the region is left."""
        feature = test.feature
        sides = self.space.features[feature].parts(test, self.restrictions.get(feature))
        no, yes = (None if side is None else Region(self.space, {**self.restrictions, feature: side}) for side in sides)
        return no, yes

    def tests(self) -> list[Test]:
        """The questions about bits that split this region, lowest feature first."""
        return [IsOne(i) for i in self.free() if isinstance(self.space.features[i], Boolean)]

    def inputs(self, start: int, stop: int) -> NDArray[Any]:
        """Inputs number ``start`` to ``stop`` - 1 in truth-table order: the first feature changes fastest."""
        positions = np.arange(start, stop)
        if not self.space.all_bits:
            return self._listed(positions)
        columns = np.empty((len(self.space), stop - start), np.uint8)
        for i, value in self.restrictions.items():
            columns[i] = value
        for place, i in enumerate(self.free()):
            columns[i] = (positions >> place) & 1
        return columns.T

    def _listed(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        columns = np.empty((len(self.space), len(positions)))
        for i, feature in enumerate(self.space):
            values, _ = feature.listed(self.restrictions.get(i))
            positions, places = np.divmod(positions, len(values))
            columns[i] = values[places]
        return columns.T

    def contains(self, inner: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of these inner values, rows by features, lie in the region."""
        inside = np.ones(len(inner), np.bool_)
        for i, left in self.restrictions.items():
            inside &= meets(inner[:, i], left)
        return inside


def meets(column: NDArray[Any], left: Restriction) -> NDArray[np.bool_]:
    """Which inner values of a feature a restriction allows."""
    if isinstance(left, frozenset):
        return np.isin(column, list(left))
    if isinstance(left, int):
        return np.asarray(column == left)
    low, high, missing = left_of(left)
    return np.asarray((column > low) & (column <= high) | (np.isnan(column) & missing))
