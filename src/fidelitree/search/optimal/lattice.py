"""All restrictions of a function of few features, grouped so that arrays can be solved group by group.

What is left of a feature is a *part* of its values: of a bit one value or both, of a number a run of neighbours, of a
category any set. A restriction takes one part of each feature. Parts with the same number of values are one *level*,
and restrictions whose features are at the same levels are one *group*: an array with one axis for each feature. A test
leads from a group to groups that come before it, so that going through all groups in order solves every restriction
after those it can be divided into. Of r bits there are 2^r groups and 3^r restrictions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.cells import combined
from fidelitree.spaces.features import AtMost, Feature, IsIn, IsOne, Test, midway

if TYPE_CHECKING:
    from fidelitree.exact.subfunction import Floats
    from fidelitree.spaces.product import ProductSpace

Codes = NDArray[Any]
Values = NDArray[Any]
"""Something about every restriction of a group."""
Part = tuple[int, ...]
"""Places of cells, increasing."""
Levels = tuple[int, ...]
Spot = tuple[tuple[int, int], ...]
"""One restriction: for each feature the level of its part, and the place there."""


@dataclass(frozen=True)
class Cell:
    """Inner values of a feature that the function does not tell apart, and their probability.

    ``missing`` says that missing numbers belong to it; where it has no others, its one value is NaN.
    """

    values: tuple[float, ...]
    share: float
    missing: bool = False


class Division(NamedTuple):
    """A part in two: each side is a level and a place in it; ``shares`` are their chances given the part."""

    no: tuple[int, int]
    yes: tuple[int, int]
    shares: tuple[float, float]
    test: Test


class Axis:
    """One feature: its parts by level, and the ways to divide each of them.

    With ``one_value`` a category is only asked whether it is one value, else whether it is in a set.
    """

    def __init__(self, feature: int, kind: str, cells: Sequence[Cell], one_value: bool = False) -> None:
        self.feature, self.cells = feature, tuple(cells)
        self._kind, self._one_value = kind, one_value
        count = range(len(self.cells))
        self._alone = len(count) - 1 if kind == "numeric" and math.isnan(self.cells[-1].values[-1]) else None
        if kind == "categorical":
            self.levels = [list(itertools.combinations(count, size + 1)) for size in count]
        else:
            self.levels = [list(self._runs(size + 1)) for size in count]
        self._place = {part: (at, place) for at, level in enumerate(self.levels) for place, part in enumerate(level)}

    @cached_property
    def divisions(self) -> list[list[list[Division]]]:
        """By level and place."""
        return [[[self._division(yes, part) for yes in self._sides(part)] for part in level] for level in self.levels]

    def _runs(self, size: int) -> Iterator[Part]:
        """So many neighbours; missing numbers that are a cell of their own are with any of them."""
        known = len(self.cells) - (self._alone is not None)
        yield from (tuple(range(low, low + size)) for low in range(known - size + 1))
        if self._alone is not None:
            lows = range(known - size + 2) if size > 1 else range(1)
            yield from ((*range(low, low + size - 1), self._alone) for low in lows)

    def _sides(self, part: Part) -> Iterator[Part]:
        """The yes sides of all tests, each way to divide once."""
        if len(part) == 1:
            return
        if self._kind == "boolean":
            yield part[1:]
        elif self._kind == "numeric":
            yield from (part[:size] for size in range(1, len(part)))
            if part[-1] == self._alone:
                yield from ((*part[:size], self._alone) for size in range(1, len(part) - 1))
        elif self._one_value:
            yield from ((value,) for value in part[: 1 if len(part) == 2 else None])
        else:
            for size in range(1, len(part) // 2 + 1):
                sides = itertools.combinations(part, size)
                yield from (side for side in sides if 2 * size < len(part) or side[0] == part[0])

    def _division(self, yes: Part, part: Part) -> Division:
        no = tuple(cell for cell in part if cell not in yes)
        mass = math.fsum(self.cells[cell].share for cell in part)
        share = math.fsum(self.cells[cell].share for cell in yes) / mass
        return Division(self._place[no], self._place[yes], (1 - share, share), self._test(yes, no))

    def _test(self, yes: Part, no: Part) -> Test:
        if self._kind == "boolean":
            return IsOne(self.feature)
        if self._kind == "numeric":
            return self._threshold(yes, no)
        return IsIn(self.feature, frozenset(int(value) for cell in yes for value in self.cells[cell].values))

    def _threshold(self, yes: Part, no: Part) -> Test:
        missing = True if any(self.cells[cell].missing for cell in yes) else None
        if missing is None and any(self.cells[cell].missing for cell in no):
            missing = False
        if no[0] == self._alone:
            return AtMost(self.feature, math.inf, missing)
        last = max(cell for cell in yes if cell != self._alone)
        return AtMost(self.feature, midway(self.cells[last].values[-1], self.cells[no[0]].values[0]), missing)


def axes_of(
    space: ProductSpace, codes: Codes, one_value: bool = False, features: Sequence[int] | None = None
) -> tuple[list[Axis], Codes]:
    """The features that matter, and the function over their cells, one axis each.

    ``codes`` lists the answers to all inputs, the first feature changing fastest; over some ``features`` alone, where
    they are given. Values that are never drawn are left out; those that it does not tell apart become one cell,
    unless a test can only name one value.
    """
    chosen = range(len(space)) if features is None else features
    listed = [space.features[i].listed(None) for i in chosen]
    grid = codes.reshape([len(values) for values, _ in listed], order="F")
    axes: list[Axis] = []
    for i, (values, shares) in zip(chosen, listed, strict=True):
        feature = space.features[i]
        drawn = np.flatnonzero(shares > 0)
        grid = grid.take(drawn, axis=len(axes))
        groups = _alike(grid, len(axes), feature, one_value, bool(np.isnan(values[drawn[-1]])))
        if len(groups) == 1:
            grid = grid.take(0, axis=len(axes))
            continue
        places = [[drawn[place] for place in group] for group in groups]
        cells = [
            Cell(tuple(values[group].tolist()), math.fsum(shares[group]), bool(np.isnan(values[group[-1]])))
            for group in places
        ]
        grid = grid.take([group[0] for group in groups], axis=len(axes))
        axes.append(Axis(i, feature.kind, cells, one_value))
    return axes, np.array(grid, order="C")


def _alike(grid: Codes, axis: int, feature: Feature, one_value: bool, gap: bool) -> list[list[int]]:
    """Places along an axis by what the function says there; all in one group where the feature does not matter.

    A ``gap`` is the last place, and no neighbour of any number.
    """
    slices = np.moveaxis(grid, axis, 0).reshape(grid.shape[axis], -1)
    if (slices == slices[0]).all():
        return [list(range(len(slices)))]
    if feature.kind == "boolean" or (feature.kind == "categorical" and one_value):
        return [[place] for place in range(len(slices))]
    groups: dict[Any, list[int]] = {}
    changes = np.cumsum([False, *(slices[1:] != slices[:-1]).any(axis=1).tolist()])
    changes[-1] += gap
    for place, row in enumerate(slices):
        groups.setdefault(int(changes[place]) if feature.kind == "numeric" else row.tobytes(), []).append(place)
    return list(groups.values())


Arrays = Mapping[Levels, Values]


class Step(NamedTuple):
    """A test of all restrictions of a group that have one part of one feature; ``below`` are groups it may lead to.

    Arrays have an entry for each restriction, and are seen as (before, parts of the feature, after).
    """

    axis: int
    place: int
    division: Division
    around: tuple[int, int]
    below: list[Levels]

    def part(self, array: Values, place: int | None = None) -> Values:
        """Their entries in an array of the group; or those with another part, in an array of another group."""
        before, after = self.around
        return array.reshape(before, -1, after, *array.shape[1:])[:, self.place if place is None else place]

    def sides(self, arrays: Arrays) -> tuple[Values, Values]:
        """The entries of both sides, in arrays that every group has one of."""
        no, yes = self.division.no, self.division.yes
        return self.part(arrays[self.below[no[0]]], no[1]), self.part(arrays[self.below[yes[0]]], yes[1])


class Lattice:
    """All groups, each named by the levels of its features."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)
        self.restrictions = math.prod(sum(map(len, axis.levels)) for axis in self.axes)
        self.whole: Spot = tuple((len(axis.levels) - 1, 0) for axis in self.axes)

    def groups(self) -> Iterator[Levels]:
        """Every group after those that tests lead to; first the one of single inputs, last the whole space."""
        return itertools.product(*(range(len(axis.levels)) for axis in self.axes))

    def shape(self, levels: Levels) -> tuple[int, ...]:
        """Parts on each axis of a group."""
        return tuple(len(axis.levels[level]) for axis, level in zip(self.axes, levels, strict=True))

    def steps(self, levels: Levels) -> Iterator[Step]:
        """All tests of a group, the first feature first."""
        shape = self.shape(levels)
        for i, level in enumerate(levels):
            if level:
                around = math.prod(shape[:i]), math.prod(shape[i + 1 :])
                below = [(*levels[:i], lower, *levels[i + 1 :]) for lower in range(level)]
                for place, divisions in enumerate(self.axes[i].divisions[level]):
                    yield from (Step(i, place, division, around, below) for division in divisions)

    def summed(self, arrays: Arrays, levels: Levels, add: Callable[[Values, Values], Values]) -> Values:
        """What is a sum over all inputs is the sum over both sides of any test: of the first one."""
        single = arrays[(0,) * len(levels)]
        found = np.empty((math.prod(self.shape(levels)), *single.shape[1:]), single.dtype)
        place = -1
        for step in self.steps(levels):
            if any(levels[: step.axis]):
                break
            if step.place > place:
                place = step.place
                step.part(found)[...] = add(*step.sides(arrays))
        return found

    def tests(self, spot: Spot) -> Iterator[tuple[Division, Spot, Spot]]:
        """All tests of one restriction, and where they lead."""
        for i, (level, place) in enumerate(spot):
            for division in self.axes[i].divisions[level][place]:
                no, yes = ((*spot[:i], side, *spot[i + 1 :]) for side in (division.no, division.yes))
                yield division, no, yes

    def at(self, arrays: Arrays, spot: Spot) -> Any:
        """The entry of one restriction; further axes of the array stay."""
        levels = tuple(level for level, _ in spot)
        array = arrays[levels]
        return array.reshape((*self.shape(levels), *array.shape[1:]))[tuple(place for _, place in spot)]


def masses_of(axes: Sequence[Axis]) -> Floats:
    """The probability of every combination of cells, one axis each."""
    found = combined(np.array([cell.share for cell in axis.cells]) for axis in axes)
    return np.array(found.reshape([len(axis.cells) for axis in axes], order="F"), order="C")


def label_masses(axes: Sequence[Axis], grid: Codes) -> Floats:
    """The same for every label, on one more axis: nothing where the function has another one."""
    masses: Floats = masses_of(axes)[..., None] * (grid[..., None] == np.arange(int(grid.max()) + 1))
    return masses
