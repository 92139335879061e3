"""Bare trees: leaves keep their numbers, branches can be cut, labels complete them."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.trees.bits import pack, unpack
from fidelitree.trees.growing import GrowingTree
from mixed import MIXED
from small import cube, walk

SPACE = ft.ProductSpace.bernoulli(3)


def grown() -> GrowingTree:
    """x1, then x0 where x1 = 1, then x2 where x1 = x0 = 1."""
    bare = GrowingTree(SPACE)
    bare.split(0, IsOne(1))
    bare.split(2, IsOne(0))
    bare.split(4, IsOne(2))
    return bare


def test_it_starts_as_one_leaf() -> None:
    bare = GrowingTree(SPACE)
    assert bare.size == 1
    assert str(bare.leaves[0].region) == "---"
    assert bare.leaves[0].parent is None


def test_new_leaves_are_numbered_in_order_no_before_yes() -> None:
    bare = GrowingTree(SPACE)
    no, yes = bare.split(0, IsOne(1))
    assert (no.number, yes.number, no.parent, yes.parent) == (1, 2, 0, 0)
    no, yes = bare.split(1, IsOne(2))
    assert (no.number, yes.number, str(yes.region)) == (3, 4, "-01")
    assert sorted(bare.leaves) == [2, 3, 4]


def test_a_leaf_that_was_split_is_gone() -> None:
    bare = grown()
    with pytest.raises(KeyError):
        bare.split(0, IsOne(0))


def test_masses_of_the_leaves_add_up() -> None:
    assert sum(leaf.region.mass for leaf in grown().leaves.values()) == pytest.approx(1)


def test_a_cut_ends_every_path_at_its_first_known_node() -> None:
    bare = grown()
    assert bare.cut({0}) == [0]
    assert bare.cut({1, 2}) == [1, 2]
    assert bare.cut({1, 3, 4, 5, 6}) == [1, 3, 4]
    assert sorted(bare.cut(bare.leaves)) == sorted(bare.leaves)


def test_a_tree_may_be_completed_above_its_last_splits() -> None:
    """Whatever was split below a node that has a label does not count, and neither do labels below it."""
    bare = grown()
    assert str(bare.complete({0: 0}, ["label"])) == "label"
    assert str(bare.complete({1: 0, 2: 1}, ["no", "yes"])) == "x1 = 0: no\nx1 = 1: yes"
    assert bare.complete({1: 0, 2: 1, 5: 0, 6: 1}, ["no", "yes"]) == bare.complete({1: 0, 2: 1}, ["no", "yes"])


def test_complete_puts_each_label_on_its_leaf() -> None:
    bare = grown()
    tree = bare.complete({1: 0, 3: 1, 5: 2, 6: 3}, ["a", "b", "c", "d"])
    for row in cube(3):
        expected = "a" if not row[1] else "b" if not row[0] else "c" if not row[2] else "d"
        assert walk(tree, row) == expected


def test_route_sends_every_row_to_the_leaf_of_its_region() -> None:
    bare, rows = grown(), np.random.default_rng(0).integers(0, 2, (200, 3), np.uint8)
    columns = [pack(column) for column in rows.T]
    for number, mask in bare.route(columns, 200):
        fixed = bare.leaves[number].region.restrictions
        inside = [all(row[i] == value for i, value in fixed.items()) for row in rows]
        assert unpack(mask, 200).tolist() == [int(flag) for flag in inside]


def test_a_bare_tree_splits_by_any_test() -> None:
    bare = GrowingTree(MIXED)
    older, _ = bare.split(0, AtMost(2, 50.0))
    no, yes = bare.split(older.number, IsIn(1, frozenset({2})))
    assert str(yes.region) == "job = pilot and age > 50"
    tree = bare.complete({2: 0, no.number: 0, yes.number: 1}, ["no", "yes"])
    assert str(tree) == "age <= 50: no\nage > 50\n    job = pilot: yes\n    job != pilot: no"
