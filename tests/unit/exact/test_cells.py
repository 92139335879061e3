"""Cells of a feature: which parts tests tell apart, and which test of them is best."""

from __future__ import annotations

import math

import numpy as np

import fidelitree as ft
from fidelitree.exact.cells import Cells
from fidelitree.spaces.features import AtMost, IsIn, IsOne

AGE = ft.Numeric("age", 0, 100)
JOB = ft.Categorical("job", ["clerk", "nurse", "pilot", "chef"])


def test_values_are_cells_of_their_own() -> None:
    cells = Cells.of_values(0, ft.Numeric.from_values("rooms", [1, 2, 2, 5]), None)
    assert cells.parts == ((-math.inf, 1.5), (1.5, 3.5), (3.5, math.inf))
    assert cells.shares.tolist() == [0.25, 0.5, 0.25]
    assert Cells.of_values(0, JOB, frozenset({1, 3})).parts == ({1}, {3})
    assert Cells.of_values(0, ft.Boolean("owner", 0.25), None).parts == (0, 1)


def test_cuts_make_intervals() -> None:
    cells = Cells.of_tests(0, AGE, None, [AtMost(0, 50.0), AtMost(0, 20.0), AtMost(0, 50.0)])
    assert cells.parts == ((-math.inf, 20), (20, 50), (50, math.inf))
    assert cells.shares.tolist() == [0.2, 0.3, 0.5]
    inside = Cells.of_tests(0, AGE, (10.0, 30.0), [AtMost(0, 50.0), AtMost(0, 20.0)])
    assert inside.parts == ((10, 20), (20, 30))
    assert inside.shares.tolist() == [0.5, 0.5]


def test_sets_make_groups() -> None:
    cells = Cells.of_tests(0, JOB, None, [IsIn(0, frozenset({0, 1})), IsIn(0, frozenset({1, 2}))])
    assert set(cells.parts) == {frozenset({code}) for code in range(4)}
    assert set(Cells.of_tests(0, JOB, None, [IsIn(0, frozenset({0, 1}))]).parts) == {
        frozenset({0, 1}),
        frozenset({2, 3}),
    }


def test_what_is_not_tested_is_one_cell() -> None:
    for feature in (AGE, JOB, ft.Boolean("owner")):
        cells = Cells.of_tests(0, feature, None, [])
        assert cells.shares.tolist() == [1]
        assert cells.inside(None).tolist() == [True]
        assert cells.best_test(np.zeros((1, 1)))[0] == 0


def test_cells_know_which_restrictions_they_lie_in() -> None:
    ages = Cells.of_tests(0, AGE, None, [AtMost(0, 50.0), AtMost(0, 20.0)])
    assert ages.inside((20.0, math.inf)).tolist() == [False, True, True]
    jobs = Cells.of_values(0, JOB, None)
    assert jobs.inside(frozenset({0, 3})).tolist() == [True, False, False, True]
    bits = Cells.of_tests(0, ft.Boolean("owner"), None, [IsOne(0)])
    assert [part for part, chosen in zip(bits.parts, bits.inside(1), strict=True) if chosen] == [1]


def test_labels_a_b_a_over_thirds() -> None:
    """Worked by hand: both cuts drop 1/9, and the lower one is taken."""
    cells = Cells.of_tests(0, ft.Numeric("x", 0, 3), None, [AtMost(0, 1.0), AtMost(0, 2.0)])
    apart = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    drop, test = cells.best_test(apart)
    np.testing.assert_allclose(drop, 1 / 9)
    assert test == AtMost(0, 1.0)
    grouped = Cells.of_values(0, ft.Categorical("x", [0, 1, 2]), None)
    drop, test = grouped.best_test(apart)
    np.testing.assert_allclose(drop, 4 / 9)
    assert test == IsIn(0, frozenset({1})), "a set takes the middle out"
