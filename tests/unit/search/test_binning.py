"""Inputs as rows of bins and back: a tree of bins and the tree made of it say the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.search.labelled import Binning
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from labelled import random_nested
from mixed import MIXED, mixed_spaces, some_inputs


def splits_something(coded: Any) -> bool:
    """Every feature has two bins at least."""
    return min(coded.sizes) > 1


@settings(max_examples=80)
@given(mixed_spaces(), st.integers(0, 1000))
def test_a_tree_of_bins_and_its_tree_of_tests_agree(space: ft.ProductSpace, seed: int) -> None:
    inner = some_inputs(space, 60, seed)
    codes = np.random.default_rng(seed).integers(0, 3, 60)
    codes[:3] = 0, 1, 2
    binning = Binning.of(space, inner)
    coded = binning.coded(codes)
    if not splits_something(coded):
        return
    sketch, ranks, labels = random_nested(coded, seed, 4), [2, 0, 1], ["a", "b", "c"]
    tree = binning.tree(sketch, ranks, labels)
    wanted = np.array(labels)[np.array(ranks)[coded.predict(sketch)]]
    assert np.array_equal(tree.predict_inner(inner), wanted)
    assert np.array_equal(tree.predict(space.batch(inner)), wanted)
    some = codes > 0
    assert np.array_equal(binning.coded(codes[some], some).predict(sketch), coded.predict(sketch)[some])


@settings(max_examples=80)
@given(mixed_spaces(finite=True), st.integers(0, 1000))
def test_bins_tell_all_known_inputs_apart(space: ft.ProductSpace, seed: int) -> None:
    inner = some_inputs(space, 60, seed)
    coded = Binning.of(space, inner).coded(np.zeros(60, np.intp))
    _, by_value = np.unique(np.nan_to_num(inner, nan=1e300), axis=0, return_inverse=True)
    _, by_bin = np.unique(coded.bins.T, axis=0, return_inverse=True)
    assert np.array_equal(by_value, by_bin)
    assert all(line.max(initial=0) < size for line, size in zip(coded.bins, coded.sizes, strict=True))


def test_each_kind_of_feature_has_its_bins_and_its_test() -> None:
    inner = some_inputs(MIXED, 200)
    binning = Binning.of(MIXED, inner)
    weights = np.arange(200.0)
    coded = binning.coded(np.zeros(200, np.intp), weights=weights)
    assert list(coded.ordered) == [True, False, True, True, True]
    assert list(coded.sizes[:2]) == [2, 3]
    assert coded.weights is weights
    assert binning.coded(np.zeros(200, np.intp)).total == 200
    tree = binning.tree((AtMost(0, 0), (IsIn(1, frozenset({2})), (AtMost(2, 5), 0, 1), 2), 1), [0, 1, 2], [10, 20, 30])
    ages = np.unique(inner[:, 2])
    bit, category, number = [tree.test(node) for node in range(7) if tree.feature[node] >= 0]
    assert (bit, category) == (IsOne(0), IsIn(1, frozenset({2})))
    assert isinstance(number, AtMost)
    assert number.feature == 2
    assert ages[5] <= number.cut < ages[6]


def test_missing_numbers_are_the_last_bin_of_one_line_and_the_first_of_another() -> None:
    space = ft.ProductSpace([ft.Boolean("owner"), ft.Numeric.from_values("age", [20, 30, 40, None])])
    inner = np.array([[0, 20], [0, np.nan], [1, 40], [1, 30]])
    binning = Binning.of(space, inner)
    coded = binning.coded(np.array([0, 1, 0, 1]))
    assert coded.bins.tolist() == [[0, 0, 1, 1], [0, 3, 2, 1], [1, 0, 3, 2]]
    assert list(coded.sizes) == [2, 4, 4]
    assert list(coded.ordered) == [True, True, True]
    threshold, known = AtMost(1, 25.0, False), AtMost(1, np.inf, False)
    for sketch, test, yes in [
        (AtMost(1, 0), threshold, [0]),
        (AtMost(1, 2), known, [0, 2, 3]),
        (AtMost(2, 0), known, [0, 2, 3]),
        (AtMost(2, 1), AtMost(1, 25.0, True), [0, 1]),
    ]:
        tree = binning.tree((sketch, 0, 1), [0, 1], [0, 1])
        assert tree.test(0) == test
        assert np.flatnonzero(test.answers(inner[:, 1])).tolist() == yes
        assert np.array_equal(tree.predict_inner(inner), coded.predict((sketch, 0, 1)))


def test_rows_of_which_all_numbers_are_missing_have_bins_too() -> None:
    space = ft.ProductSpace([ft.Numeric("age", 0, 1, missing=0.5)])
    coded = Binning.of(space, np.full((3, 1), np.nan)).coded(np.zeros(3, np.intp))
    assert coded.bins.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert list(coded.sizes) == [2, 2]


def test_a_bit_among_other_features_is_not_turned_round() -> None:
    space = ft.ProductSpace([ft.Numeric("x", 0, 1), ft.Boolean("b", 0.5)])
    inner = np.array([[0.2, 0.0], [0.4, 1.0]])
    binning = Binning.of(space, inner)
    coded = binning.coded(np.array([0, 1]))
    sketch = (AtMost(1, 0), 1, 0)  # "at most bin 0" is "not 1", and there the label is 0
    assert coded.errors(sketch) == 0
    tree = binning.tree(sketch, [0, 1], ["zero", "one"])
    assert tree.predict({"x": np.array([0.9, 0.1]), "b": np.array([0, 1])}).tolist() == ["zero", "one"]


def test_bits_alone_are_binned_too() -> None:
    space = ft.ProductSpace.bernoulli(2)
    inner = np.array([[0, 0], [0, 1], [1, 1]], np.uint8)
    binning = Binning.of(space, inner)
    assert binning.coded(np.zeros(3, np.intp)).bins.tolist() == [[0, 0, 1], [0, 1, 1]]
    assert binning.tree((AtMost(1, 0), 1, 0), [0, 1], [0, 1]).predict(inner).tolist() == [0, 1, 1]


def test_a_constant_is_a_tree_too() -> None:
    binning = Binning.of(MIXED, some_inputs(MIXED, 3))
    tree = binning.tree(1, [1, 0], [False, True])
    assert (tree.size, tree.predict_inner(some_inputs(MIXED, 2)).tolist()) == (1, [False, False])


def test_cuts_between_huge_numbers_are_finite() -> None:
    space = ft.ProductSpace([ft.Numeric("a", -1e300, 7e300)])
    binning = Binning.of(space, np.array([[-1e300], [1.0], [7e300]]))
    tree = binning.tree((AtMost(0, 0), (AtMost(0, 1), 0, 1), 1), [0, 1], [0, 1])
    assert [tree.test(node) for node in (0, 1)] == [AtMost(0, -5e299), AtMost(0, 3.5e300)]


def test_a_category_may_have_more_values_than_a_number_has_bins() -> None:
    space = ft.ProductSpace([ft.Categorical("id", list(range(70_000))), ft.Numeric("x", 0, 1)])
    inner = np.array([[3.0, 0.1], [65_539.0, 0.2], [69_999.0, 0.3]])
    coded = Binning.of(space, inner).coded(np.arange(3))
    assert coded.bins[0].tolist() == [3, 65_539, 69_999], "not the same values modulo 2^16"
