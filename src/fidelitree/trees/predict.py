"""Sending rows down a tree: as sets of bits where all features are bits, else row by row.

Both know a tree by its root and by what is below a node: a test with the no and the yes side, or what a leaf holds. So
they take trees as arrays, as nested tuples or as nodes with rows alike. Answering tests of any kind for all rows and
combining the answers as sets of bits was measured to be slower beyond 16 leaves, and at most 1.6 times as fast below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.trees.bits import Columns, Words

N = TypeVar("N")
Below = Callable[[N], "tuple[Test, N, N] | int"]
Places = NDArray[np.intp]


def leaf_values(root: N, below: Below[N], passes: Callable[[Test, Places], NDArray[np.bool_]], rows: int) -> Places:
    """What the leaf holds that each row reaches; ``passes`` says which of some rows are on the yes side of a test.

    Nodes that no row reaches cost nothing.
    """
    values = np.empty(rows, np.intp)
    waiting = [(root, np.arange(rows))]
    while waiting:
        node, here = waiting.pop()
        inside = below(node)
        if not isinstance(inside, tuple):
            values[here] = inside
        elif len(here):
            test, no, yes = inside
            up = passes(test, here)
            waiting += [(yes, here[up]), (no, here[~up])]
    return values


def route(root: N, below: Below[N], columns: Columns, rows: Words) -> Iterator[tuple[int, Words]]:
    """What each leaf of a tree of bits holds, with the set of rows that reach it."""
    waiting = [(root, rows)]
    while waiting:
        node, mask = waiting.pop()
        inside = below(node)
        if isinstance(inside, tuple):
            test, no, yes = inside
            upper = mask & columns[test.feature]
            waiting += [(yes, upper), (no, mask ^ upper)]
        else:
            yield inside, mask
