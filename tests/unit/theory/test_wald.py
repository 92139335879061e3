"""Wald's test: the ratio of two likelihoods, and what is needed to decide."""

from __future__ import annotations

import math

import pytest

from fidelitree.theory.wald import agreeing_needed, log_ratio


def test_the_ratio_is_that_of_both_likelihoods() -> None:
    low, high = 0.1, 0.3
    expected = 3 * math.log(high / low) + 7 * math.log((1 - high) / (1 - low))
    assert log_ratio(3, 10, low, high) == pytest.approx(expected)
    assert log_ratio(0, 0, low, high) == 0


def test_an_error_refutes_a_rate_of_zero() -> None:
    assert log_ratio(1, 1_000, 0.0, 0.02) == math.inf
    assert log_ratio(0, 1_000, 0.0, 0.02) == pytest.approx(1_000 * math.log(0.98))
    assert agreeing_needed(1, 5, 0.0, 0.02, 0.01) == 0


@pytest.mark.parametrize(("errors", "samples"), [(0, 0), (0, 50), (7, 100), (30, 200)])
def test_so_many_agreeing_answers_decide_and_one_less_does_not(errors: int, samples: int) -> None:
    needed = agreeing_needed(errors, samples, 0.05, 0.07, 0.01)
    assert log_ratio(errors, samples + needed, 0.05, 0.07) <= math.log(0.01)
    assert log_ratio(errors, samples + needed - 1, 0.05, 0.07) > math.log(0.01)
