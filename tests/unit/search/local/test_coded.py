"""Rows as bins: cuts and bins agree, trees are followed as a slow twin follows them, wrong shapes are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fidelitree.errors import ParameterError
from fidelitree.search.local.coded import Coded, binned
from fidelitree.spaces.features import midway
from labelled import coded_rows, random_nested

values = st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 2.5]), min_size=1)


@given(values)
def test_each_distinct_value_has_its_own_bin(column: list[float]) -> None:
    bins, low, high = binned(column)
    distinct, places = np.unique(column, return_inverse=True)
    assert np.array_equal(bins, places)
    assert (low.tolist(), high.tolist()) == (distinct[:-1].tolist(), distinct[1:].tolist())


@given(values)
def test_a_threshold_on_bins_is_the_cut_on_values(column: list[float]) -> None:
    bins, low, high = binned(column)
    for threshold, (below, above) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        assert np.array_equal(bins <= threshold, np.array(column) <= midway(below, above))


def test_a_cut_is_midway_and_parts_neighbouring_floats() -> None:
    assert midway(1.0, 2.0) == 1.5
    assert midway(1.0, np.nextafter(1.0, 2)) == 1.0


def test_too_many_values_share_cuts_evenly() -> None:
    bins, low, high = binned(np.arange(100), most=3)
    assert (low.tolist(), high.tolist()) == ([24, 49, 74], [25, 50, 75])
    assert np.array_equal(bins, np.repeat(np.arange(4), 25))


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
