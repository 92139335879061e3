"""Sending rows down a tree of any tests: every row ends at its leaf, in any order and number."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.trees.partition import leaf_codes

NODES = (
    [IsOne(0), AtMost(1, 2.5), None, None, IsIn(2, frozenset({1})), None, None],
    [1, 2, -1, -1, 5, -1, -1],
    [4, 3, -1, -1, 6, -1, -1],
    [-1, -1, 10, 11, -1, 12, 13],
)


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_row_ends_at_its_leaf(order: str) -> None:
    rows = np.array([[0, 3, 0], [0, 2.5, 0], [1, 0, 0], [1, 0, 1], [1, 9, -1]], np.float64, order=order)
    assert leaf_codes(NODES, rows).tolist() == [10, 11, 12, 13, 12]
    assert leaf_codes(NODES, rows[[3]]).tolist() == [13]
    assert leaf_codes(NODES, rows[:0]).tolist() == []


def test_a_tree_of_one_leaf() -> None:
    assert leaf_codes(([None], [-1], [-1], [7]), np.zeros((3, 2))).tolist() == [7, 7, 7]
