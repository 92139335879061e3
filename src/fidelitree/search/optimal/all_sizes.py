"""The least error for every size: a dynamic program over all restrictions of a function.

Mehta and Raghavan (2002) solve the problem for the uniform distribution in this way; masses make it any product
distribution, and parts of values (`lattice`) any features with few of them. What is known about a restriction is its
curve: the least error of a tree with s leaves, for every s, or of s levels, which is one more than its depth. A
restriction of k inputs needs at most k leaves, so that most curves are short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from fidelitree.search.optimal.lattice import Axis, Codes, Group, Lattice, Spot, Step, go_on, label_masses
from fidelitree.trees.curve import Curve, Floats, first_share, min_plus
from fidelitree.trees.nested import Nested

By = Literal["leaves", "depth"]


def entries(axes: Sequence[Axis], most: int) -> int:
    """How many numbers all curves together have at most."""
    return sum(group.count * min(most, group.points) for group in Lattice(axes).in_order())


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
        self._most = min(most, grid.size if by == "leaves" else 1 + sum(len(axis.levels) - 1 for axis in axes))
        weights = label_masses(axes, grid)
        self._masses: list[Floats] = []
        self._errors: list[Floats] = []
        for group in self._lattice.in_order():
            watch()
            self._masses.append(self._mass(group) if self._masses else weights.reshape(grid.size, -1))
            self._errors.append(self._curves(group))

    @property
    def errors(self) -> Floats:
        """Of the whole space."""
        return np.pad(self._errors[-1][0], (0, self._most - len(self._errors[-1][0])), mode="edge")

    def build(self, size: int) -> Nested:
        """A tree with the least error among those with at most so many leaves, or levels."""
        return self._tree(self._lattice.whole(), size)

    def _mass(self, group: Group) -> Floats:
        """The mass of every label under every restriction."""
        masses = np.empty((group.count, self._masses[0].shape[-1]))
        for step in group.first_steps():
            no, yes = group.sides(self._masses, step)
            group.part(masses, step)[...] = no + yes
        return masses

    def _curves(self, group: Group) -> Floats:
        masses = self._masses[group.number]
        alone = masses.sum(axis=1) - masses.max(axis=1)
        width = min(self._most, group.points if self._by == "leaves" else 1 + sum(group.levels))
        curves = np.repeat(alone[:, None], width, axis=1)
        for step in group.steps():
            no, yes = group.sides(self._errors, step)
            (min_plus if self._by == "leaves" else _level_by_level)(group.part(curves, step), no, yes)
        curves = np.minimum.accumulate(curves, axis=1)
        useful = np.flatnonzero((curves[:, 1:] < curves[:, :-1]).any(axis=0))
        return np.ascontiguousarray(curves[:, : 2 + useful[-1] if len(useful) else 1])

    def _tree(self, spot: Spot, size: int) -> Nested:
        curve = spot.of(self._errors)
        wanted = curve[min(size, len(curve)) - 1]
        if wanted >= curve[0]:
            return int(spot.of(self._masses).argmax())
        step, left = self._split(spot, size, wanted)
        no, yes = spot.sides(step)
        return step.division.test, self._tree(no, left[0]), self._tree(yes, left[1])

    def _split(self, spot: Spot, size: int, wanted: float) -> tuple[Step, tuple[int, int]]:
        """The first split that reaches the least error, and what is left for its sides."""
        for step in spot.steps():
            no, yes = (side.of(self._errors) for side in spot.sides(step))
            if self._by == "leaves":
                share = first_share(no, yes, size, wanted)
                if share is not None:
                    return step, (share, size - share)
            elif no[min(size - 1, len(no)) - 1] + yes[min(size - 1, len(yes)) - 1] <= wanted:
                return step, (size - 1, size - 1)
        raise AssertionError("the least error was reached by some split")


def _level_by_level(best: Floats, no: Floats, yes: Floats) -> None:
    """Lower ``best`` to the sum of both sides, one level further up."""
    for depth in range(1, best.shape[-1]):
        sums = sum((side[..., min(depth, side.shape[-1]) - 1] for side in (no, yes)), np.zeros(()))
        np.minimum(best[..., depth], sums, out=best[..., depth])
