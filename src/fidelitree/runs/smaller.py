"""The smallest trees that stand in for a given tree, without a query: the same function, or nearly, in fewer leaves."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.frontier import Frontier
from fidelitree.exact.lattice import axes_of, go_on, label_masses
from fidelitree.exact.leasterrors import least_errors
from fidelitree.search.prune import Prunings
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]

QUICK, PATIENT = 5e6, 2e9  # steps of the dynamic program: milliseconds, and some seconds
AT_ONCE = 8  # bits whose restrictions are solved together


class Substitutes(Protocol):
    """Trees for every number of leaves, by how often they disagree with a given tree."""

    @property
    def disagreements(self) -> Floats:
        """Entry s - 1 for at most s leaves."""

    def with_leaves(self, leaves: int) -> Tree:
        """The tree with at most so many leaves that disagrees least."""


class SmallestSubstitutes:
    """The best of the prunings of some trees and, where all features are bits and few matter, of all trees."""

    def __init__(
        self,
        tree: Tree,
        space: ProductSpace,
        others: list[Tree],
        steps: float = PATIENT,
        watch: Callable[[], None] = go_on,
    ) -> None:
        """``others`` must be equal to ``tree`` as functions; ``steps`` and ``watch`` limit the search of all trees."""
        self._tree, self._space, self._steps, self._watch = tree, space, steps, watch
        self._prunings = [Prunings(one, space) for one in (tree, *others)]

    @property
    def disagreements(self) -> Floats:
        """The least over all sources."""
        most = max(len(source.disagreements) for source in self._sources)
        padded = [
            np.pad(source.disagreements, (0, most - len(source.disagreements)), mode="edge") for source in self._sources
        ]
        return np.asarray(np.min(padded, axis=0))

    def with_leaves(self, leaves: int) -> Tree:
        """From the source that has the best tree of this size."""
        best = min(self._sources, key=lambda source: float(source.disagreements[:leaves][-1]))
        return best.with_leaves(leaves)

    @cached_property
    def _sources(self) -> list[Substitutes]:
        features = sorted(set(self._tree.feature.tolist()) - {-1})
        most = min(len(prunings.disagreements) for prunings in self._prunings)
        bits = self._space.all_bits
        if not bits or not features or 3.0 ** len(features) * len(features) * most**2 > self._steps:
            return [*self._prunings]
        return [*self._prunings, _AllTrees(self._tree, self._space, features, most, self._watch)]


class _AllTrees:
    """Every tree over the features that a tree tests."""

    def __init__(
        self, tree: Tree, space: ProductSpace, features: list[int], most: int, watch: Callable[[], None]
    ) -> None:
        rows = np.zeros((1 << len(features), len(space)), np.uint8)
        rows[:, features] = (np.arange(len(rows))[:, None] >> np.arange(len(features))) & 1
        codes = np.searchsorted(tree.labels, tree.predict(rows))
        self._axes, self._grid = axes_of(space, codes, features=features)
        self._tree, self._space, self._most, self._watch = tree, space, most, watch

    @cached_property
    def disagreements(self) -> Floats:
        """Few bits are quickly done; many would take much memory at once."""
        if len(self._axes) > AT_ONCE:
            return self._frontier.errors
        return least_errors(label_masses(self._axes, self._grid), min(self._most, self._grid.size))

    def with_leaves(self, leaves: int) -> Tree:
        return self._frontier.tree(self._space, self._tree.labels, min(leaves, len(self.disagreements)))

    @cached_property
    def _frontier(self) -> Frontier:
        return Frontier(self._axes, self._grid, self._most, watch=self._watch)
