"""Substitutes for a tree: others that answer as it does, or nearly, in fewer leaves; found without a query.

What two trees disagree on is known exactly. So if the error of a tree is at most b, the error of a pruning, or of any
other tree, is at most b plus their disagreement, and a certificate of the one is a certificate of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.optimal.affordable import PASSING
from fidelitree.search.optimal.lattice import axes_of
from fidelitree.search.optimal.optimum import least_errors
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


@dataclass(frozen=True)
class SmallestSubstitutes(Prunings):
    """The best of the prunings of some trees and, where all features are bits and few matter, of all trees.

    ``others`` must be equal to ``tree`` as functions. The search of all trees may hold ``room`` numbers, and ``watch``
    may end it.
    """

    others: Sequence[Tree] = ()
    room: float = PASSING
    watch: Watch = go_on

    @cached_property
    def curve(self) -> Curve:
        """The least of all."""
        curves = [Prunings(one, self.space).curve for one in (self.tree, *self.others)]
        features = sorted(set(self.tree.feature.tolist()) - {-1})
        most = min(len(curve.errors) for curve in curves)
        count, space = len(features), self.space.independent
        held = sum((math.comb(count, free) << (count - free)) * min(most, 1 << free) for free in range(count + 1))
        if space is not None and space.all_bits and features and held <= self.room:
            curves.append(self._all_trees(space, features, most))
        return Curve.lowest(curves)

    def _all_trees(self, space: ProductSpace, features: list[int], most: int) -> Curve:
        """Every tree over the features that the tree tests."""
        tree = self.tree
        rows = np.zeros((1 << len(features), len(space)), np.uint8)
        rows[:, features] = (np.arange(len(rows))[:, None] >> np.arange(len(features))) & 1
        axes, grid = axes_of(space, np.searchsorted(tree.labels, tree.predict(rows)), features=features)
        return least_errors(axes, grid, most, watch=self.watch)
