"""Bytes of inputs and labels: there and back, and nothing else is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.journal.records import digest, input_bytes, inputs_from, label_bytes, labels_from


@pytest.mark.parametrize("n", [1, 7, 8, 9, 30])
def test_bits_there_and_back(n: int) -> None:
    inner = np.asfortranarray(np.random.default_rng(n).integers(0, 2, (11, n), np.uint8))
    stored = input_bytes(inner)
    assert len(stored) == 11 * -(-n // 8)
    assert np.array_equal(inputs_from(stored, 11, n, bits=True), inner)


def test_floats_there_and_back() -> None:
    inner = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)))
    assert np.array_equal(inputs_from(input_bytes(inner), 5, 3, bits=False), inner)
    assert input_bytes(np.array([[-0.0]])) == input_bytes(np.array([[0.0]]))


def test_the_digest_tells_inputs_apart() -> None:
    one, two = (input_bytes(np.array([[1, 0], [0, bit]], np.uint8)) for bit in (0, 1))
    assert digest(one) != digest(two)


@pytest.mark.parametrize(
    "labels",
    [[True, False], [1, -(2**63), 2**63 - 1], [0.1, -1e300], ["yes", "", "ä\n\ud7ff"], ["a"]],
)
def test_labels_there_and_back(labels: list[Any]) -> None:
    kind, stored = label_bytes(np.array(labels))
    found = labels_from(kind, stored, len(labels))
    assert found.tolist() == labels
    assert type(found.tolist()[0]) is type(labels[0])


def test_labels_take_no_more_room_than_they_must() -> None:
    assert label_bytes(np.array([True, False])) == ("bool", b"\x01\x00")
    assert label_bytes(np.array(["a", "b"])) == ("str", b'["a","b"]')
    assert labels_from("bool", b"", 0).tolist() == []


@pytest.mark.parametrize(
    ("kind", "stored", "rows"),
    [
        ("bool", b"\x02", 1),
        ("bool", b"\x01", 2),
        ("bool", b"\x00\x02", 2),
        ("int", b"1234567", 1),
        ("int", b'["a"]', 1),
        ("str", b'["a"]', 2),
        ("str", b'["a", 1]', 2),
        ("str", b"[" * 100_000, 1),
        ("str", b'["\\ud800"]', 1),
        ("str", b"{", 1),
        ("complex", b"12345678", 1),
        ("float", b"1234567", 1),
        ("float", np.array([np.nan]).tobytes(), 1),
    ],
)
def test_anything_else_is_refused(kind: str, stored: bytes, rows: int) -> None:
    with pytest.raises(
        ft.FormatError, match=rf"^{rows} labels of kind '{kind}' cannot be read from {len(stored)} bytes"
    ):
        labels_from(kind, stored, rows)


def test_inputs_of_another_size_are_refused() -> None:
    with pytest.raises(ft.FormatError, match="2 inputs of 9 features take 4 bytes; got 3"):
        inputs_from(b"123", 2, 9, bits=True)
