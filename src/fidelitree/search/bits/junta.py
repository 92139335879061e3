"""Few bits that matter: what a target does over them can be asked in full (THEORY 4(i)).

A function of r of its bits is a *junta*, and a table of 2^r cells is all there is to know about it. Walks find its bits
whatever their correlations are, where a search that looks ahead sees nothing in a parity of more bits than it looks
ahead. In each cell the other bits are taken from a known input: if one of them matters, sooner or later two answers of
a cell differ, and the next walk finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.bits.lookahead import AHEAD
from fidelitree.spaces.features import IsOne

if TYPE_CHECKING:
    from fidelitree.trees.nested import Nested

Bits = NDArray[np.uint8]
Codes = NDArray[np.intp]

CROWDED = 0.4  # leaves for each cell of its table from which on a tree is crowded


def cells(bits: Bits, relevant: list[int]) -> Codes:
    """The cell that each input belongs to."""
    return bits[:, relevant].astype(np.intp) @ (1 << np.arange(len(relevant), dtype=np.intp))


def missing(bits: Bits, relevant: list[int]) -> Codes:
    """Cells without an answer."""
    known = np.zeros(1 << len(relevant), np.bool_)
    known[cells(bits, relevant)] = True
    return np.flatnonzero(~known)


def members(of: Codes, relevant: list[int], others: Bits) -> Bits:
    """An input of each cell; its other bits are those of the ``others``."""
    rows = others.copy()
    rows[:, relevant] = (of[:, None] >> np.arange(len(relevant))) & 1
    return rows


def tree(table: Codes, relevant: list[int]) -> Nested:
    """The tree of a table without an error: at each node the bit whose change changes most cells is tested."""
    return _below(table.reshape((2,) * len(relevant)), relevant[::-1])  # the first bit changes fastest: the last axis


def _below(table: Codes, bits: list[int]) -> Nested:
    changed = [int(np.count_nonzero(table.take(0, axis) != table.take(1, axis))) for axis in range(table.ndim)]
    if not any(changed):
        return int(table.flat[0])
    axis = int(np.argmax(changed))
    rest = bits[:axis] + bits[axis + 1 :]
    no, yes = (np.asarray(table.take(value, axis)) for value in (0, 1))
    return IsOne(bits[axis]), _below(no, rest), _below(yes, rest)


def crowds(leaves: int, features: int) -> bool:
    """Whether so many leaves are about as many as the table has cells, and more than a look-ahead sees."""
    return features >= AHEAD and leaves >= CROWDED * (1 << features)
