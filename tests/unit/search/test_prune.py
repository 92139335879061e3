"""Prunings are the best there are, and differ from the tree exactly as much as they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given

import fidelitree as ft
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.trees.tree import Tree
from small import cube, spaces, trees, true_error, walk, weights


def all_prunings(tree: Tree, space: ft.ProductSpace) -> dict[int, float]:
    """The least disagreement for each number of leaves, by looking at every pruning and every input."""
    rows, masses = cube(len(space)), weights(space)
    labels = np.array([walk(tree, row) for row in rows])

    def below(node: int, inside: np.ndarray) -> dict[int, float]:
        here = [float(masses[inside & (labels != label)].sum()) for label in tree.labels]
        found = {1: min(here)}
        if tree.feature[node] >= 0:
            yes = rows[:, tree.feature[node]] == 1
            sides = below(int(tree.no[node]), inside & ~yes), below(int(tree.yes[node]), inside & yes)
            for (k, one), (m, two) in itertools.product(sides[0].items(), sides[1].items()):
                found[k + m] = min(found.get(k + m, np.inf), one + two)
        return found

    return below(0, np.ones(len(rows), bool))


SPACE = ft.ProductSpace.bernoulli(4, [0.5, 0.2, 0.9, 0.5])
TREE = Tree.build(
    SPACE,
    [(0, 1, 2), (1, 3, 4), (2, 5, 6), 0, 1, 0, (3, 7, 8), 2, 1],
    ["a", "b", "c"],
)


trees_in = spaces(5).flatmap(lambda space: trees(space).map(lambda tree: (space, tree)))


@given(trees_in)
def test_no_pruning_is_better(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    best = all_prunings(tree, space)
    curve = Prunings(tree, space).disagreements
    assert len(curve) == tree.size
    expected = [min(lost for size, lost in best.items() if size <= leaves) for leaves in range(1, tree.size + 1)]
    assert curve.tolist() == pytest.approx(expected, abs=1e-12)


@given(trees_in)
def test_a_pruning_has_the_leaves_and_the_disagreement_it_says(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    prunings = Prunings(tree, space)
    for leaves in range(1, tree.size + 1):
        pruned = prunings.with_leaves(leaves)
        assert pruned.size <= leaves
        assert pruned.labels.tolist() == tree.labels.tolist()
        assert ft.tree_error(tree, pruned, space) == pytest.approx(prunings.disagreements[leaves - 1], abs=1e-12)
        assert true_error(tree, pruned, space) == pytest.approx(prunings.disagreements[leaves - 1], abs=1e-12)


@given(trees_in)
def test_more_leaves_never_disagree_more_and_all_of_them_never(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    curve = Prunings(tree, space).disagreements
    assert (np.diff(curve) <= 0).all()
    assert curve[-1] == 0


@given(trees_in)
def test_a_pruning_is_the_top_of_the_tree(pair: tuple[ft.ProductSpace, Tree]) -> None:
    space, tree = pair
    for leaves in range(1, tree.size + 1):
        pruned = Prunings(tree, space).with_leaves(leaves)
        waiting = [(0, 0)]
        while waiting:
            node, above = waiting.pop()
            if pruned.feature[node] >= 0:
                assert pruned.feature[node] == tree.feature[above]
                waiting += [(pruned.no[node], tree.no[above]), (pruned.yes[node], tree.yes[above])]


def test_the_prunings_of_one_tree() -> None:
    """By hand: the mass of a is 0.4 and 0.05, of b 0.1 and 0.225, of c 0.225."""
    prunings = Prunings(TREE, SPACE)
    assert prunings.disagreements.tolist() == pytest.approx([0.55, 0.375, 0.275, 0.1, 0])
    assert str(prunings.with_leaves(1)) == "a"
    assert str(prunings.with_leaves(2)) == "x0 = 0: a\nx0 = 1: b"
    assert str(prunings.with_leaves(3)) == "x0 = 0\n    x1 = 0: a\n    x1 = 1: b\nx0 = 1: b"
    assert str(prunings.with_leaves(4)).splitlines() == [
        "x0 = 0: a",
        "x0 = 1",
        "    x2 = 0: a",
        "    x2 = 1",
        "        x3 = 0: c",
        "        x3 = 1: b",
    ]
    assert prunings.with_leaves(5) == prunings.with_leaves(500) == TREE


def test_what_never_happens_is_pruned_for_nothing() -> None:
    certain = ft.ProductSpace.bernoulli(4, [0.5, 0, 1, 0.5])
    prunings = Prunings(TREE, certain)
    assert prunings.disagreements.tolist() == pytest.approx([0.5, 0.25, 0.25, 0, 0])
    assert prunings.with_leaves(5).size == 4


def test_a_leaf_has_one_pruning() -> None:
    leaf = Tree.constant(SPACE, True)
    assert Prunings(leaf, SPACE).disagreements.tolist() == [0]
    assert Prunings(leaf, SPACE).with_leaves(3) == leaf
