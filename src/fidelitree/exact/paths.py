"""Exact answers from a tree, at any number of features, by intersecting paths.

Two inputs that differ in feature i alone part ways only at a node that tests i. So the influence of i is the
sum, over the nodes that test it, of how often the node's two subtrees disagree; and how often two subtrees
disagree is found by walking down both at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fidelitree.exact.subfunction import Floats
from fidelitree.features import Test
from fidelitree.region import Region
from fidelitree.space import ProductSpace
from fidelitree.tree import Tree

Place = tuple[Tree, int]


def disagreement(tree: Tree, other: Tree, space: ProductSpace) -> float:
    """Probability that two trees answer differently, exact up to rounding."""
    tree.check_space(space)
    other.check_space(space)
    return _disagreement((tree, 0), (other, 0), Region.whole(space))


class PathSubfunction:
    """A tree inside a region."""

    def __init__(self, tree: Tree, region: Region) -> None:
        tree.check_space(region.space)
        self._tree = tree
        self._region = region

    @property
    def labels(self) -> list[Any]:
        """The labels of the tree."""
        return self._tree.labels.tolist()  # type: ignore[no-any-return]

    def label_probabilities(self) -> Floats:
        """The mass of each label's leaves inside the region."""
        out = np.zeros(len(self._tree.labels))
        for node, mass, _ in _reached(self._tree, 0, self._region):
            if self._tree.feature[node] < 0:
                out[self._tree.code[node]] += mass
        return out

    def influences(self) -> Floats:
        """Disagreement below every node that tests the feature."""
        tree, space = self._tree, self._region.space
        out = np.zeros(len(space))
        for node, mass, path in _reached(tree, 0, self._region):
            i = int(tree.feature[node])
            if i < 0 or i in path:
                continue
            bias = space.features[i].mass(1)
            below = Region(space, path)
            apart = _disagreement((tree, int(tree.no[node])), (tree, int(tree.yes[node])), below)
            out[i] += mass * 2 * bias * (1 - bias) * apart
        return out

    def split(self, test: Test) -> tuple[PathSubfunction, PathSubfunction]:
        """The same tree in two smaller regions."""
        no, yes = (PathSubfunction(self._tree, side) for side in self._region.split(test))
        return no, yes


def _reached(tree: Tree, start: int, region: Region) -> list[tuple[int, float, Mapping[int, int]]]:
    """Nodes below ``start`` that inputs of the region reach: node, conditional probability, what is fixed there."""
    features = region.space.features
    reached = []
    waiting: list[tuple[int, float, Mapping[int, int]]] = [(start, 1.0, region.restrictions)]
    while waiting:
        node, mass, fixed = waiting.pop()
        reached.append((node, mass, fixed))
        i = int(tree.feature[node])
        if i < 0:
            continue
        children = (int(tree.no[node]), int(tree.yes[node]))
        if i in fixed:
            waiting.append((children[fixed[i]], mass, fixed))
            continue
        for value in (1, 0):
            part = mass * features[i].mass(value)
            if part > 0:
                waiting.append((children[value], part, {**fixed, i: value}))
    return reached


def _disagreement(one: Place, two: Place, region: Region) -> float:
    """Probability, given the region, that the trees below two places answer differently."""
    (tree, start), (other, begin) = one, two
    apart = 0.0
    for node, mass, fixed in _reached(tree, start, region):
        if tree.feature[node] >= 0:
            continue
        label = tree.labels[tree.code[node]]
        for end, share, _ in _reached(other, begin, Region(region.space, fixed)):
            if other.feature[end] < 0 and other.labels[other.code[end]] != label:
                apart += mass * share
    return apart
