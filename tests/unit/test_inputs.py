"""Inputs are brought to one form or refused, naming row and feature."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.errors import ParameterError
from fidelitree.inputs import as_bits

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
