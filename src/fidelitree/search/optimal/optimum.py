"""The smallest tree for a function, by a dynamic program over all restrictions of its features.

The least cost of a restriction on which the function is constant is 0; of any other it is the least over all tests of
what the test and the least costs of both sides come to. That takes one array operation for each group of restrictions
and each of its tests (`lattice`): 3^r r/3 additions for r bits. What is counted is splits (one less than leaves),
depth, or average depth; all at error 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.optimal.lattice import Axis, Codes, Division, Lattice, Levels, Spot, go_on
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
        """What both sides cost; the test itself is added in the end, where it counts alike for all."""
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
