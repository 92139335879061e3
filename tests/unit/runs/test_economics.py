"""What answers are worth: gains of trees that replace others, and bounds that are close to their errors."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.runs import economics
from fidelitree.runs.economics import PairedErrors, answers_until_close, expected_bound, is_close
from fidelitree.theory.sequential import error_bound

LEVEL = 0.01


@st.composite
def pairs(draw: st.DrawFn) -> PairedErrors:
    """Two trees on up to 1 000 answers."""
    both, older, newer = (draw(st.integers(0, 300)) for _ in range(3))
    return PairedErrors(both + older + newer + draw(st.integers(1, 100)), both + older, both + newer, older + newer)


def test_without_answers_nothing_is_known() -> None:
    nothing = PairedErrors()
    assert nothing.rate == 0
    assert nothing.after(0) == nothing.after(5, economics.SURE) == 1
    assert nothing.gain() == math.inf, "whoever has not been judged must go on"


def test_counts_of_more_answers_are_added() -> None:
    assert PairedErrors(10, 3, 2, 1).and_(90, 30, 20, 12) == PairedErrors(100, 33, 22, 13)


def test_each_doubling_brings_half_of_the_one_before() -> None:
    """From 30 % to 20 %: the tree that was judged has half as many answers as there are, so it is at 15 % by now."""
    pair = PairedErrors(100, 30, 20, 10)
    assert [pair.after(doublings) for doublings in range(4)] == pytest.approx([0.15, 0.125, 0.1125, 0.10625])
    assert pair.after(60) == pytest.approx(0.1)


def test_what_was_brought_may_be_more_than_was_seen() -> None:
    pair = PairedErrors(100, 20, 20, 16)
    assert pair.after(3) == 0.2
    assert pair.after(0, 1.0) == pytest.approx(0.2 - 0.04 / 2)
    assert pair.after(0, 2.0) == pytest.approx(0.2 - 0.08 / 2)
    assert pair.gain() == pytest.approx((0.04 * 3 / 4) / 0.2)


def test_a_worse_tree_gains_nothing_and_never_loses() -> None:
    pair = PairedErrors(400, 20, 60, 40)
    assert pair.after(0) == pair.after(9) == pair.rate == 0.15
    assert pair.gain() == 0


def test_where_trees_agree_there_is_nothing_to_gain() -> None:
    assert PairedErrors(500, 100, 100, 0).gain() == 0


@given(pairs(), st.floats(0, 8), st.floats(0, 8), st.floats(0, 3))
def test_more_answers_never_hurt(pair: PairedErrors, one: float, two: float, sure: float) -> None:
    less, more = sorted([one, two])
    assert 0 <= pair.after(more, sure) <= pair.after(less, sure) <= pair.rate
    assert pair.after(less, sure) <= pair.after(less)
    assert pair.gain() >= 0


def test_errors_that_no_bound_tells_apart_are_no_gain() -> None:
    """One error in 10 000 is saved of two: half of the error, and a sixtieth of what a bound sees."""
    pair = PairedErrors(10_000, 2, 1, 1)
    assert pair.gain() <= (2 + economics.SURE) / 10_000 / economics.SLACK


def test_close_is_a_tenth_and_a_little() -> None:
    assert is_close(economics.SLACK, 0)
    assert not is_close(economics.SLACK + 1e-9, 0)
    assert is_close(0.3 * economics.TIGHT, 0.3)
    assert not is_close(0.3 * economics.TIGHT + 2 * economics.SLACK, 0.3)


@pytest.mark.parametrize("error", [0.0, 0.01, 0.1, 0.4])
def test_answers_until_a_bound_is_close(error: float) -> None:
    rows = answers_until_close(error, LEVEL)
    assert is_close(error_bound(round(error * rows), rows, LEVEL), error)
    before = math.floor(rows / (1 + 1 / 7))
    assert not is_close(error_bound(round(error * before), before, LEVEL), error)


def test_a_smaller_level_takes_more_answers_and_what_is_close_at_once_the_least() -> None:
    assert answers_until_close(0.1, LEVEL / 100) > answers_until_close(0.1, LEVEL)
    assert answers_until_close(1.0, LEVEL) == economics.LEAST


def test_the_bound_to_be_expected_is_that_of_the_counts_to_come() -> None:
    assert expected_bound(0.1, LEVEL, 1_000) == error_bound(100, 1_000, LEVEL)
    assert expected_bound(0.1, LEVEL, 500, (30, 200)) == error_bound(80, 700, LEVEL)
    assert expected_bound(0.3, LEVEL, 0, (5, 40)) == error_bound(5, 40, LEVEL), "what is counted stays"
    bounds = [expected_bound(0.1, LEVEL, rows) for rows in (0, 100, 1_000, 10_000)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == 1
