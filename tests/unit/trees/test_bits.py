"""Sets of rows as words do what Python's sets of rows do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.trees.bits import count, everyone, pack, unpack

flags = st.lists(st.booleans(), max_size=300)


@given(flags)
def test_unpack_gives_back_what_was_packed(rows: list[bool]) -> None:
    words = pack(np.array(rows, bool))
    assert words.dtype == np.uint64
    assert len(words) == -(-len(rows) // 64)
    assert unpack(words, len(rows)).tolist() == [int(row) for row in rows]


@given(flags)
def test_count_is_the_number_of_flags(rows: list[bool]) -> None:
    assert count(pack(np.array(rows, bool))) == sum(rows)


@given(flags, st.integers(0, 2**32))
def test_set_operations_are_those_of_sets(rows: list[bool], seed: int) -> None:
    one = np.array(rows, bool)
    two = np.random.default_rng(seed).random(len(rows)) < 0.5
    assert np.array_equal(pack(one) & pack(two), pack(one & two))
    assert np.array_equal(pack(one) ^ pack(two), pack(one ^ two))
    assert np.array_equal(everyone(len(rows)) & ~pack(one), pack(~one))


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 128, 1000])
def test_everyone_is_in_and_nobody_else(rows: int) -> None:
    assert count(everyone(rows)) == rows
    assert np.array_equal(everyone(rows), pack(np.ones(rows, bool)))


def test_any_flag_that_is_not_zero_counts() -> None:
    assert unpack(pack(np.array([0, 1, 2, 255], np.uint8)), 4).tolist() == [0, 1, 1, 1]


def test_columns_that_do_not_lie_side_by_side_are_packed_alike() -> None:
    table = np.random.default_rng(0).integers(0, 2, (100, 3), np.uint8)
    for i in range(3):
        assert np.array_equal(pack(table[:, i]), pack(table[:, i].copy()))
