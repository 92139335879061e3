"""The least error for every size: a dynamic program over all restrictions of a function.

Mehta and Raghavan (2002) solve the problem for the uniform distribution in this way; masses make it any product
distribution, and parts of values (`lattice`) any features with few of them. What is known about a restriction is the
least error of a tree with s leaves, for every s, or of depth s; a restriction of k inputs needs at most k leaves, so
that most curves are short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.lattice import Axis, Codes, Group, Lattice, Spot, Step, go_on, label_masses
from fidelitree.exact.subfunction import Floats
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Node, Tree

MOST = 4e7
"""Numbers that all curves together may have."""


def entries(axes: Sequence[Axis], most: int) -> int:
    """How many numbers the curves of a frontier have at most."""
    return sum(group.count * min(most, group.points) for group in Lattice(axes).in_order())


class Frontier:
    """Least errors of trees with 1, 2, ... ``most`` leaves, or of depth 0, 1, ... ``most`` - 1, for a function.

    ``grid`` holds the codes of its labels, one axis for each of ``axes``. ``watch`` is called before every group of
    restrictions and may end the search by raising.
    """

    def __init__(
        self,
        axes: Sequence[Axis],
        grid: Codes,
        most: int,
        by: Literal["leaves", "depth"] = "leaves",
        watch: Callable[[], None] = go_on,
    ) -> None:
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
        """Entry s - 1 is the least error with s leaves, entry d that of depth d."""
        return np.pad(self._errors[-1][0], (0, self._most - len(self._errors[-1][0])), mode="edge")

    def tree(self, space: ProductSpace, labels: NDArray[Any] | Sequence[Any], size: int) -> Tree:
        """A tree with the least error among those with at most so many leaves, or of at most such a depth."""
        nodes: list[Node] = []
        self._build(nodes, self._lattice.whole(), size - 1 if self._by == "leaves" else size)
        return Tree.build(space, nodes, labels)

    def _mass(self, group: Group) -> Floats:
        """The mass of every label under every restriction."""
        masses = np.empty((group.count, self._masses[0].shape[-1]))
        for step in group.first_steps():
            no, yes, place = self._sides(self._masses, group, step)
            masses.reshape(*group.around(step.axis)[:1], -1, group.around(step.axis)[1], masses.shape[-1])[:, place] = (
                no + yes
            )
        return masses

    def _sides(self, arrays: list[Floats], group: Group, step: Step) -> tuple[Floats, Floats, int]:
        before, after = group.around(step.axis)
        no, yes = (
            arrays[number].reshape(before, -1, after, arrays[number].shape[-1])[:, at]
            for number, (_, at) in ((step.no, step.division.no), (step.yes, step.division.yes))
        )
        return no, yes, step.place

    def _curves(self, group: Group) -> Floats:
        masses = self._masses[group.number]
        alone = masses.sum(axis=1) - masses.max(axis=1)
        width = min(self._most, group.points if self._by == "leaves" else 1 + sum(group.levels))
        curves = np.repeat(alone[:, None], width, axis=1)
        for step in group.steps():
            no, yes, place = self._sides(self._errors, group, step)
            before, after = group.around(step.axis)
            best = curves.reshape(before, -1, after, width)[:, place]
            (_least_sums if self._by == "leaves" else _level_by_level)(no, yes, best)
        curves = np.minimum.accumulate(curves, axis=1)
        useful = np.flatnonzero((curves[:, 1:] < curves[:, :-1]).any(axis=0))
        return np.ascontiguousarray(curves[:, : 2 + useful[-1] if len(useful) else 1])

    def _build(self, nodes: list[Node], spot: Spot, spend: int) -> int:
        """Append the best tree with ``spend`` splits, or of that depth."""
        place = len(nodes)
        nodes.append(int(spot.of(self._masses).argmax()))
        curve = spot.of(self._errors)
        wanted = curve[min(spend, len(curve) - 1)]
        if wanted < curve[0]:
            step, shares = self._split(spot, spend, wanted)
            no, yes = spot.group.sides(step, spot.place)
            below = self._build(nodes, no, shares[0])
            nodes[place] = (step.division.test, below, self._build(nodes, yes, shares[1]))
        return place

    def _split(self, spot: Spot, spend: int, wanted: float) -> tuple[Step, tuple[int, int]]:
        """The first split that reaches the least error, and what is left for its sides."""
        for step in spot.steps():
            no, yes = (side.of(self._errors) for side in spot.group.sides(step, spot.place))
            ways = [(k, spend - 1 - k) for k in range(spend)] if self._by == "leaves" else [(spend - 1, spend - 1)]
            for one, other in ways:
                if no[min(one, len(no) - 1)] + yes[min(other, len(yes) - 1)] <= wanted:
                    return step, (one, other)
        raise AssertionError("the least error was reached by some split")


def _least_sums(no: Floats, yes: Floats, best: Floats) -> None:
    """Lower ``best`` to the least sum over all ways to give some leaves to one side and the rest to the other."""
    few, many = sorted((no, yes), key=lambda side: side.shape[-1])
    for k in range(few.shape[-1]):
        part = best[..., k + 1 : k + 1 + many.shape[-1]]
        if not part.shape[-1]:
            return
        np.minimum(part, few[..., k : k + 1] + many[..., : part.shape[-1]], out=part)


def _level_by_level(no: Floats, yes: Floats, best: Floats) -> None:
    """Lower ``best`` to the sum of both sides, one level further up."""
    for depth in range(1, best.shape[-1]):
        sums = sum((side[..., min(depth, side.shape[-1]) - 1] for side in (no, yes)), np.zeros(()))
        np.minimum(best[..., depth], sums, out=best[..., depth])
