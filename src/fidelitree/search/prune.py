"""Pruning a tree to fewer leaves, by how much the result differs from the tree itself.

What two trees disagree on is known exactly, without a query. So if the error of a tree is at most b, the error of
any pruning of it is at most b plus their disagreement, and a certificate of the one is a certificate of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Node, Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prunings:
    """The best prunings of a tree: ``disagreements[s - 1]`` is the least possible with s leaves."""

    tree: Tree
    space: ProductSpace

    @cached_property
    def disagreements(self) -> Floats:
        """Entry s - 1 for s leaves; it never rises."""
        return np.minimum.accumulate(self._curves[0])

    def with_leaves(self, leaves: int) -> Tree:
        """The pruning with at most so many leaves that disagrees least."""
        curve = self._curves[0]
        leaves = min(leaves, len(curve))
        best = int(np.argmin(curve[:leaves])) + 1
        nodes: list[Node] = []
        self._build(nodes, 0, best)
        return Tree.build(self.space, nodes, self.tree.labels)

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

    @cached_property
    def _curves(self) -> dict[int, Floats]:
        """For every node, the least disagreement below it for each number of leaves."""
        tree, masses, curves = self.tree, self._masses, dict[int, Floats]()
        for node in range(len(tree.feature) - 1, -1, -1):
            alone = masses[node].sum() - masses[node].max()
            if tree.feature[node] < 0:
                curves[node] = np.array([0.0])
                continue
            no, yes = curves[int(tree.no[node])], curves[int(tree.yes[node])]
            curve = np.full(len(no) + len(yes), np.inf)
            curve[0] = alone
            for k, cost in enumerate(no):
                part = curve[k + 1 : k + 1 + len(yes)]
                np.minimum(part, cost + yes, out=part)
            curves[node] = curve
        return curves

    def _build(self, nodes: list[Node], node: int, leaves: int) -> int:
        place = len(nodes)
        nodes.append(int(self._masses[node].argmax()))
        if leaves > 1:
            tree, curves = self.tree, self._curves
            no, yes = int(tree.no[node]), int(tree.yes[node])
            shares = range(max(1, leaves - len(curves[yes])), min(len(curves[no]), leaves - 1) + 1)
            share = min(shares, key=lambda k: curves[no][k - 1] + curves[yes][leaves - k - 1])
            one = self._build(nodes, no, share)
            nodes[place] = (tree.test(node), one, self._build(nodes, yes, leaves - share))
        return place
