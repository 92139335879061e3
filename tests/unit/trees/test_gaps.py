"""Tests of numbers that may be missing have one form, and rows go down them the same way in C and in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.errors import FormatError
from fidelitree.spaces.features import AtMost
from fidelitree.trees import kernels
from fidelitree.trees.tree import Tree
from mixed import GAPS, mixed_tree, some_inputs

SPACE = ft.ProductSpace([ft.Numeric("a", 0, 10, missing=0.5), ft.Numeric("b", 0, 10)])
NAN = math.nan


def asked_by(*nodes: Any) -> list[Any]:
    tree = Tree.build(SPACE, nodes, [0, 1])
    return [tree.tests[node] for node in sorted(tree.tests)]


def test_a_threshold_says_where_missing_numbers_go_where_they_can_come() -> None:
    assert asked_by((AtMost(0, 3), 1, 2), 0, 1) == [AtMost(0, 3.0, False)]
    assert asked_by((AtMost(1, 3), 1, 2), 0, 1) == [AtMost(1, 3)]
    assert asked_by((AtMost(1, 3, True), 1, 2), 0, 1) == [AtMost(1, 3, True)], "what somebody has said stays"
    lower = (AtMost(0, 5.0, True), 1, 2), 0, (AtMost(0, 3.0, True), 3, 4), 0, 1
    assert asked_by(*lower) == [AtMost(0, 5.0, True), AtMost(0, 3.0, True)]
    upper = (AtMost(0, 5.0, True), 2, 1), 0, (AtMost(0, 7.0, True), 3, 4), 0, 1
    assert asked_by(*upper) == [AtMost(0, 5.0, True), AtMost(0, 7)], "none comes to the no side of the first"


def test_a_threshold_that_only_parts_missing_numbers_says_so() -> None:
    above = Tree.build(SPACE, [(AtMost(0, 5.0, False), 2, 1), 0, (AtMost(0, 3.0, True), 3, 4), 0, 1], [0, 1])
    assert above.tests[1] == AtMost(0, math.inf, False)
    below = Tree.build(SPACE, [(AtMost(0, 5.0, True), 1, 2), 0, (AtMost(0, 7.0, False), 3, 4), 0, 1], [0, 1])
    assert below.tests[2] == AtMost(0, math.inf, False)
    rows = np.array([[NAN, 0], [2, 0], [6, 0], [8, 0]])
    assert above.predict_inner(rows).tolist() == [1, 0, 0, 0]
    assert below.predict_inner(rows).tolist() == [0, 1, 0, 0]
    assert str(below).splitlines() == [
        "a <= 5 or missing",
        "    a is not missing: 1",
        "    a is missing: 0",
        "a > 5: 0",
    ]


def test_a_missing_number_is_refused_where_the_tree_has_no_side_for_it() -> None:
    tree = Tree.build(SPACE, [(AtMost(1, 3), 1, 2), 0, 1], [0, 1])
    assert tree.gaps == {0}
    assert tree.predict(np.array([[NAN, 1], [NAN, 4]])).tolist() == [1, 0]
    with pytest.raises(ft.ParameterError, match=r"^feature 'b' must hold numbers; 1 of 2 are missing"):
        tree.predict(np.array([[1, NAN], [1, 4]]))


@given(st.integers(0, 10_000))
def test_rows_go_down_the_same_way_in_c_and_in_numpy(seed: int) -> None:
    tree = mixed_tree(GAPS, np.random.default_rng(seed), ["a", "b", "c"], 0.95)
    rows = some_inputs(GAPS, 200, seed)
    found = [tree.predict_inner(np.asarray(rows, order=order)) for order in ("C", "F")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "compiled", False)
        slow = tree.predict_inner(rows)
    assert found[0].tolist() == found[1].tolist() == slow.tolist()


def test_a_batch_of_floats_with_gaps_needs_no_other_form() -> None:
    tree = Tree.build(SPACE, [(AtMost(0, 3.0, True), 1, 2), 0, 1], [0, 1])
    rows = np.array([[NAN, NAN], [2, 1], [4, NAN]])
    assert tree.predict(rows).tolist() == tree.predict(np.asfortranarray(rows)).tolist() == [1, 1, 0]
    assert tree.predict({"a": [None, 2, 4], "b": [0, 0, None]}).tolist() == [1, 1, 0]


@pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled")
@pytest.mark.parametrize("start", [-3, -1000])
def test_a_node_that_is_neither_a_set_nor_a_threshold_is_refused(start: int) -> None:
    one = np.array([start, -1, -1], np.int32)
    tree = (np.array([0.5, NAN, NAN]), np.zeros(3, np.int32), np.array([1, 1, 2], np.int32), np.zeros(3, np.int64))
    rest = np.zeros(3, np.int32), np.zeros(0, np.uint8), np.zeros((4, 1)), np.zeros(4, np.int64)
    with pytest.raises(ValueError, match="a set must lie inside member"):
        kernels.native.walk(*tree, one, *rest, 0, False, 1, False)
    leaf = np.array([-1, -2, -1], np.int32)
    with pytest.raises(ValueError, match="a leaf leads to itself"):
        kernels.native.walk(*tree, leaf, *rest, 0, False, 1, False)


def stored(*tests: dict[str, Any]) -> Any:
    """A chain of tests of feature 0, each on the no side of the one before."""
    nodes: list[Any] = []
    for test in tests:
        nodes.append({"test": {"feature": 0, **test}, "no": len(nodes) + 1, "yes": 0})
    nodes.append({"label": 0})
    for node in reversed(nodes[: len(tests)]):
        node["yes"] = len(nodes)
        nodes.append({"label": 1})
    return {**Tree.constant(SPACE, 0).to_dict(), "labels": {"type": "int", "values": [0, 1]}, "nodes": nodes}


THREE, SEVEN = {"at most": (3.0).hex()}, {"at most": (7.0).hex()}


@pytest.mark.parametrize(
    "tests",
    [
        [{**THREE, "missing": True}, SEVEN],
        [{**THREE, "missing": False}, {**SEVEN, "missing": True}],
        [{**THREE, "missing": False}, {"at most": "inf", "missing": False}],
        [{"at most": "inf", "missing": False}],
    ],
)
def test_a_stored_tree_says_where_missing_numbers_go(tests: list[Any]) -> None:
    data = stored(*tests)
    tree = Tree.from_dict(data)
    assert tree.to_dict() == data
    built = Tree.build(SPACE, [e if isinstance(e, tuple) else int(e) for e in tree.nodes], [0, 1])
    assert built.digest == tree.digest


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ([{**THREE, "missing": 1}], "node 0 must be a label below 2 or a test of a feature below 2"),
        ([{**THREE, "missing": None}], "node 0 must be a label below 2 or a test of a feature below 2"),
        ([{"at most": "inf"}], "node 0 must be a label below 2 or a test of a feature below 2"),
        ([{"at most": "inf", "missing": True}], "node 0 must be a label below 2 or a test of a feature below 2"),
        ([{**THREE, "missing": False}, SEVEN], "node 1 tests feature 0 again on the same path"),
        ([{**THREE, "missing": True}, {**SEVEN, "missing": True}], "node 1 tests feature 0 again on the same path"),
        (
            [{"at most": "inf", "missing": False}, {**SEVEN, "missing": True}],
            "node 1 tests feature 0 again on the same path",
        ),
    ],
)
def test_stored_trees_that_are_refused(tests: list[Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        Tree.from_dict(stored(*tests))
    assert message in str(caught.value)
