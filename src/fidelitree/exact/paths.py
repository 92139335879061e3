"""Exact answers from a tree, at any number of features, by intersecting paths.

Two inputs that differ in feature i alone part ways only at a node that tests i. So the influence of i is the
sum, over the nodes that test it, of how often the node's two subtrees disagree; and how often two subtrees
disagree is found by walking down both at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.exact.cells import Cells, best_tests
from fidelitree.exact.subfunction import BestTests, Floats, Subfunction
from fidelitree.spaces.features import Feature, Restriction, Test
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.spaces.world import Weighed

Place = tuple[Tree, int]
Path = Mapping[int, Restriction]


def disagreement(tree: Tree, other: Tree, space: Weighed) -> float:
    """Probability that two trees answer differently, exact up to rounding."""
    tree.check_space(space.product)
    other.check_space(space.product)
    if space.independent is None:
        return math.fsum(map(space.mass, _apart(tree, other, space.product.whole)))
    return _disagreement((tree, 0), (other, 0), space.independent.whole)


def _apart(tree: Tree, other: Tree, whole: Region) -> Iterator[Region]:
    """The boxes where two trees answer differently: two leaves' intersections, as far as there are any."""
    for node, _, path in _reached(tree, 0, whole):
        if tree.feature[node] < 0:
            for end, _, both in _reached(other, 0, Region(whole.space, path)):
                if other.feature[end] < 0 and other.labels[other.code[end]] != tree.labels[tree.code[node]]:
                    yield Region(whole.space, both)


class PathSubfunction(Subfunction):
    """A tree inside a region."""

    def __init__(self, tree: Tree, region: Region) -> None:
        tree.check_space(region.space)
        self._tree, self._region, self.labels = tree, region, tree.labels.tolist()

    def label_probabilities(self) -> Floats:
        """The mass of each label's leaves inside the region."""
        out = np.zeros(len(self._tree.labels))
        for node, mass, _ in _reached(self._tree, 0, self._region):
            if self._tree.feature[node] < 0:
                out[self._tree.code[node]] += mass
        return out

    def influences(self) -> Floats:
        """Disagreement below every node that tests the feature; where not all are bits, for pairs of leaves."""
        tree, space = self._tree, self._region.space
        if not space.all_bits:
            return np.array([float(cells.shares @ apart @ cells.shares) for cells, apart in self._pairs])
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

    def splits(self) -> BestTests:
        """Bits have one test each; of other features the tests that the tree asks are compared, and their unions."""
        return super().splits() if self._region.space.all_bits else best_tests(self._pairs)

    @cached_property
    def _pairs(self) -> list[tuple[Cells, Floats]]:
        """For each feature its cells, and how often each pair of them gets different labels, all else being equal.

        An input of one leaf becomes one of another by a change of feature i where their boxes share values of every
        other feature; how much they share is a product over features, for all pairs of leaves at once.
        """
        tree, region = self._tree, self._region
        leaves = [(node, path) for node, _, path in _reached(tree, 0, region) if tree.feature[node] < 0]
        codes = tree.code[[node for node, _ in leaves]]
        tests = [[tree.test(int(node)) for node in np.flatnonzero(tree.feature == i)] for i in range(len(region.space))]
        cells, members, shared = [], [], []
        for i, feature in enumerate(region.space):
            cells.append(Cells.of_tests(i, feature, region.restrictions.get(i), tests[i]))
            members.append(np.array([cells[i].inside(path.get(i)) for _, path in leaves], np.float64))
            shared.append((members[i] * cells[i].shares) @ members[i].T)
        weights = _products_without_each(shared, (codes[:, None] != codes).astype(np.float64))
        return [(cells[i], members[i].T @ weights[i] @ members[i]) for i in range(len(cells))]

    def split(self, test: Test) -> tuple[PathSubfunction, PathSubfunction]:
        """The same tree in two smaller regions."""
        no, yes = (PathSubfunction(self._tree, side) for side in self._region.split(test))
        return no, yes


def _products_without_each(factors: list[Floats], start: Floats) -> list[Floats]:
    """For each factor, the product of ``start`` and all other factors, without a division."""
    before = list(itertools.accumulate(factors[:-1], np.multiply, initial=start))
    after = list(itertools.accumulate(factors[:0:-1], np.multiply, initial=np.ones_like(start)))[::-1]
    return [one * two for one, two in zip(before, after, strict=True)]


def _reached(tree: Tree, start: int, region: Region) -> list[tuple[int, float, Path]]:
    """Nodes below ``start`` that inputs of the region reach: node, conditional probability, what is left there."""
    features, tests = region.space.features, tree.tests
    tested, no, yes, _ = tree.as_lists
    reached = []
    waiting: list[tuple[int, float, Path]] = [(start, 1.0, region.restrictions)]
    while waiting:
        node, mass, left = waiting.pop()
        reached.append((node, mass, left))
        i = tested[node]
        if i < 0:
            continue
        children = no[node], yes[node]
        ways = _ways(features[i], tests.get(node), left.get(i))
        if len(ways) == 1:
            waiting.append((children[ways[0][0]], mass, left))
            continue
        for side, what, share in ways:
            if mass * share > 0:
                waiting.append((children[side], mass * share, {**left, i: what}))
    return reached


def _ways(feature: Feature, test: Test | None, left: Restriction | None) -> list[tuple[int, Restriction, float]]:
    """The sides of a test (None: of a bit) that are open, yes first: side, what is left of the feature, its share."""
    if test is None:
        return [(1, 1, feature.mass(1)), (0, 0, feature.mass(0))] if left is None else [(left, left, 1.0)]
    no, yes = feature.parts(test, left)
    whole = feature.mass(left) or 1.0
    return [(side, what, feature.mass(what) / whole) for side, what in ((1, yes), (0, no)) if what is not None]


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
