"""Sending rows of inner values down a tree whose nodes ask any kind of test.

A small tree answers each of its questions once for all rows and combines the answers as sets of bits; in a large tree
most questions concern few rows, so the rows are parted node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.bits import everyone, pack, route, unpack
from fidelitree.features import Test

Codes = NDArray[np.intp]
Nodes = tuple[Sequence[Test | None], Sequence[int], Sequence[int], Sequence[int]]
"""A tree's tests (None at a leaf), no children, yes children and label codes."""

# Measured: 65 536 rows of 20 floats, random trees. Sets win up to about 8 different tests for each level.
_TESTS_PER_LEVEL = 8
_FEW_ROWS = 2048


def leaf_codes(nodes: Nodes, depth: int, rows: NDArray[Any]) -> Codes:
    """The label code that each row reaches."""
    different = len({test for test in nodes[0] if test is not None})
    if len(rows) > _FEW_ROWS and different <= _TESTS_PER_LEVEL * depth:
        return codes_by_sets(nodes, rows)
    return codes_by_parts(nodes, rows)


def codes_by_sets(nodes: Nodes, rows: NDArray[Any]) -> Codes:
    """Each different test once, then word operations for each node."""
    tests, no, yes, code = nodes
    number = {test: place for place, test in enumerate(dict.fromkeys(test for test in tests if test is not None))}
    answers = [pack(test.answers(rows[:, test.feature])) for test in number]
    codes = np.empty(len(rows), np.intp)
    asked = [-1 if test is None else number[test] for test in tests]
    for node, mask in route((asked, no, yes), answers, everyone(len(rows))):
        codes[unpack(mask, len(rows)).view(np.bool_)] = code[node]
    return codes


def codes_by_parts(nodes: Nodes, rows: NDArray[Any]) -> Codes:
    """The rows that reach a node are parted by its test; nodes that no row reaches cost nothing."""
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
