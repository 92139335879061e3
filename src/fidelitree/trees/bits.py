"""Sets of rows as bits, 64 rows to a word.

A tree of bits is evaluated, and label counts are taken, with a few word operations per node instead of one
step per row; that is what makes the paper's sample sizes affordable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
BLOCK_ROWS = 1 << 16


Set_co = TypeVar("Set_co", covariant=True)


class Columns(Protocol[Set_co]):
    """Bits of a batch: ``columns[i]`` is the set of rows with x_i = 1."""

    def __getitem__(self, i: int, /) -> Set_co: ...


def pack(flags: NDArray[np.uint8] | NDArray[np.bool_]) -> Words:
    """The set of rows whose flag is not zero; bits beyond the last row are zero."""
    octets = np.packbits(flags, bitorder="little")
    missing = -octets.size % 8
    if missing:
        octets = np.concatenate([octets, np.zeros(missing, np.uint8)])
    return octets.view(np.uint64)


def unpack(words: Words, rows: int) -> NDArray[np.uint8]:
    """One 0/1 byte per row: the inverse of `pack`."""
    return np.unpackbits(words.view(np.uint8), count=rows, bitorder="little")


def pack_columns(rows: NDArray[np.uint8], used: Sequence[int]) -> dict[int, Words]:
    """The rows with x_i = 1 for every feature used; rows that lie side by side in memory are turned first."""
    if rows.strides[0] == 1 or len(used) < 4:
        return {i: pack(rows[:, i]) for i in used}
    parts = [np.ascontiguousarray(rows[start : start + BLOCK_ROWS].T) for start in range(0, len(rows), BLOCK_ROWS)]
    return {i: np.concatenate([pack(part[i]) for part in parts]) for i in used}


def everyone(rows: int) -> Words:
    """The set of all rows."""
    words = np.full(-(-rows // 64), ~np.uint64(0))
    if rows % 64:
        words[-1] = (1 << rows % 64) - 1
    return words


def count(words: Words) -> int:
    """How many rows are in the set."""
    return int(np.bitwise_count(words).sum(dtype=np.int64))
