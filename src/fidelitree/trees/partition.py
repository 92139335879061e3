"""Sending rows of inner values down a tree whose nodes ask any kind of test.

The rows that reach a node are parted by its test. Answering each test for all rows and combining the answers as sets of
bits, as trees of bits do, was measured to be slower beyond 16 leaves, and at most 1.6 times as fast below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import Test

Nodes = tuple[Sequence[Test | None], Sequence[int], Sequence[int], Sequence[int]]
"""A tree's tests (None at a leaf), no children, yes children and label codes."""


def leaf_codes(nodes: Nodes, rows: NDArray[Any]) -> NDArray[np.intp]:
    """The label code that each row reaches; nodes that no row reaches cost nothing."""
    tests, no, yes, code = nodes
    codes = np.empty(len(rows), np.intp)
    waiting = [(0, np.arange(len(rows)))]
    while waiting:
        node, here = waiting.pop()
        test = tests[node]
        if test is None:
            codes[here] = code[node]
        elif len(here):
            up = test.answers(rows[here, test.feature])
            waiting += [(yes[node], here[up]), (no[node], here[~up])]
    return codes
