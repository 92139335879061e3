"""Rows as bins: cuts and bins agree, trees are followed as a slow twin follows them, wrong shapes are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fidelitree.errors import ParameterError
from fidelitree.search.local.coded import Coded, bins_of, cuts_of
from labelled import coded_rows, random_nested

values = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 2.5]), min_size=1)


@given(values)
def test_each_distinct_value_has_its_own_bin(column: list[float]) -> None:
    cuts = cuts_of(column)
    assert len(cuts) == len(np.unique(column)) - 1
    assert np.array_equal(bins_of(column, cuts), np.unique(column, return_inverse=True)[1])


@given(values)
def test_a_threshold_on_bins_is_the_cut_on_values(column: list[float]) -> None:
    cuts = cuts_of(column)
    for threshold in range(len(cuts)):
        assert np.array_equal(bins_of(column, cuts) <= threshold, np.array(column) <= cuts[threshold])


def test_a_cut_is_midway_and_a_value_on_it_is_below() -> None:
    assert cuts_of([3.0, 1.0, 1.0, 2.0]).tolist() == [1.5, 2.5]
    assert bins_of([1.5, 1.6], cuts_of([1.0, 2.0])).tolist() == [0, 1]


def test_neighbouring_floats_are_separated() -> None:
    column = [1.0, np.nextafter(1.0, 2)]
    assert bins_of(column, cuts_of(column)).tolist() == [0, 1]


def test_too_many_values_share_cuts_evenly() -> None:
    assert cuts_of(np.arange(100), most=3).tolist() == [24.5, 49.5, 74.5]


def test_too_many_cuts_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"fewer than 65536 cuts; got 65536 - use cuts_of to thin them"):
        bins_of([0.0], np.arange(65536.0))


@given(coded_rows(), st.integers(0, 1000))
def test_a_tree_is_followed_as_it_is_written(coded: Coded, seed: int) -> None:
    tree = random_nested(coded, seed, 4)
    rows = [
        reference.Binned(tuple(line), code, weight)
        for line, code, weight in zip(coded.bins.T.tolist(), coded.codes.tolist(), coded.weights.tolist(), strict=True)
    ]
    assert coded.predict(tree).tolist() == [reference.binned_code(tree, row) for row in rows]
    assert coded.errors(tree) == sum(row.weight for row in rows if reference.binned_code(tree, row) != row.code)


BINS = np.zeros((2, 3), np.uint16)


@pytest.mark.parametrize(
    ("ordered", "rows", "message"),
    [
        ([True], 3, "one entry for each of the 2 features; got 1 and 2"),
        ([True, True], 4, "one entry for each of the 3 rows; got 4 and 4"),
    ],
)
def test_shapes_must_agree(ordered: list[bool], rows: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Coded(BINS, ordered, [1, 1], np.zeros(rows, np.intp), np.ones(rows))


def test_no_rows_are_refused() -> None:
    with pytest.raises(ParameterError, match="must not be empty; got 0 rows - ask for labels first"):
        Coded(BINS[:, :0], [True, True], [1, 1], np.zeros(0, np.intp), np.ones(0))
