"""Rows as bins: cuts and bins agree, trees are followed as a slow twin follows them, wrong shapes are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from fidelitree.errors import ParameterError
from fidelitree.search.local.coded import Coded, binned, binned_columns
from fidelitree.spaces.features import midway
from fidelitree.trees import kernels
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


needs_kernels = pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled here")


@needs_kernels
@pytest.mark.parametrize("layout", ["rows", "columns", "every other"])
def test_columns_have_the_same_bins_both_ways(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    odd = [0.0, -0.0, np.inf, -np.inf, 5e-324, -5e-324, 1.0, 1.0 + 2**-52, -1e300]
    inner = np.column_stack(
        [random.normal(size=99), random.choice(odd, 99), np.full(99, 2.5), random.integers(9, size=99)]
    )
    inner = {"rows": inner, "columns": np.asfortranarray(inner), "every other": np.repeat(inner, 2, axis=0)[::2]}[
        layout
    ]
    found = []
    for compiled in (True, False):
        monkeypatch.setattr(kernels, "compiled", compiled)
        bins = np.zeros((4, 99), np.uint16)
        found.append((bins, binned_columns(inner, [0, 1, 3], bins)))
    (bins, cuts), (others, twins) = found
    assert np.array_equal(bins, others)
    assert bins[3].any()
    assert not bins[2].any()
    assert [[side.tobytes() for side in both] for both in cuts] == [[side.tobytes() for side in both] for both in twins]


@needs_kernels
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inner": np.zeros((9, 3), np.int64)}, "array of doubles"),
        ({"inner": np.zeros(9)}, "array of doubles"),
        ({"inner": np.zeros((0, 3))}, "1 to 65536 rows"),
        ({"inner": np.zeros((8, 3))}, "one entry a row"),
        ({"values": np.zeros((1, 9))}, "one line for each"),
        ({"counts": np.zeros(3, np.int32)}, "one line for each"),
        ({"features": np.array([0, 3], np.int32)}, "columns of inner"),
        ({"features": np.array([-1, 0], np.int32)}, "columns of inner"),
        ({"bins": np.zeros((1, 9), np.uint16)}, "lines of bins"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"inner": np.zeros((9, 3)), "features": np.array([0, 2], np.int32)}
    given |= {"bins": np.zeros((3, 9), np.uint16), "values": np.zeros((2, 9)), "counts": np.zeros(2, np.int32)}
    with pytest.raises(ValueError, match=words):
        kernels.native.bin_columns(*(given | change).values())


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
