"""A table of the user's own: cells are what their columns hold, or are refused; labels are compared by their kind."""

from __future__ import annotations

from typing import Any

import pytest

import fidelitree as ft
from fidelitree.errors import DoubtWarning
from fidelitree.runs.agree.own_rows import agreement
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.answers import DEFER

BITS = ft.ProductSpace.bernoulli(2)
MIXED = ft.ProductSpace([ft.Numeric("age", 0, 10), ft.Categorical("size", {1: 0.5, 2: 0.5}), ft.Boolean("own", 0.5)])


def bits(*labels: Any) -> ft.Tree:
    """The first label where x0 = 0, the second elsewhere."""
    return ft.Tree.build(BITS, [(0, 1, 2), 0, 1], list(labels))


def told(tree: ft.Tree, *lines: str, tolerance: float | None = None) -> str:
    return agreement(tree, "\n".join(lines), "label", tolerance)[0]


@pytest.mark.parametrize(
    ("labels", "cells"),
    [
        ((0, 1), ("0.0", "1.0")),
        ((0, 1), ("0", "1e0")),
        ((False, True), ("false", "True")),
        ((False, True), ("0", "1")),
        (("0", "1"), ("0", "1")),
        ((0.5, 1.0), ("0.50", "1")),
    ],
)
def test_labels_are_compared_by_their_kind(labels: tuple[Any, Any], cells: tuple[str, str]) -> None:
    found = told(bits(*labels), "x0,label", f"0,{cells[0]}", f"1,{cells[1]}", f"1,{cells[0]}")
    assert found == "They agree on 2 of 3 rows, 66.7%."


def test_texts_that_look_like_numbers_stay_texts() -> None:
    assert told(bits("0", "1"), "x0,label", "0,0.0", "1,1") == "They agree on 1 of 2 rows, 50%."


@pytest.mark.parametrize(
    ("labels", "row", "message"),
    [
        ((0, 1), ",1", "column 'x0' must hold 0 and 1 only; row 2 has ''"),
        ((0, 1), "7,1", "column 'x0' must hold 0 and 1 only; row 2 has '7'"),
        ((0, 1), "1", "row 2 must have a cell in every column; it has none in 'label'"),
        ((0, 1), "1,1,1", "row 2 must have 2 cells, as the heads have; it has more"),
        ((0, 1), "1,", "column 'label' must hold whole numbers, as the tree answers; row 2 has ''"),
        ((0, 1), "1,yes", "column 'label' must hold whole numbers, as the tree answers; row 2 has 'yes'"),
        ((0, 1), "1,0.5", "column 'label' must hold whole numbers, as the tree answers; row 2 has '0.5'"),
        ((0, 1), "1,inf", "column 'label' must hold whole numbers, as the tree answers; row 2 has 'inf'"),
        ((False, True), "1,2", "column 'label' must hold true and false only, as the tree answers; row 2 has '2'"),
        (("0", "1"), "1,", "column 'label' must hold labels, in no row a blank; row 2 has ''"),
        ((0.5, 1.0), "1,nan", "column 'label' must hold numbers, as the tree answers; row 2 has 'nan'"),
    ],
)
def test_bad_cells_and_short_rows_are_refused_by_name(labels: tuple[Any, Any], row: str, message: str) -> None:
    with pytest.raises(ft.FormatError) as refusal:
        told(bits(*labels), "x0,label", f"0,{labels[0]}", row)
    assert str(refusal.value) == message


def test_other_kinds_of_features() -> None:
    tree = ft.Tree.build(MIXED, [(AtMost(0, 5.0), 1, 2), 0, (IsIn(1, frozenset({1})), 3, 4), 0, 1], [0, 1])
    with pytest.warns(DoubtWarning, match="feature 'size' has a category in 1 of 4 rows that the tree has never seen"):
        assert told(tree, "age,size,label", "7,2,0", "3,2.0,1", "3,1,0", "3,9,0") == "They agree on 4 of 4 rows, 100%."
    for row, message in (
        ("x,2,1", "column 'age' must hold numbers, in no row a blank; row 1 has 'x'"),
        (",2,1", "column 'age' must hold numbers, in no row a blank; row 1 has ''"),
        ("3,,1", "column 'size' must hold categories, in no row a blank; row 1 has ''"),
    ):
        with pytest.raises(ft.FormatError) as refusal:
            told(tree, "age,size,label", row)
        assert str(refusal.value) == message
    with pytest.raises(ft.FormatError, match="column 'own' must hold 0 and 1 only; row 1 has ''"):
        told(tree, "age,size,own,label", "3,2,,1")


def test_rows_that_the_tree_defers_are_left_out() -> None:
    tree = ft.Tree.build(BITS, [(0, 1, 2), 0, 1], ["no", DEFER])
    found = agreement(tree, "x0,label\n0,no\n0,yes\n1,no\n1,yes\n", "label")
    assert found[0] == "They agree on 1 of 2 rows, 50%."
    assert found[1].endswith(" The tree defers 2 more, which are left out.")
    assert told(tree, "x0,label", "1,no") == "The tree defers all 1 rows."


def test_numbers_agree_within_the_tolerance() -> None:
    lines = ("x0,label", "0,0.75", "0,0.8", "1,2.25")
    assert told(bits(0.5, 2.0), *lines, tolerance=0.25) == "They agree within 0.25 on 2 of 3 rows, 66.7%."
    assert told(bits(0.5, 2.0), *lines) == "They agree on 0 of 3 rows, 0%."


def test_a_column_that_is_there_twice_is_refused() -> None:
    with pytest.raises(ft.FormatError, match="each column once; it has 'x0' more than once"):
        told(bits(0, 1), "x0,x0,label", "0,1,1")
