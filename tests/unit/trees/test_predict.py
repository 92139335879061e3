"""Sending rows down a tree: every row ends at its leaf, in any order and number, whatever form the tree has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.spaces.features import Test as FeatureTest
from fidelitree.trees import nested
from fidelitree.trees.bits import everyone, pack, unpack
from fidelitree.trees.nested import Nested
from fidelitree.trees.predict import leaf_values, route
from small import bits_asked

TREE: Nested = (IsOne(0), (AtMost(1, 2.5), 10, 11), (IsIn(2, frozenset({1})), 12, 13))


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_row_ends_at_its_leaf(order: str) -> None:
    rows = np.array([[0, 3, 0], [0, 2.5, 0], [1, 0, 0], [1, 0, 1], [1, 9, -1]], np.float64, order=order)

    def values(rows: np.ndarray) -> list[int]:
        def passes(test: FeatureTest, here: np.ndarray) -> np.ndarray:
            return test.answers(rows[here, test.feature])

        return leaf_values(TREE, nested.itself, passes, len(rows)).tolist()

    assert values(rows) == [10, 11, 12, 13, 12]
    assert values(rows[[3]]) == [13]
    assert values(rows[:0]) == []


def test_a_tree_of_one_leaf_asks_nothing() -> None:
    assert leaf_values(7, nested.itself, None, 3).tolist() == [7, 7, 7]  # type: ignore[arg-type]


@given(st.integers(0, 1000))
def test_sets_of_rows_reach_the_leaves_that_rows_reach(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(0, 2, (130, 4), np.uint8)
    start = random.integers(0, 2, 130, np.uint8)
    tree = bits_asked((1, 5, (0, (3, 6, 7), (2, 8, 9))))
    alone = leaf_values(tree, nested.itself, lambda test, here: table[here, test.feature] != 0, 130)
    reached = dict(route(tree, nested.itself, [pack(column) for column in table.T], pack(start)))
    assert set(reached) == {5, 6, 7, 8, 9}
    for value, mask in reached.items():
        assert unpack(mask, 130).tolist() == ((alone == value) & (start == 1)).astype(int).tolist()


def test_nodes_in_a_list_are_a_tree_too() -> None:
    nodes: list[tuple[FeatureTest, int, int] | int] = [(IsOne(1), 1, 2), 5, (IsOne(0), 3, 4), 6, 7]
    columns = [pack(np.array(column, np.uint8)) for column in ([0, 1, 0, 1], [0, 0, 1, 1])]
    found = {value: unpack(mask, 4).tolist() for value, mask in route(0, nodes.__getitem__, columns, everyone(4))}
    assert found == {5: [1, 1, 0, 0], 6: [0, 0, 1, 0], 7: [0, 0, 0, 1]}
