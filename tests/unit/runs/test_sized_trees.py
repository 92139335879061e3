"""Sizes of a frontier: spread evenly, and closer together where few leaves suffice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.runs.strategies.sized_trees import filled, sizes_up_to
from fidelitree.theory.sequential import ROUND


@pytest.mark.parametrize("most", [1, 2, 3, 6, 7, 15, 22, 40, 63, 64])
def test_gaps_are_filled_up_to_the_largest(most: int) -> None:
    usual = sizes_up_to(64)
    found = filled(usual, most)
    assert found == sorted(set(found))
    assert {size for size in usual if size < most} | {most} <= set(found)
    assert len(found) == min(most, ROUND)
    if most >= ROUND:
        assert max(two / one for one, two in pairwise(found) if two - one > 1) <= 2


def test_a_target_that_few_leaves_explain_gets_all_its_sizes() -> None:
    space = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "xy"])

    def steps(batch: dict[str, np.ndarray]) -> np.ndarray:
        return np.floor(6 * batch["x"]).astype(int) % 3

    front = ft.frontier(steps, space, max_queries=3_000, seed=0)
    sizes = [point.leaves for point in front]
    assert {1, 2, 3, 5, 6} <= {*sizes} <= {1, 2, 3, 4, 5, 6}, "of four leaves the bound may be that of three"
    assert front[-1].error_bound < 0.02
