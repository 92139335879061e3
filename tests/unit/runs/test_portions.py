"""How many answers come at a time: a share of what is known, or, where each portion is a round, what a test takes."""

from __future__ import annotations

import math

import pytest

from fidelitree.runs import economics
from fidelitree.runs.economics import FIRST_FEW, TEACHES, fall
from fidelitree.runs.portions import DOUBLING, FEW, InRounds, Trend
from fidelitree.theory.sequential import divergence

EPSILON = 0.1
ROUNDS = InRounds(EPSILON)
GOOD = Trend([(400, 0.04)])
BAD = Trend([(400, 2 * EPSILON)])


def test_a_share_of_what_is_known_but_no_more_than_is_needed() -> None:
    assert DOUBLING.rows(0, math.inf) == economics.FIRST
    assert DOUBLING.rows(3_000, math.inf) == 3_000
    assert FEW.rows(3_200, math.inf) == 3_200 * economics.PART
    assert FEW.rows(3_200, 5) == 5


def test_a_test_without_errors_goes_on_in_larger_portions() -> None:
    assert FEW.rows(100, math.inf) == economics.LEAST_FEW
    assert FEW.rows(100, math.inf, Trend((), lucky=800)) == 100


def test_the_first_round_is_the_same_for_all_but_small_budgets() -> None:
    assert ROUNDS.rows(0, math.inf) == ROUNDS.rows(0, 10 * FIRST_FEW, GOOD) == FIRST_FEW
    assert ROUNDS.rows(0, 18) == 18, "the other labels are for tests"


def test_a_round_that_teaches_is_a_share_of_what_is_known() -> None:
    assert ROUNDS.rows(600, math.inf, GOOD) == TEACHES * 600
    assert ROUNDS.rows(600, 44, BAD) == TEACHES * 600, "a test is not worth its answers"
    assert ROUNDS.rows(10, math.inf) == FIRST_FEW


@pytest.mark.parametrize("error", [0.0, 0.02, 0.05, 0.09, EPSILON])
def test_a_round_that_tests_takes_what_a_test_is_likely_to_take(error: float) -> None:
    rows = ROUNDS.rows(600, 44, Trend([(600, error)]))
    test = 44 * divergence(0.0, EPSILON) / divergence(error, EPSILON) if error < EPSILON else math.inf
    assert rows == pytest.approx(max(44, min(test, 600)))


def test_one_error_costs_no_round() -> None:
    assert ROUNDS.rows(600, 44, Trend([(600, 0.0)])) >= 44
    assert ROUNDS.rows(64, 44) >= 44, "nor where no tree has been judged"
    assert ROUNDS.rows(20, 44, GOOD) >= 44, "however little is known"


def test_a_tree_that_more_answers_taught_is_expected_to_err_less() -> None:
    as_many, fewer = (ROUNDS.rows(2_000, 44, Trend([(100, 0.09), (taught, 0.05)])) for taught in (2_000, 500))
    assert fewer < as_many


def test_errors_fall_as_a_power_of_the_answers() -> None:
    assert fall([]) == fall([(100, 0.2)]) == 0
    assert fall([(100, 0.2), (400, 0.1)]) == pytest.approx(0.5)
    assert fall([(100, 0.4), (200, 0.2), (300, 0.15), (400, 0.1)]) == pytest.approx(1.0), "over twice the answers"
    assert fall([(100, 0.2), (400, 0.2)]) == 0, "or else as slowly as any do"
    assert fall([(100, 0.2), (400, 0.3)]) == fall([(100, 0.2), (400, 0.0)]) == 0
    assert fall([(100, 0.2), (100, 0.1)]) == 0
