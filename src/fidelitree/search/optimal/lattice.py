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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.subfunction import Floats
from fidelitree.spaces.features import AtMost, Feature, IsIn, IsOne, Test, midway
from fidelitree.spaces.product import ProductSpace

Codes = NDArray[Any]
Part = tuple[int, ...]
"""Places of cells, increasing."""


@dataclass(frozen=True)
class Cell:
    """Inner values of a feature that the function treats alike, and their probability."""

    values: tuple[float, ...]
    share: float


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
        if kind == "categorical":
            self.levels = [list(itertools.combinations(count, size + 1)) for size in count]
        else:
            self.levels = [[tuple(range(low, low + size + 1)) for low in count[: len(count) - size]] for size in count]
        self._place = {part: (at, place) for at, level in enumerate(self.levels) for place, part in enumerate(level)}

    @cached_property
    def divisions(self) -> list[list[list[Division]]]:
        """By level and place."""
        return [[[self._division(yes, part) for yes in self._sides(part)] for part in level] for level in self.levels]

    def _sides(self, part: Part) -> Iterator[Part]:
        """The yes sides of all tests, each way to divide once."""
        if len(part) == 1:
            return
        if self._kind == "boolean":
            yield part[1:]
        elif self._kind == "numeric":
            yield from (part[:size] for size in range(1, len(part)))
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
            return AtMost(self.feature, midway(self.cells[yes[-1]].values[-1], self.cells[no[0]].values[0]))
        return IsIn(self.feature, frozenset(int(value) for cell in yes for value in self.cells[cell].values))


def axes_of(
    space: ProductSpace, codes: Codes, one_value: bool = False, features: Sequence[int] | None = None
) -> tuple[list[Axis], Codes]:
    """The features that matter, and the function over their cells, one axis each.

    ``codes`` lists the answers to all inputs, the first feature changing fastest; over some ``features`` alone, where
    they are given. Values that are never drawn are left out; those that the function treats alike become one cell,
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
        groups = _alike(grid, len(axes), feature, one_value)
        if len(groups) == 1:
            grid = grid.take(0, axis=len(axes))
            continue
        places = [[drawn[place] for place in group] for group in groups]
        cells = [Cell(tuple(values[group].tolist()), math.fsum(shares[group])) for group in places]
        grid = grid.take([group[0] for group in groups], axis=len(axes))
        axes.append(Axis(i, feature.kind, cells, one_value))
    return axes, np.array(grid, order="C")


def _alike(grid: Codes, axis: int, feature: Feature, one_value: bool) -> list[list[int]]:
    """Places along an axis by what the function says there; all in one group where the feature does not matter."""
    slices = np.moveaxis(grid, axis, 0).reshape(grid.shape[axis], -1)
    if (slices == slices[0]).all():
        return [list(range(len(slices)))]
    if feature.kind == "boolean" or (feature.kind == "categorical" and one_value):
        return [[place] for place in range(len(slices))]
    groups: dict[Any, list[int]] = {}
    changes = np.cumsum([False, *(slices[1:] != slices[:-1]).any(axis=1).tolist()])
    for place, row in enumerate(slices):
        groups.setdefault(int(changes[place]) if feature.kind == "numeric" else row.tobytes(), []).append(place)
    return list(groups.values())


class Lattice:
    """Groups are numbered: the number of a group is the sum over its axes of level times ``strides``."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.axes = tuple(axes)
        depths = [len(axis.levels) for axis in self.axes]
        self.strides = [math.prod(depths[i + 1 :]) for i in range(len(depths))]
        self.groups = math.prod(depths)
        self.restrictions = math.prod(sum(map(len, axis.levels)) for axis in self.axes)

    def in_order(self) -> Iterator[Group]:
        """Every group after those that tests lead to; first the one of single inputs, last the whole space."""
        for number, levels in enumerate(itertools.product(*(range(len(axis.levels)) for axis in self.axes))):
            yield Group(self, number, levels)

    def whole(self) -> Spot:
        """The restriction that restricts nothing."""
        group = Group(self, self.groups - 1, tuple(len(axis.levels) - 1 for axis in self.axes))
        return Spot(group, (0,) * len(self.axes))


