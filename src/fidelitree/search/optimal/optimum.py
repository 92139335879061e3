"""The smallest tree for a function, by a dynamic program over all restrictions of its features.

The least cost of a restriction on which the function is constant is 0; of any other it is the least over all tests of
what the test and the least costs of both sides come to. That takes one array operation for each group of restrictions
and each of its tests (`lattice`): 3^r r/3 additions for r bits. What is counted is splits (one less than leaves),
depth, or average depth; all at error 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.optimal.lattice import Axis, Codes, Division, Group, Lattice, Spot, Step, go_on
from fidelitree.trees.nested import Nested

Objective = Literal["leaves", "depth", "average_depth"]
OBJECTIVES = ("leaves", "depth", "average_depth")

Costs = NDArray[Any]


class Optimum:
    """The least cost of every restriction; `nested` is one of the trees that have it.

    ``watch`` is called before every group of restrictions and may end the search by raising.
    """

    def __init__(
        self, axes: Sequence[Axis], grid: Codes, objective: Objective = "leaves", watch: Callable[[], None] = go_on
    ) -> None:
        self._lattice = Lattice(axes)
        self._objective = objective
        self._codes: list[Codes] = []
        self._costs: list[Costs] = []
        kind = np.int8 if int(grid.max(initial=0)) < 128 else np.int32
        self._dtype = self._cost_type(grid.size)
        for group in self._lattice.in_order():
            watch()
            if not self._codes:
                self._codes.append(grid.astype(kind).reshape(-1))
                self._costs.append(np.zeros(grid.size, self._dtype))
                continue
            codes = self._constant(group)
            self._codes.append(codes)
            self._costs.append(np.where(codes < 0, self._least(group), self._dtype.type(0)))

    @property
    def cost(self) -> float:
        """Of the whole space: leaves, depth or average depth."""
        found: float = self._costs[-1].item()
        return found + 1 if self._objective == "leaves" else found

    def nested(self) -> Nested:
        """A tree with the least cost; among equals the first feature, then the first of its tests."""
        return self._below(self._lattice.whole())

    def _cost_type(self, points: int) -> np.dtype[Any]:
        if self._objective == "average_depth":
            return np.dtype(np.float64)
        if self._objective == "depth":
            return np.dtype(np.uint8)
        return np.dtype(np.uint8 if points <= 1 << 8 else np.uint16 if points <= 1 << 16 else np.uint32)

    def _constant(self, group: Group) -> Codes:
        """The label of each restriction; -1 where it has more than one."""
        found = np.empty(group.count, self._codes[0].dtype)
        for step in group.first_steps():
            no, yes = group.sides(self._codes, step)
            group.part(found, step)[...] = np.where(no == yes, no, -1)
        return found

    def _least(self, group: Group) -> Costs:
        """Costs of the best tests, wherever the function is not constant."""
        top = np.inf if self._dtype.kind == "f" else np.iinfo(self._dtype).max
        best = np.full(group.count, top, self._dtype)
        for step in group.steps():
            part = group.part(best, step)
            np.minimum(part, self._sum(*group.sides(self._costs, step), step.division), out=part)
        if self._dtype.kind != "f":
            best += np.array(best < top, self._dtype)
        return best

    def _sum(self, no: Costs, yes: Costs, division: Division) -> Costs:
        """What both sides cost; the test itself is added in the end, where it counts alike for all."""
        if self._objective == "leaves":
            return np.asarray(no + yes)
        if self._objective == "depth":
            return np.maximum(no, yes)
        return np.asarray(1 + division.shares[0] * no + division.shares[1] * yes)

    def _below(self, spot: Spot) -> Nested:
        code = int(spot.of(self._codes))
        if code >= 0:
            return code
        step = min(spot.steps(), key=lambda step: self._through(spot, step))
        no, yes = spot.sides(step)
        return step.division.test, self._below(no), self._below(yes)

    def _through(self, spot: Spot, step: Step) -> Any:
        no, yes = spot.sides(step)
        return self._sum(no.of(self._costs), yes.of(self._costs), step.division)
