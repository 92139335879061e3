"""The search in C, where the rows allow it: each counts 1, and no feature has more than 65 536 bins.

Counts are then integers and all sums exact, so that the search in Python, `moves.Moves`, finds the same trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.grown import Grown, Places, Shape, flat, words_of
from fidelitree.search.local.splits import xlogx_up_to
from fidelitree.trees import kernels

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Coded, Floats
    from fidelitree.search.local.splitmix import Splitmix
    from fidelitree.trees.nested import Nested

_MOST_ROWS = 1 << 26


def compiled(coded: Coded) -> bool:
    """Whether rows can be searched in C."""
    simple = coded.bins.dtype == np.uint16 and bool((coded.weights == 1).all())
    small = max(coded.bins.shape) < _MOST_ROWS and (sum(coded.sizes) + 1) * coded.classes <= np.iinfo(np.int32).max
    return kernels.compiled and simple and small


class Compiled:
    """Searches some rows; tests are looked for on some features only."""

    def __init__(self, coded: Coded, features: Sequence[int], watch: Watch) -> None:
        table = kernels.native.table(
            np.ascontiguousarray(coded.bins),
            coded.codes.astype(np.int32),
            np.array(coded.sizes, np.int32),
            np.array(coded.ordered, np.bool_),
            np.array(features, np.int32),
            xlogx_up_to(len(coded.codes)),
            coded.classes,
            coded.groups,
        )
        self._table, self._words, self._classes, self._watch = table, words_of(coded.sizes), coded.classes, watch

    def cart(self, most: int) -> Grown:
        """CART's tree with at most so many leaves."""
        self._watch()
        return self._grown(kernels.native.table_cart(self._table, most, self._watch))

    def fit(self, tree: Nested, price: float) -> Grown:
        """A tree fitted to all rows, its leaves grown on, both as far as it pays at this price of a leaf."""
        self._watch()
        return self._grown(kernels.native.table_fit(self._table, flat(tree, self._words), price, self._watch))

    def descend(self, tree: Grown, price: float, steps: int, stream: Splitmix, polished: bool) -> tuple[Grown, int]:
        """The tree, polished first if so wished, after at most so many proposals; and how many were made."""
        self._watch()
        parts, stream.state, made = kernels.native.table_descend(
            self._table, tree.shape, price, stream.state, steps, polished, self._watch
        )
        return self._grown(parts), made

    def prune(self, tree: Grown) -> tuple[Places, Floats]:
        """Of every node and number of leaves those of the shorter side; errors of the whole tree's best prunings."""
        share, errors = kernels.native.table_prune(self._table, tree.shape, tree.alone, self._watch)
        return np.frombuffer(share, np.int32), np.frombuffer(errors, np.float64)

    def _grown(self, parts: tuple[bytes, ...]) -> Grown:
        feature, cut, yes, place, counts = (np.frombuffer(part, np.int32) for part in parts[:5])
        sets = np.frombuffer(parts[5], np.uint64).reshape(-1, self._words)
        shape: Shape = (feature, cut, yes, place, sets)
        return Grown(shape, counts.reshape(-1, self._classes))