class Step(NamedTuple):
    """A division of all parts at one place of one axis: where in this group, and where in the groups of both sides.

    Arrays are seen as (before, axis, after); ``place`` is the place on the axis.
    """

    axis: int
    place: int
    division: Division
    no: int
    yes: int


@dataclass(frozen=True)
class Group:
    """Restrictions whose features are at the same levels."""

    lattice: Lattice
    number: int
    levels: tuple[int, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Parts on each axis."""
        return tuple(len(axis.levels[level]) for axis, level in zip(self.lattice.axes, self.levels, strict=True))

    @property
    def count(self) -> int:
        """How many restrictions there are."""
        return math.prod(self.shape)

    @property
    def points(self) -> int:
        """Cells of each restriction."""
        return math.prod(level + 1 for level in self.levels)

    def steps(self) -> Iterator[Step]:
        """All tests of all restrictions, the first feature first."""
        strides = self.lattice.strides
        for i, level in enumerate(self.levels):
            if level:
                for place, divisions in enumerate(self.lattice.axes[i].divisions[level]):
                    for division in divisions:
                        down = (self.number - strides[i] * (level - side[0]) for side in (division.no, division.yes))
                        yield Step(i, place, division, *down)

    def first_steps(self) -> Iterator[Step]:
        """One test for each restriction: what is a sum over its inputs is the sum over both sides of any test."""
        axis = next(i for i, level in enumerate(self.levels) if level)
        place = -1
        for step in self.steps():
            if step.axis > axis:
                return
            if step.place > place:
                place = step.place
                yield step

    def around(self, axis: int) -> tuple[int, int]:
        """Entries of the axes before and after one."""
        return math.prod(self.shape[:axis]), math.prod(self.shape[axis + 1 :])

    def part(self, array: NDArray[Any], step: Step) -> NDArray[Any]:
        """The entries of all restrictions that a test divides, in an array of this group."""
        before, after = self.around(step.axis)
        return array.reshape(before, -1, after, *array.shape[1:])[:, step.place]

    def sides(self, arrays: Sequence[NDArray[Any]], step: Step) -> tuple[NDArray[Any], NDArray[Any]]:
        """The entries of both sides of a test, in arrays that every group has one of."""
        before, after = self.around(step.axis)
        no, yes = (
            arrays[number].reshape(before, -1, after, *arrays[number].shape[1:])[:, at]
            for number, (_, at) in ((step.no, step.division.no), (step.yes, step.division.yes))
        )
        return no, yes


class Spot(NamedTuple):
    """One restriction: its group and its place there."""

    group: Group
    place: tuple[int, ...]

    def of(self, arrays: Sequence[NDArray[Any]]) -> Any:
        """Its entry in arrays that every group has one of; further axes of the array stay."""
        array = arrays[self.group.number]
        return array.reshape((*self.group.shape, *array.shape[1:]))[self.place]

    def steps(self) -> Iterator[Step]:
        """Its own tests."""
        return (step for step in self.group.steps() if step.place == self.place[step.axis])

    def sides(self, step: Step) -> tuple[Spot, Spot]:
        """Where a test leads to."""
        axis, levels = step.axis, self.group.levels
        no, yes = (
            Spot(
                Group(self.group.lattice, number, (*levels[:axis], level, *levels[axis + 1 :])),
                (*self.place[:axis], at, *self.place[axis + 1 :]),
            )
            for number, (level, at) in ((step.no, step.division.no), (step.yes, step.division.yes))
        )
        return no, yes


def go_on() -> None:
    """The watch over a search that nobody keeps."""


def masses_of(axes: Sequence[Axis]) -> Floats:
    """The probability of every combination of cells, one axis each."""
    found = np.ones(())
    for axis in axes:
        found = np.multiply.outer(found, np.array([cell.share for cell in axis.cells]))
    return found


def label_masses(axes: Sequence[Axis], grid: Codes) -> Floats:
    """The same for every label, on one more axis: nothing where the function has another one."""
    masses: Floats = masses_of(axes)[..., None] * (grid[..., None] == np.arange(int(grid.max()) + 1))
    return masses
