"""Substitutes for a tree: others that answer as it does, or nearly, in fewer leaves; found without a query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.optimal.affordable import FEW_BITS, PATIENT
from fidelitree.search.optimal.all_sizes import least_errors
from fidelitree.search.optimal.few_bits import errors_of_few_bits
from fidelitree.search.optimal.lattice import axes_of, go_on, label_masses
from fidelitree.search.prune import Prunings
from fidelitree.trees.curve import Curve
from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]


class Substitutes(Protocol):
    """Trees for every number of leaves, by how often they disagree with a given tree."""

    @property
    def disagreements(self) -> Floats:
        """Entry s - 1 for at most s leaves."""

    def with_leaves(self, leaves: int) -> Tree:
        """The tree with at most so many leaves that disagrees least."""


@dataclass(frozen=True)
class SmallestSubstitutes(Prunings):
    """The best of the prunings of some trees and, where all features are bits and few matter, of all trees.

    ``others`` must be equal to ``tree`` as functions; ``steps`` and ``watch`` limit the search of all trees.
    """

    others: Sequence[Tree] = ()
    steps: float = PATIENT
    watch: Callable[[], None] = go_on

    @cached_property
    def curve(self) -> Curve:
        """The least of all."""
        curves = [Prunings(one, self.space).curve for one in (self.tree, *self.others)]
        features = sorted(set(self.tree.feature.tolist()) - {-1})
        most = min(len(curve.errors) for curve in curves)
        steps = 3.0 ** len(features) * len(features) * most**2
        if self.space.all_bits and features and steps <= self.steps:
            curves.append(self._all_trees(features, most))
        return Curve.lowest(curves)

    def _all_trees(self, features: list[int], most: int) -> Curve:
        """Every tree over the features that the tree tests."""
        tree, space, watch = self.tree, self.space, self.watch
        rows = np.zeros((1 << len(features), len(space)), np.uint8)
        rows[:, features] = (np.arange(len(rows))[:, None] >> np.arange(len(features))) & 1
        axes, grid = axes_of(space, np.searchsorted(tree.labels, tree.predict(rows)), features=features)
        solved = cache(lambda: least_errors(axes, grid, most, watch=watch))
        if len(axes) > FEW_BITS:
            return solved()
        errors = errors_of_few_bits(label_masses(axes, grid), min(most, grid.size))
        return Curve(errors, lambda leaves: solved().build(min(leaves, len(errors))))
