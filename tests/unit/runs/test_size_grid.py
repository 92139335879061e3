"""Sizes of a frontier: spread evenly, and closer together where few leaves suffice."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fidelitree.runs.size_grid import LARGEST, filled, sizes_up_to
from fidelitree.theory.sequential import ROUND


@pytest.mark.parametrize("most", range(1, 200, 3))
def test_sizes_go_from_one_to_the_largest(most: int) -> None:
    found = sizes_up_to(most)
    assert found == sorted({1, *found, most})
    assert len(found) <= ROUND, "they share one round of levels"
    if most > ROUND:
        ratios = [two / one for one, two in pairwise(found) if two - one > 1]
        assert max(ratios) < 1.5 * most ** (1 / (ROUND - 1))


@pytest.mark.parametrize("most", [1, 2, 3, 6, 7, 15, 22, 40, 63, 64])
def test_gaps_are_filled_up_to_the_largest(most: int) -> None:
    usual = sizes_up_to(LARGEST)
    found = filled(usual, most)
    assert found == sorted(set(found))
    assert {size for size in usual if size < most} | {most} <= set(found)
    assert len(found) == min(most, ROUND)
    if most >= ROUND:
        assert max(two / one for one, two in pairwise(found) if two - one > 1) <= 2


@pytest.mark.parametrize("most", [5, 12, 30])
def test_what_is_full_stays(most: int) -> None:
    once = filled(sizes_up_to(LARGEST), most)
    assert filled(once, most) == once
