"""A tree of inputs as one over bins: the inverse of the way from bins to inputs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.search.labelled import Binning
from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test
from fidelitree.trees.nested import build
from labelled import random_nested
from mixed import GAPS, MIXED, mixed_spaces, mixed_tree, some_inputs

LABELS = ["a", "b", "c"]
RANKS = [2, 0, 1]  # of label codes 0, 1, 2: the first to come is "c"
CODES = {"c": 0, "a": 1, "b": 2}


def labelled(space: ft.ProductSpace, rows: int, seed: int) -> tuple[Any, Any]:
    codes = np.random.default_rng(seed).integers(0, 3, rows)
    codes[:3] = 0, 1, 2
    return some_inputs(space, rows, seed), codes


def bins_agree(tree: ft.Tree, binning: Binning, inner: Any, codes: Any) -> bool:
    """Whether a tree, its form over bins, and the tree made of that say the same of all known rows."""
    nested = binning.nested(tree, CODES)
    said = tree.predict_inner(inner)
    by_bins = np.array(LABELS)[np.array(RANKS)[binning.coded(codes).predict(nested)]]
    again = binning.tree(nested, RANKS, LABELS).predict_inner(inner)
    return bool(np.array_equal(by_bins, said) and np.array_equal(again, said))


@settings(max_examples=150)
@given(mixed_spaces(), st.integers(0, 1000))
def test_any_tree_of_bins_comes_back(space: ft.ProductSpace, seed: int) -> None:
    inner, codes = labelled(space, 60, seed)
    binning = Binning.of(space, inner)
    coded = binning.coded(codes)
    if min(coded.sizes) < 2:
        return  # nothing to split
    tree = binning.tree(random_nested(coded, seed, 4), RANKS, LABELS)
    assert bins_agree(tree, binning, inner, codes)


@settings(max_examples=100)
@given(mixed_spaces(), st.integers(0, 1000))
def test_a_tree_fitted_to_some_rows_says_the_same_of_more(space: ft.ProductSpace, seed: int) -> None:
    """So an archive takes the trees of its last fit into account."""
    inner, codes = labelled(space, 80, seed)
    first = Binning.of(space, inner[:20])
    coded = first.coded(codes[:20])
    if min(coded.sizes) < 2:
        return
    tree = first.tree(random_nested(coded, seed, 4), RANKS, LABELS)
    more = Binning.of(space, inner)
    assert bins_agree(tree, more, inner, codes)


@pytest.mark.parametrize("space", [MIXED, GAPS, ft.ProductSpace.bernoulli(5)], ids=["mixed", "gaps", "bits"])
@pytest.mark.parametrize("seed", range(12))
def test_a_strangers_tree_says_the_same_of_known_rows(space: ft.ProductSpace, seed: int) -> None:
    inner, codes = labelled(space, 200, seed)
    tree = mixed_tree(space, np.random.default_rng(seed), LABELS)
    assert bins_agree(tree, Binning.of(space, inner), inner, codes)


NUMBER = ft.ProductSpace([ft.Numeric("x", 0, 10)])
GAP = ft.ProductSpace([ft.Numeric("x", 0, 10, missing=0.3)])
ROWS = np.array([[2.0], [4.0], [6.0], [8.0]])
WITH_GAPS = np.array([[2.0], [np.nan], [6.0], [8.0]])


@pytest.mark.parametrize(
    ("cut", "nested"),
    [
        (1.0, 0),  # below all known numbers: none passes
        (2.0, (AtMost(0, 0), 0, 1)),
        (3.9, (AtMost(0, 0), 0, 1)),
        (4.0, (AtMost(0, 1), 0, 1)),
        (7.0, (AtMost(0, 2), 0, 1)),
        (8.0, 1),  # all pass
        (9.0, 1),
    ],
)
def test_a_cut_goes_where_known_numbers_are_parted_in_the_same_way(cut: float, nested: Any) -> None:
    tree = build(NUMBER, (AtMost(0, cut), 0, 1), [0, 1])
    assert Binning.of(NUMBER, ROWS).nested(tree, {0: 0, 1: 1}) == nested


@pytest.mark.parametrize(
    ("cut", "missing", "nested"),
    [
        (1.0, False, 0),
        (1.0, True, (AtMost(1, 0), 0, 1)),  # the missing one alone
        (3.0, False, (AtMost(0, 0), 0, 1)),
        (3.0, True, (AtMost(1, 1), 0, 1)),
        (9.0, False, (AtMost(0, 2), 0, 1)),  # all but the missing one
        (9.0, True, 1),
        (math.inf, False, (AtMost(0, 2), 0, 1)),
    ],
)
def test_missing_numbers_are_on_either_side(cut: float, missing: bool, nested: Any) -> None:
    tree = build(GAP, (AtMost(0, cut, missing), 0, 1), [0, 1])
    binning = Binning.of(GAP, WITH_GAPS)
    found = binning.nested(tree, {0: 0, 1: 1})
    assert found == nested
    assert binning.coded(np.array([0, 1, 0, 1])).predict(found).tolist() == tree.predict_inner(WITH_GAPS).tolist()


@pytest.mark.parametrize("rows", [[5.0, math.nan, 5.0], [math.nan, math.nan], [5.0, 5.0]])
def test_missing_or_not_is_told_apart_where_known_numbers_are_one(rows: list[float]) -> None:
    inner = np.array(rows)[:, None]
    binning = Binning.of(GAP, inner)
    tree = build(GAP, (AtMost(0, math.inf, False), 0, 1), [0, 1])
    found = binning.coded(np.zeros(len(rows), np.intp)).predict(binning.nested(tree, {0: 0, 1: 1}))
    assert found.tolist() == tree.predict_inner(inner).tolist()


@pytest.mark.parametrize(("test", "over_bins"), [(IsOne(0), AtMost(0, 0)), (IsIn(1, frozenset({0, 2})), None)])
def test_bits_and_categories(test: Test, over_bins: Test | None) -> None:
    inner = some_inputs(MIXED, 50)
    binning = Binning.of(MIXED, inner)
    tree = build(MIXED, (test, 0, 1), ["no", "yes"])
    nested = binning.nested(tree, {"no": 7, "yes": 3})
    assert nested == ((test, 7, 3) if over_bins is None else (over_bins, 3, 7))


def test_codes_are_those_of_the_labels_whatever_their_order() -> None:
    space = ft.ProductSpace.bernoulli(1)
    binning = Binning.of(space, np.array([[0], [1]], np.uint8))
    tree = build(space, (IsOne(0), 0, 1), ["x", "y"])
    nested = binning.nested(tree, {"y": 0, "x": 1})
    assert nested == (AtMost(0, 0), 0, 1)
    assert binning.tree(nested, [1, 0], ["x", "y"]) == tree
