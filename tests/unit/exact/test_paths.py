"""The exact error between trees, at any number of features."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.exact.engine import tree_error
from fidelitree.exact.paths import PathSubfunction
from fidelitree.trees.tree import Tree
from small import LABEL_SETS, random_tree, true_error


@pytest.mark.parametrize("labels", LABEL_SETS, ids=str)
@pytest.mark.parametrize("n", [1, 3, 6])
def test_error_between_trees_is_that_of_all_inputs(n: int, labels: list[object]) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        space = ft.ProductSpace.bernoulli(n, np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), rng.random(n)))
        one, two = (random_tree(space, rng, labels, 0.9) for _ in range(2))
        assert tree_error(one, two, space) == pytest.approx(true_error(one, two, space), rel=1e-12, abs=1e-15)
        assert tree_error(one, two, space) == pytest.approx(tree_error(two, one, space), rel=1e-12)


def test_a_tree_never_differs_from_itself() -> None:
    rng = np.random.default_rng(0)
    space = ft.ProductSpace.bernoulli(12, rng.random(12))
    for _ in range(10):
        tree = random_tree(space, rng, [0, 1, 2], 0.8)
        assert tree_error(tree, tree, space) == 0


def test_two_thousand_features_are_no_obstacle() -> None:
    space = ft.ProductSpace.bernoulli(2000, 0.3)
    first, last = (Tree.build(space, [(i, 1, 2), 0, 1], [0, 1]) for i in (0, 1999))
    assert ft.tree_error(first, last, space) == pytest.approx(2 * 0.3 * 0.7)
    opposite = Tree.build(space, [(0, 1, 2), 1, 0], [0, 1])
    assert ft.tree_error(first, opposite, space) == pytest.approx(1)


def test_labels_are_compared_not_their_codes() -> None:
    space = ft.ProductSpace.bernoulli(1)
    one = Tree.build(space, [(0, 1, 2), 0, 1], ["a", "b"])
    two = Tree.build(space, [(0, 1, 2), 0, 1], ["b", "c"])
    assert tree_error(one, two, space) == 1
    assert tree_error(one, Tree.constant(space, "b"), space) == 0.5


@pytest.mark.parametrize("swapped", [False, True])
def test_trees_of_another_space_are_refused(swapped: bool) -> None:
    space, other = ft.ProductSpace.bernoulli(2), ft.ProductSpace.bernoulli(3)
    pair = [Tree.constant(space, 0), Tree.constant(other, 0)]
    with pytest.raises(ft.ParameterError, match="space must have the tree's 3 features"):
        tree_error(*(pair[::-1] if swapped else pair), space)
    with pytest.raises(ft.ParameterError, match="space must have the tree's 3 features"):
        PathSubfunction(pair[1], space.whole)


def test_influence_counts_every_node_that_tests_the_feature() -> None:
    space = ft.ProductSpace.bernoulli(3, [0.5, 0.2, 0.4])
    tree = Tree.build(space, [(0, 1, 2), (1, 3, 4), (1, 5, 6), 0, 1, 1, 0], [0, 1])  # x0 xor x1
    function = PathSubfunction(tree, space.whole)
    np.testing.assert_allclose(function.influences(), [0.5, 2 * 0.2 * 0.8, 0])
