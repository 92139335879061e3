"""The exact probe follows splits by splitting what it holds."""

from __future__ import annotations

import numpy as np

import fidelitree as ft
from fidelitree.exact.paths import PathSubfunction
from fidelitree.search.exact_growth import ExactProbe
from fidelitree.spaces.features import IsOne
from fidelitree.trees.growing import GrowingTree
from small import random_tree

SPACE = ft.ProductSpace.bernoulli(4, [0.5, 0.3, 0.8, 0.6])
TREE = random_tree(SPACE, np.random.default_rng(2), ["a", "b", "c"], 1.0)


def test_only_new_leaves_have_new_evidence() -> None:
    bare, probe = GrowingTree(SPACE), ExactProbe(PathSubfunction(TREE, SPACE.whole))
    assert probe.look(bare, list(bare.leaves.values())).keys() == {0}
    assert probe.look(bare, list(bare.split(0, IsOne(3)))).keys() == {1, 2}
    assert probe.look(bare, list(bare.split(2, IsOne(1)))).keys() == {3, 4}


def test_a_leaf_of_a_grown_tree_has_what_its_region_has() -> None:
    bare, probe = GrowingTree(SPACE), ExactProbe(PathSubfunction(TREE, SPACE.whole))
    evidence = dict(probe.look(bare, list(bare.leaves.values())))
    for number, feature in ((0, 3), (2, 1), (1, 0)):
        evidence.update(probe.look(bare, list(bare.split(number, IsOne(feature)))))
    for number, leaf in bare.leaves.items():
        alone = PathSubfunction(TREE, leaf.region)
        np.testing.assert_allclose(evidence[number].scores, leaf.region.mass * alone.influences())
        np.testing.assert_allclose(evidence[number].label_masses, leaf.region.mass * alone.label_probabilities())
