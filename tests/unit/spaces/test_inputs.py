"""Inputs are brought to one form or refused, naming row and feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fidelitree.errors import ParameterError
from fidelitree.spaces.inputs import as_bits, as_inner, row_keys

NAMES = ("owner", "urban")
ROWS = [[0, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize("kind", [np.uint8, bool, np.int64, np.int8, float, np.float32, object])
def test_any_array_of_zeros_and_ones_is_accepted(kind: type) -> None:
    bits = as_bits(np.array(ROWS, kind), NAMES)
    assert bits.dtype == np.uint8
    assert bits.tolist() == ROWS


def test_lists_are_accepted() -> None:
    assert as_bits(ROWS, NAMES).tolist() == ROWS


def test_bytes_and_truth_values_are_not_copied() -> None:
    for kind in (np.uint8, bool):
        array = np.array(ROWS, kind)
        assert np.shares_memory(as_bits(array, NAMES), array)


def test_no_rows_are_rows() -> None:
    assert as_bits(np.empty((0, 2), np.uint8), NAMES).shape == (0, 2)


@pytest.mark.parametrize(
    ("inputs", "shape"), [([0, 1], "(2,)"), ([[0, 1, 0]], "(1, 3)"), (1, "()"), (np.zeros((1, 2, 1)), "(1, 2, 1)")]
)
def test_wrong_shapes_are_refused(inputs: object, shape: str) -> None:
    with pytest.raises(ParameterError) as caught:
        as_bits(inputs, NAMES)
    assert str(caught.value) == (
        f"inputs must be a 2-D array with one column for each of the 2 features; got shape {shape}"
    )


@pytest.mark.parametrize(("kind", "value"), [(np.uint8, "2"), (np.int64, "2"), (float, "2.0")])
def test_other_values_are_refused_with_their_place(kind: type, value: str) -> None:
    with pytest.raises(ParameterError) as caught:
        as_bits(np.array([[0, 1], [1, 2]], kind), NAMES)
    assert str(caught.value) == f"inputs must hold 0 and 1 only; got {value} for feature 'urban' in row 1"


@pytest.mark.parametrize("value", [float("nan"), 0.5, -1, None, "1"])
def test_what_is_no_bit_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match=r"inputs must hold 0 and 1 only; got .* for feature 'owner' in row 0"):
        as_bits(np.array([[value, 0]], dtype=object), NAMES)


MIX = ("owner", "job", "age")
KINDS = ("boolean", "categorical", "numeric")
VALUES = (None, ("clerk", "nurse", None), None)
COLUMNS = {"age": [30.0, 40.5], "job": ["nurse", "chef"], "owner": [True, False], "name": ["Ada", "Bob"]}
INNER = [[1, 1, 30], [0, -1, 40.5]]


@pytest.mark.parametrize(
    "inputs",
    [
        COLUMNS,
        {name: np.array(column) for name, column in COLUMNS.items()},
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        np.array([[1, "nurse", 30], [0, "chef", 40.5]], object),
        [[True, "nurse", 30], [0, "chef", 40.5]],
    ],
    ids=["lists", "arrays", "pandas", "polars", "arrow", "2-D array", "rows"],
)
def test_tables_are_read_by_name_and_arrays_by_position(inputs: object) -> None:
    inner = as_inner(inputs, MIX, KINDS, VALUES)
    assert inner.dtype == np.float64
    assert inner.tolist() == INNER


def test_tables_of_bits_give_bytes() -> None:
    for table in (pd.DataFrame({"urban": [1, 0], "owner": [0, 1]}), {"urban": [True, False], "owner": [False, True]}):
        bits = as_inner(table, NAMES, ("boolean",) * 2, (None, None))
        assert bits.dtype == np.uint8
        assert bits.tolist() == [[0, 1], [1, 0]]


def test_missing_values_are_a_category_where_there_is_one() -> None:
    for missing in (None, float("nan")):
        rows = np.array([[1, missing, 30]], object)
        assert as_inner(rows, MIX, KINDS, VALUES).tolist() == [[1, 2, 30]]
        assert as_inner(rows, MIX, KINDS, (None, ("clerk",), None)).tolist() == [[1, -1, 30]]
    assert as_inner(pd.DataFrame({**COLUMNS, "job": [pd.NA, "clerk"]}), MIX, KINDS, VALUES)[:, 1].tolist() == [2, 0]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"owner": [1], "job": ["clerk"]}, "inputs must have a column for every feature; 'age' is missing"),
        ({"owner": [1], "job": ["clerk"], "age": [1, 2]}, "inputs must have columns of one length"),
        (np.zeros((2, 2)), "inputs must be a table, a mapping of name to column, or a 2-D array with one column for"),
        (np.zeros(3), "inputs must be a table, a mapping of name to column, or a 2-D array with one column for each"),
        ({**COLUMNS, "owner": [1, 2]}, "inputs must hold 0 and 1 only for feature 'owner'; got 2"),
        ({**COLUMNS, "age": ["old", "new"]}, "feature 'age' must hold numbers; got a column of <U3"),
        ({**COLUMNS, "age": [np.nan, 3]}, "feature 'age' must hold numbers; 1 of 2 are missing - fill them in, or"),
        (
            {**COLUMNS, "age": [2**60, 3]},
            "integers of feature 'age' must be below 2^53 in size; got 1152921504606846976",
        ),
        (
            {**COLUMNS, "job": np.array([["a"], "b"], object)},
            "feature 'job' must hold categories; got a column of object",
        ),
    ],
)
def test_inputs_that_are_refused(inputs: object, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        as_inner(inputs, MIX, KINDS, VALUES)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("features", [1, 7, 8, 9, 64, 70])
def test_inputs_of_bits_have_the_same_key_where_they_are_equal(features: int) -> None:
    rows = np.random.default_rng(features).integers(0, 2, (40, features), np.uint8)
    keys = row_keys(np.asfortranarray(rows))
    assert len(keys) == 40
    for one in range(40):
        assert [key == keys[one] for key in keys] == (rows == rows[one]).all(axis=1).tolist()


def test_numbers_that_are_equal_have_one_key() -> None:
    rows = np.array([[0.0, 1.5], [-0.0, 1.5], [0.0, 1.25], [1.5, 0.0]])
    keys = row_keys(rows)
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert row_keys(rows[:0]) == []


def test_a_missing_number_has_one_key_whatever_its_bits() -> None:
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000001], np.uint64)
    rows = np.column_stack([bits.view(np.float64), np.array([0.0, -0.0, 0.0])])
    assert len(set(row_keys(rows))) == 1
    assert len(set(row_keys(np.array([[np.nan, 0], [0, np.nan]])))) == 2
