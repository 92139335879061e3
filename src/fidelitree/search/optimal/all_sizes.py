"""The least error for every size: a dynamic program over all restrictions of a function.

Mehta and Raghavan (2002) solve the problem for the uniform distribution in this way; masses make it any product
distribution, and parts of values (`lattice`) any features with few of them. What is known about a restriction is its
curve: the least error of a tree with s leaves, for every s, or of s levels, which is one more than its depth. A
restriction of k inputs needs at most k leaves, so that most curves are short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from fidelitree.search.optimal.lattice import Axis, Codes, Lattice, Levels, Spot, go_on, label_masses
from fidelitree.trees.curve import Curve, Floats, first_share, min_plus
from fidelitree.trees.nested import Nested

By = Literal["leaves", "depth"]


def entries(axes: Sequence[Axis], most: int) -> int:
    """How many numbers all curves together have at most."""
    lattice = Lattice(axes)
    return sum(math.prod(lattice.shape(levels)) * min(most, _points(levels)) for levels in lattice.groups())


def _points(levels: Levels) -> int:
    """Inputs of each restriction of a group."""
    return math.prod(level + 1 for level in levels)


def least_errors(
    axes: Sequence[Axis], grid: Codes, most: int, by: By = "leaves", watch: Callable[[], None] = go_on
) -> Curve:
    """The curve of a function up to ``most`` leaves, or levels.

    ``grid`` holds the codes of its labels, one axis for each of ``axes``. ``watch`` is called before every group of
    restrictions and may end the search by raising.
    """
    solved = _Solved(axes, grid, most, by, watch)
    return Curve(solved.errors, solved.build)


class _Solved:
    """Masses of labels and curves of all restrictions, group by group."""

    def __init__(self, axes: Sequence[Axis], grid: Codes, most: int, by: By, watch: Callable[[], None]) -> None:
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
