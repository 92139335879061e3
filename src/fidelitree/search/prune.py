"""Pruning a tree to fewer leaves, by how much the result differs from the tree itself.

What two trees disagree on is known exactly, without a query. So if the error of a tree is at most b, the error of
any pruning of it is at most b plus their disagreement, and a certificate of the one is a certificate of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.trees import nested
from fidelitree.trees.curve import Curve, CurveSplit

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prunings:
    """The best prunings of a tree."""

    tree: Tree
    space: ProductSpace

    @property
    def disagreements(self) -> Floats:
        """Entry s - 1 is the least possible with s leaves; it never rises."""
        return self.curve.errors

    def with_leaves(self, leaves: int) -> Tree:
        """The pruning with at most so many leaves that disagrees least."""
        return nested.build(self.space, self.curve.build(leaves), self.tree.labels)

    @cached_property
    def curve(self) -> Curve:
        """From the leaves up."""
        tree, masses, curves = self.tree, self._masses, dict[int, Curve]()
        for node in range(len(tree.feature) - 1, -1, -1):
            here = Curve.leaf(int(masses[node].argmax()), masses[node].sum() - masses[node].max())
            if tree.feature[node] >= 0:
                sides = curves.pop(int(tree.no[node])), curves.pop(int(tree.yes[node]))
                here = here.or_split(CurveSplit(tree.test(node), *sides))
            curves[node] = here
        return curves[0]

    @cached_property
    def _masses(self) -> Floats:
        """For every node, the mass of each label below it."""
        tree = self.tree
        masses = np.zeros((len(tree.feature), len(tree.labels)))
        for node, region in self.tree.regions(self.space):
            if tree.feature[node] < 0:
                masses[node, tree.code[node]] = region.mass
        for node in range(len(tree.feature) - 1, -1, -1):
            if tree.feature[node] >= 0:
                masses[node] = masses[tree.no[node]] + masses[tree.yes[node]]
        return masses
