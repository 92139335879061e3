"""Trees in the making: to a tree and back, with other tests, and as simple as they can be."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.trees.nested import Nested, build, mapped, of, simplest, size
from mixed import MIXED, some_inputs
from small import bits_asked, random_tree

SPACE = ft.ProductSpace.bernoulli(4)
TREE = bits_asked((2, (0, 2, 1), (1, 0, (0, 1, 2))))


@pytest.mark.parametrize(("tree", "leaves"), [(3, 1), (bits_asked((0, 1, 0)), 2), (TREE, 5)])
def test_the_size_is_the_number_of_leaves(tree: Nested, leaves: int) -> None:
    assert size(tree) == leaves


def test_a_tree_comes_back_as_it_was() -> None:
    built = build(SPACE, TREE, ["a", "b", "c"])
    assert of(built) == TREE
    assert of(built, node=int(built.no[0])) == bits_asked((0, 2, 1))
    for seed in range(20):
        tree = random_tree(SPACE, np.random.default_rng(seed), [0, 1], 0.8)
        assert build(SPACE, of(tree), [0, 1]) == tree


def test_codes_may_be_places_of_places() -> None:
    assert build(SPACE, TREE, ["a", "b", "c"], [2, 0, 1]) == build(
        SPACE, bits_asked((2, (0, 1, 0), (1, 2, (0, 0, 1)))), ["a", "b", "c"]
    )


def test_tests_of_any_kind() -> None:
    nested = (AtMost(2, 50.0), (IsIn(1, frozenset({2})), 0, 1), (IsOne(0), 1, 0))
    tree, rows = build(MIXED, nested, ["no", "yes"]), some_inputs(MIXED, 50)
    yes = np.where(rows[:, 2] <= 50, rows[:, 0] == 0, rows[:, 1] == 2)
    assert tree.predict_inner(rows).tolist() == np.where(yes, "yes", "no").tolist()


def test_splits_are_changed_from_the_leaves_up() -> None:
    turned = mapped(TREE, lambda test, no, yes: (IsOne(test.feature + 1), yes, no))
    assert turned == bits_asked((3, (2, (1, 2, 1), 0), (1, 1, 2)))
    assert mapped(4, lambda test, no, yes: no) == 4


def test_splits_between_leaves_of_one_label_go_as_often_as_there_are_any() -> None:
    assert simplest(bits_asked((0, (1, 1, 1), (2, (3, 1, 1), 1)))) == 1
    assert simplest(bits_asked((0, (1, 0, 1), (1, 0, 1)))) == bits_asked((0, (1, 0, 1), (1, 0, 1)))
    assert simplest(TREE) == TREE
