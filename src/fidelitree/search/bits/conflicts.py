"""Which inputs agree on the relevant features: cells, found by hashing, and conflicts inside them.

Two inputs of a cell with different labels show that another feature matters. Rows are sorted into cells once, and again
only when another feature is found relevant; what is searched for conflicts is only cells with two labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.inputs import row_keys

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.bits.pool import Bits, Pool

OF_A_CELL = 2  # pairs of inputs, if several are wanted: more of them show the same feature
PAIRS = 1 << 22  # of inputs that are compared at once


class RelevantCells:
    """The rows of a pool by what they say about the relevant features."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self._relevant = pool, list[int]()
        self._cells: dict[bytes, tuple[list[int], int]] = {}  # rows, and the label of the first
        self._mixed: set[bytes] = set()
        self._known = 0

    def known(self, bits: Bits, relevant: list[int]) -> bool:
        """Whether one of these inputs agrees with a known one on all relevant features."""
        self._update(relevant)
        return any(key in self._cells for key in _keys(bits, relevant))

    def conflicts(self, relevant: list[int], watch: Watch, most: int = 1) -> list[tuple[int, int]]:
        """Return pairs of inputs with different labels that agree on every relevant feature, the closest first.

        If several are wanted, they have no input in common, and few come from the same cell.
        """
        self._update(relevant)
        bits, codes = self._pool.bits, self._pool.codes
        cells = [np.array(self._cells[cell][0]) for cell in sorted(self._mixed)]
        found = []
        for cell in cells:
            rows = cell
            for _ in range(min(most, OF_A_CELL)):
                found.append(closest := _closest(bits, codes, rows, watch))
                rows = rows[~np.isin(rows, closest[1:])]
        found.sort(key=lambda one: one[0])
        return [one[1:] for one in found[:most] if one[0] < np.inf]

    def _update(self, relevant: list[int]) -> None:
        """Sort in what the pool has got since; everything anew where other features are relevant."""
        if relevant != self._relevant:
            self._relevant, self._cells, self._mixed, self._known = list(relevant), {}, set(), 0
        start = self._known
        if start == self._pool.size:
            return
        codes = self._pool.codes[start:].tolist()
        for row, (key, code) in enumerate(zip(_keys(self._pool.bits[start:], relevant), codes, strict=True), start):
            rows, first = self._cells.setdefault(key, ([], code))
            rows.append(row)
            if code != first:
                self._mixed.add(key)
        self._known = self._pool.size


def _keys(bits: Bits, relevant: list[int]) -> list[bytes]:
    return row_keys(bits[:, relevant]) if relevant else [b""] * len(bits)


def _closest(bits: Bits, codes: NDArray[np.intp], rows: NDArray[np.intp], watch: Watch) -> tuple[float, int, int]:
    """The closest pair with different labels, and how far it is apart; of several, that of the first rows."""
    best: tuple[float, int, int] = np.inf, -1, -1
    mine = codes[rows]
    for label in sorted(set(mine.tolist()))[:-1]:
        some, others = rows[mine == label], rows[mine > label]
        parts = min(len(some), -(-len(some) * len(others) // PAIRS))  # memory is bounded
        for part in [some] if parts == 1 else np.array_split(some, parts):
            watch()
            apart = distances(bits[part], bits[others])
            least = float(apart.min())
            places, partners = np.nonzero(apart == least)
            pairs = zip(part[places].tolist(), others[partners].tolist(), strict=True)
            best = min([best, *((least, min(pair), max(pair)) for pair in pairs)])
    return best


def distances(one: Bits, two: Bits) -> NDArray[np.int32]:
    """Number of features in which rows differ, for all pairs: 64 of them at a time."""
    apart = np.zeros((len(one), len(two)), np.int32)
    for left, right in zip(_words(one).T, _words(two).T, strict=True):
        apart += np.bitwise_count(left[:, None] ^ right)
    return apart


def _words(bits: Bits) -> NDArray[np.uint64]:
    packed = np.packbits(bits, axis=1)
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))).view(np.uint64)
