"""Substitutes for a tree: others that answer as it does, or nearly, in fewer leaves; found without a query.

What two trees disagree on is known exactly. So if the error of a tree is at most b, the error of a pruning, or of any
other tree, is at most b plus their disagreement, and a certificate of the one is a certificate of the other. A tree is
a function over the cells that its tests make: all that another tree would have to tell apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.exact.cells import Cells
from fidelitree.search.optimal.affordable import (
    CELLS,
    FEW_BITS,
    PATIENT,
    SETS,
)
from fidelitree.search.optimal.lattice import Axis, Cell, axes_of, label_masses
from fidelitree.search.optimal.optimum import CellFunction, errors_of_few_bits, least_errors
from fidelitree.spaces.features import left_of
from fidelitree.trees import nested
from fidelitree.trees.answers import upwards
from fidelitree.trees.curve import Curve

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.world import Weighed
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prunings:
    """The best prunings of a tree, by how often they disagree with it."""

    tree: Tree
    space: Weighed

    @property
    def disagreements(self) -> Floats:
        """Entry s - 1 is the least possible with s leaves; it never rises."""
        return self.curve.errors

    def with_leaves(self, leaves: int) -> Tree:
        """The pruning with at most so many leaves that disagrees least."""
        return nested.build(self.space.product, self.curve.build(leaves), self.tree.labels)

    @cached_property
    def curve(self) -> Curve:
        """From the leaves up."""
        tree, regions = self.tree, self.tree.regions(self.space.product)
        held = [(tree.code[node], self.space.mass(region)) for node, region in regions if tree.feature[node] < 0]
        masses = np.zeros((tree.size, len(tree.labels)))
        for place, (code, mass) in enumerate(held):
            masses[place, code] = mass
        below = upwards(tree, masses)
        errors = below.sum(axis=1) - below.max(axis=1)
        return Curve.of_prunings(tree.nodes, list(zip(below.argmax(axis=1).tolist(), errors.tolist(), strict=True)))


def cells_of(tree: Tree, space: ProductSpace) -> CellFunction | None:
    """The features that a tree tests, and its label codes over their cells, one axis each; None where they are many.

    Cells that are never drawn are left out.
    """
    inner = np.zeros((1, len(space)), space.dtype)
    axes: list[Axis] = []
    columns: list[tuple[int, Sequence[float]]] = []
    for i, feature in enumerate(space):
        tests = [tree.test(int(node)) for node in np.flatnonzero(tree.feature == i)]
        cells = _drawn(Cells.of_tests(i, feature, None, tests)) if tests else []
        if len(cells) > 1:
            if feature.kind == "categorical" and len(cells) > SETS:
                return None
            axes.append(Axis(i, feature.kind, cells))
            columns.append((i, [cell.values[-1] for cell in cells]))
        elif cells:
            inner[0, i] = cells[0].values[-1]
    shape = [len(values) for _, values in columns]
    if math.prod(shape) > CELLS:
        return None
    inner = np.repeat(inner, math.prod(shape), axis=0)
    for (i, values), places in zip(columns, np.indices(shape).reshape(len(shape), math.prod(shape)), strict=True):
        inner[:, i] = np.array(values)[places]
    codes = np.searchsorted(tree.labels, tree.predict_inner(inner))
    return CellFunction(axes, codes.reshape(shape))


def _drawn(cells: Cells) -> list[Cell]:
    """Cells with a probability, in order; the last of a cell's values is one that it holds."""
    found = zip(cells.parts, cells.shares.tolist(), strict=True)
    drawn = [(part, share) for part, share in found if share > 0]
    if cells.kind == "categorical":
        return [Cell(tuple(map(float, sorted(part))), share) for part, share in drawn]
    drawn.sort()
    if cells.kind == "boolean":
        return [Cell((float(part),), share) for part, share in drawn]
    return [_numbers(*left_of(part), share) for part, share in drawn]


def _numbers(low: float, high: float, missing: bool, share: float) -> Cell:
    if low >= high:
        return Cell((math.nan,), share, missing)
    return Cell((low, high if math.isfinite(high) else math.nextafter(low, high)), share, missing)


@dataclass(frozen=True)
class SmallestSubstitutes(Prunings):
    """The best of the prunings of some trees and, where all features are bits and few matter, of all trees.

    ``others`` must be equal to ``tree`` as functions; ``steps`` and ``watch`` limit the search of all trees.
    """

    others: Sequence[Tree] = ()
    steps: float = PATIENT
    watch: Watch = go_on

    @cached_property
    def curve(self) -> Curve:
        """The least of all."""
        curves = [Prunings(one, self.space).curve for one in (self.tree, *self.others)]
        features = sorted(set(self.tree.feature.tolist()) - {-1})
        most = min(len(curve.errors) for curve in curves)
        steps = 3.0 ** len(features) * len(features) * most**2
        space = self.space.independent
        if space is not None and space.all_bits and features and steps <= self.steps:
            curves.append(self._all_trees(space, features, most))
        return Curve.lowest(curves)

    def _all_trees(self, space: ProductSpace, features: list[int], most: int) -> Curve:
        """Every tree over the features that the tree tests."""
        tree, watch = self.tree, self.watch
        rows = np.zeros((1 << len(features), len(space)), np.uint8)
        rows[:, features] = (np.arange(len(rows))[:, None] >> np.arange(len(features))) & 1
        axes, grid = axes_of(space, np.searchsorted(tree.labels, tree.predict(rows)), features=features)
        solved = cache(lambda: least_errors(axes, grid, most, watch=watch))
        if len(axes) > FEW_BITS:
            return solved()
        errors = errors_of_few_bits(label_masses(axes, grid), min(most, grid.size))
        return Curve(errors, lambda leaves: solved().build(min(leaves, len(errors))))
