"""The smallest tree for a function, and the least error for every size: dynamic programs over all its restrictions.

`Optimum`: the least cost of a restriction on which the function is constant is 0; of any other it is the least over all
tests of what the test and the least costs of both sides come to. That takes one array operation for each group of
restrictions and each of its tests (`lattice`): 3^r r/3 additions for r bits. What is counted is splits (one less than
leaves), depth, or average depth; all at error 0.

`least_errors`: what is known about a restriction is its curve, the least error of a tree with s leaves, for every s, or
of s levels, which is one more than its depth. Mehta and Raghavan (2002) solve the problem for the uniform distribution
in this way; masses make it any product distribution, and parts of values (`lattice`) any features with few of them. A
restriction of k inputs needs at most k leaves, so that most curves are short.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.optimal import affordable
from fidelitree.search.optimal.lattice import Axis, Codes, Division, Lattice, Levels, Spot, axes_of, label_masses
from fidelitree.trees.curve import Curve, Floats, first_share, min_plus

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.nested import Nested

Objective = Literal["leaves", "depth", "average_depth"]
OBJECTIVES = ("leaves", "depth", "average_depth")
Costs = NDArray[Any]
By = Literal["leaves", "depth"]


class CellFunction(NamedTuple):
    """A function over the cells of the features that matter: its label codes, one axis each."""

    axes: Sequence[Axis]
    grid: Codes

    @classmethod
    def of(cls, space: ProductSpace, codes: Codes, one_value: bool = False) -> CellFunction:
        """From the answers to all inputs: see `lattice.axes_of`."""
        return cls(*axes_of(space, codes, one_value))

    @property
    def restrictions(self) -> int:
        """How many there are to be solved."""
        return Lattice(self.axes).restrictions

    def curves(self, widths: tuple[int, int | None], by: By = "leaves", watch: Watch = go_on) -> Iterator[Curve]:
        """Least errors, each curve twice as long, for as long as they fit: from one width, up to another."""
        (width, limit), longest = widths, 0
        masses = self.restrictions * (1 + int(self.grid.max(initial=0)))
        while longest < (limit or width):
            width = width if limit is None else min(width, limit)
            if masses + entries(self.axes, width) > affordable.NUMBERS:
                return
            curve = least_errors(*self, width, by, watch)
            yield curve
            if len(curve.errors) < width:
                return
            longest, width = width, 2 * width


class Optimum:
    """The least cost of every restriction; `nested` is one of the trees that have it.

    ``watch`` is called before every group of restrictions and may end the search by raising.
    """

    def __init__(
        self, axes: Sequence[Axis], grid: Codes, objective: Objective = "leaves", watch: Watch = go_on
    ) -> None:
        self._lattice, self._objective = Lattice(axes), objective
        self._codes: dict[Levels, Codes] = {}
        self._costs: dict[Levels, Costs] = {}
        self._dtype = self._cost_type(grid.size)
        for levels in self._lattice.groups():
            watch()
            if not self._codes:
                self._codes[levels] = grid.astype(np.int8 if int(grid.max(initial=0)) < 128 else np.int32).reshape(-1)
                self._costs[levels] = np.zeros(grid.size, self._dtype)
                continue
            codes = self._codes[levels] = self._lattice.summed(self._codes, levels, _common)
            self._costs[levels] = np.where(codes < 0, self._least(levels), self._dtype.type(0))

    @property
    def cost(self) -> float:
        """Of the whole space: leaves, depth or average depth."""
        found: float = self._lattice.at(self._costs, self._lattice.whole).item()
        return found + 1 if self._objective == "leaves" else found

    def nested(self) -> Nested:
        """A tree with the least cost; among equals the first feature, then the first of its tests."""
        return self._below(self._lattice.whole)

    def _cost_type(self, points: int) -> np.dtype[Any]:
        if self._objective == "average_depth":
            return np.dtype(np.float64)
        if self._objective == "depth":
            return np.dtype(np.uint8)
        return np.dtype(np.uint8 if points <= 1 << 8 else np.uint16 if points <= 1 << 16 else np.uint32)

    def _least(self, levels: Levels) -> Costs:
        """Costs of the best tests, wherever the function is not constant."""
        top = np.inf if self._dtype.kind == "f" else np.iinfo(self._dtype).max
        best = np.full(math.prod(self._lattice.shape(levels)), top, self._dtype)
        for step in self._lattice.steps(levels):
            part = step.part(best)
            np.minimum(part, self._sum(*step.sides(self._costs), step.division), out=part)
        if self._dtype.kind != "f":
            best += np.array(best < top, self._dtype)
        return best

    def _sum(self, no: Costs, yes: Costs, division: Division) -> Costs:
        """What both sides cost; the test itself is added in the end, where it counts the same for all."""
        if self._objective == "leaves":
            return np.asarray(no + yes)
        if self._objective == "depth":
            return np.maximum(no, yes)
        return np.asarray(1 + division.shares[0] * no + division.shares[1] * yes)

    def _below(self, spot: Spot) -> Nested:
        code = int(self._lattice.at(self._codes, spot))
        if code >= 0:
            return code
        division, no, yes = min(self._lattice.tests(spot), key=self._through)
        return division.test, self._below(no), self._below(yes)

    def _through(self, test: tuple[Division, Spot, Spot]) -> Any:
        division, no, yes = test
        return self._sum(self._lattice.at(self._costs, no), self._lattice.at(self._costs, yes), division)


def _common(no: Codes, yes: Codes) -> Codes:
    """The label of both sides; -1 where there is more than one."""
    return np.where(no == yes, no, -1)


def entries(axes: Sequence[Axis], most: int) -> int:
    """How many numbers all curves together have at most."""
    lattice = Lattice(axes)
    return sum(math.prod(lattice.shape(levels)) * min(most, _points(levels)) for levels in lattice.groups())


def _points(levels: Levels) -> int:
    """Inputs of each restriction of a group."""
    return math.prod(level + 1 for level in levels)


def least_errors(axes: Sequence[Axis], grid: Codes, most: int, by: By = "leaves", watch: Watch = go_on) -> Curve:
    """The curve of a function up to ``most`` leaves, or levels.

    ``grid`` holds the codes of its labels, one axis for each of ``axes``. ``watch`` is called before every group of
    restrictions and may end the search by raising.
    """
    solved = _Solved(axes, grid, most, by, watch)
    return Curve(solved.errors, solved.build)


class _Solved:
    """Masses of labels and curves of all restrictions, group by group."""

    def __init__(self, axes: Sequence[Axis], grid: Codes, most: int, by: By, watch: Watch) -> None:
        self._lattice, self._by = Lattice(axes), by
        self._most = min(most, grid.size if by == "leaves" else 1 + sum(level for level, _ in self._lattice.whole))
        weights = label_masses(axes, grid).reshape(grid.size, -1)
        self._masses: dict[Levels, Floats] = {}
        self._errors: dict[Levels, Floats] = {}
        for levels in self._lattice.groups():
            watch()
            self._masses[levels] = self._lattice.summed(self._masses, levels, np.add) if self._masses else weights
            self._errors[levels] = self._curves(levels)

    @property
    def errors(self) -> Floats:
        """Of the whole space."""
        found = self._lattice.at(self._errors, self._lattice.whole)
        return np.pad(found, (0, self._most - len(found)), mode="edge")

    def build(self, size: int) -> Nested:
        """A tree with the least error among those with at most so many leaves, or levels."""
        return self._tree(self._lattice.whole, size)

    def _curves(self, levels: Levels) -> Floats:
        masses = self._masses[levels]
        alone = masses.sum(axis=1) - masses.max(axis=1)
        width = min(self._most, _points(levels) if self._by == "leaves" else 1 + sum(levels))
        curves = np.repeat(alone[:, None], width, axis=1)
        lower = min_plus if self._by == "leaves" else _level_by_level
        for step in self._lattice.steps(levels):
            lower(step.part(curves), *step.sides(self._errors))
        curves = np.minimum.accumulate(curves, axis=1)
        useful = np.flatnonzero((np.diff(curves, axis=1) < 0).any(axis=0))
        return np.ascontiguousarray(curves[:, : 2 + useful[-1] if len(useful) else 1])

    def _tree(self, spot: Spot, size: int) -> Nested:
        """The first split that reaches the least error, with the best trees below it."""
        curve = self._lattice.at(self._errors, spot)
        wanted = curve[min(size, len(curve)) - 1]
        if wanted >= curve[0]:
            return int(self._lattice.at(self._masses, spot).argmax())
        for division, no, yes in self._lattice.tests(spot):
            sides = self._lattice.at(self._errors, no), self._lattice.at(self._errors, yes)
            if self._by == "leaves":
                share = first_share(*sides, size, wanted)
                if share is not None:
                    return division.test, self._tree(no, share), self._tree(yes, size - share)
            elif sum(side[min(size - 1, len(side)) - 1] for side in sides) <= wanted:
                return division.test, self._tree(no, size - 1), self._tree(yes, size - 1)
        raise AssertionError("the least error was reached by some split")


def _level_by_level(best: Floats, no: Floats, yes: Floats) -> None:
    """Lower ``best`` to the sum of both sides, one level further up."""
    for depth in range(1, best.shape[-1]):
        sums = sum((side[..., min(depth, side.shape[-1]) - 1] for side in (no, yes)), np.zeros(()))
        np.minimum(best[..., depth], sums, out=best[..., depth])
