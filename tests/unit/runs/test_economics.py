"""What answers are worth: gains of trees that replace others, bounds close to their errors, and when to test a tree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.runs import economics
from fidelitree.runs.economics import (
    FEW_LEAVES,
    QUERIES,
    Belief,
    PairedErrors,
    answers_until_close,
    expected_cost,
    hopeless,
    is_close,
    next_level_costs,
    pays,
    too_few,
)
from fidelitree.theory.sequential import RUN, error_bound, level_in

LEVEL = 0.01


@st.composite
def pairs(draw: st.DrawFn) -> PairedErrors:
    """Two trees on up to 1 000 answers."""
    both, older, newer = (draw(st.integers(0, 300)) for _ in range(3))
    return PairedErrors(both + older + newer + draw(st.integers(1, 100)), both + older, both + newer)


def test_without_answers_nothing_is_known() -> None:
    nothing = PairedErrors()
    assert nothing.rate == 0
    assert nothing.gain() == math.inf, "whoever has not been judged must go on"


def test_counts_of_more_answers_are_added() -> None:
    assert PairedErrors(10, 3, 2).and_(90, 30, 20) == PairedErrors(100, 33, 22)


def test_each_doubling_brings_half_of_the_one_before() -> None:
    """From 30 % to 20 %: the tree that was judged has half as many answers as there are, so it is at 15 % by now."""
    assert PairedErrors(100, 30, 20).gain() == pytest.approx((0.15 - 0.125) / 0.15)


def test_what_has_no_error_left_gains_nothing() -> None:
    assert PairedErrors(100, 30, 0).gain() == 0


def test_a_worse_tree_gains_nothing_and_never_loses() -> None:
    assert PairedErrors(400, 20, 60).gain() == 0


def test_where_trees_agree_there_is_nothing_to_gain() -> None:
    assert PairedErrors(500, 100, 100).gain() == 0


def test_a_bound_is_not_close_that_shows_less_than_half_of_what_little_agreement_there_is() -> None:
    assert not is_close(1.0, 0.93), "a tree of 64 leaves, of a thousand equal classes"
    assert not is_close(0.97, 0.93)
    assert is_close(0.96, 0.93)
    assert is_close(1.0, 0.999), "within the slack"


def test_a_bound_of_one_says_nothing_before_agreement_could_be_seen() -> None:
    assert economics.shows_nothing(1.0, 100)
    assert not economics.shows_nothing(1.0, 1_000)
    assert not economics.shows_nothing(0.99, 100)


@given(pairs())
def test_no_more_is_gained_than_there_is(pair: PairedErrors) -> None:
    assert 0 <= pair.gain() <= 1


def test_errors_that_no_bound_tells_apart_are_no_gain() -> None:
    """One error in 10 000 is saved of two: half of the error, and a sixtieth of what a bound sees."""
    assert PairedErrors(10_000, 2, 1).gain() <= 1 / 10_000 / economics.SLACK


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
    assert answers_until_close(1.0, LEVEL) == economics.FIRST


# --- evidence


@st.composite
def evidences(draw: st.DrawFn) -> Belief:
    """Of up to 2,000 answers; counts need not be whole."""
    answers = draw(st.floats(0, 2_000))
    return Belief(answers * draw(st.floats(0, 1)), answers)


def test_without_answers_an_error_may_be_anything() -> None:
    assert Belief().rate == 0.5
    assert Belief().chance(0.5) == pytest.approx(0.5)
    assert Belief().refitted(0.3, (0, 0)) == Belief()


def test_evidence_adds_up() -> None:
    assert Belief(1, 10).and_(2, 30) == Belief(3, 40)


@given(evidences(), st.floats(0.01, 0.5), st.floats(0.01, 0.5))
def test_chances_are_chances_and_errors_below_are_below(one: Belief, first: float, second: float) -> None:
    low, high = sorted([first, second])
    assert 0 <= one.chance(low) <= one.chance(high) <= 1
    if one.chance(low) > 1e-6:
        found = one.errors_below(low)
        assert found == sorted(found)
        assert 0 <= found[0] <= found[-1] <= low + 1e-9


@given(evidences(), st.floats(0.01, 0.5), st.integers(0, 500), st.integers(0, 500))
def test_more_answers_show_more(one: Belief, epsilon: float, first: int, second: int) -> None:
    few, many = sorted([first, second])
    assert -1e-9 <= one.shows(epsilon, few) <= one.shows(epsilon, many) + 1e-6
    assert one.shows(epsilon, many) <= 1


def test_a_chance_is_that_of_the_beta_distribution() -> None:
    """By drawing errors from what is believed after three errors in fifty answers."""
    drawn = np.random.default_rng(0).beta(3.5, 47.5, 200_000)
    one = Belief(3, 50)
    assert one.chance(0.1) == pytest.approx((drawn < 0.1).mean(), abs=0.005)
    parts = np.quantile(drawn[drawn < 0.1], (np.arange(economics.PARTS) + 0.5) / economics.PARTS)
    assert one.errors_below(0.1) == pytest.approx(parts, abs=0.001)
    bad = drawn[drawn > 0.1]
    assert one.shows(0.1, 20) == pytest.approx(1 - ((1 - bad) ** 20).mean(), abs=0.005)


@given(evidences(), st.floats(0, 1))
def test_what_a_successor_inherits_says_the_same_and_counts_less(one: Belief, deviation: float) -> None:
    inherited = one.refitted(deviation, (0, 0))
    assert inherited.answers <= one.answers + 1e-6
    assert inherited.rate == pytest.approx(one.rate)
    assert one.refitted(0.0, (0, 0)) == one


def test_a_tree_that_differs_more_inherits_less() -> None:
    left = [Belief(5, 200).refitted(deviation, (0, 0)).answers for deviation in (0.0, 0.01, 0.05, 0.5)]
    assert left == sorted(left, reverse=True)
    assert left[0] == 200
    assert left[-1] < 50


def test_a_tree_is_not_believed_to_err_less_than_on_what_taught_it() -> None:
    lucky = Belief(1, 100)
    told = lucky.refitted(0.0, (1_200, 10_000))
    assert lucky.chance(0.1) > 0.99
    assert told.chance(0.1) < 1e-6
    assert lucky.refitted(0.0, (500, 10_000)).chance(0.1) == lucky.chance(0.1)
    assert min(lucky.refitted(0.0, (500, 10_000)).errors_below(0.1)) == 0.05


def test_a_tree_whose_mistakes_were_mended_may_be_exact_and_is_expected_to_err_as_before() -> None:
    before = Belief(12, 100)
    after = before.mended(8)
    assert after.exact == pytest.approx(1 / (1 + 8 * before.rate) ** 2)
    assert after.rate == pytest.approx((1 - after.exact) * before.rate)
    assert before.mended(80).exact < after.exact
    assert after.mended(8).exact == pytest.approx(after.exact)
    assert after.and_(0, 30).exact > after.exact
    assert after.and_(1, 30).exact == 0


def test_the_chance_of_a_tree_that_may_be_exact_is_that_of_both_beliefs() -> None:
    """By drawing errors: none with chance .2, otherwise as after two errors in twenty answers."""
    random = np.random.default_rng(0)
    drawn = np.where(random.random(200_000) < 0.2, 0.0, random.beta(2.5, 18.5, 200_000))
    one = Belief(2, 20, 0.2)
    assert one.chance(0.05) == pytest.approx((drawn < 0.05).mean(), abs=0.005)
    weights = (1 - drawn) ** 15  # fifteen right answers
    assert one.and_(0, 15).exact == pytest.approx(weights[drawn == 0].sum() / weights.sum(), abs=0.005)
    assert one.and_(0, 15).chance(0.05) == pytest.approx(weights[drawn < 0.05].sum() / weights.sum(), abs=0.005)


# --- costs


def test_an_ending_is_judged_by_labels_and_leaves() -> None:
    cost = QUERIES.log_cost
    assert cost(100, 20) - cost(100, 10) == pytest.approx(math.log(2))
    assert cost(200, 10) - cost(100, 10) == pytest.approx(QUERIES.worth * math.log(2))
    assert FEW_LEAVES.log_cost(200, 10) - FEW_LEAVES.log_cost(100, 10) < QUERIES.worth * math.log(2)


@pytest.mark.parametrize("price", [QUERIES, FEW_LEAVES])
def test_labels_in_vain_cost_what_they_add(price: economics.Price) -> None:
    assert price.wasted(0, 100) == 0
    assert price.wasted(50, 100) == pytest.approx(price.log_cost(150, 3) - price.log_cost(100, 3))


def test_attempts_that_fail_are_paid_for() -> None:
    assert expected_cost(5.0, 1.0, 2.0) == 5
    assert expected_cost(5.0, 0.5, 2.0) == 7
    assert expected_cost(5.0, 0.0, 2.0) > 1e9


def test_it_pays_to_begin_where_a_good_tree_gains_more_than_a_bad_one_loses() -> None:
    assert pays(0.9, 1.0, 1.0, 1.0)
    assert not pays(0.1, 1.0, 1.0, 1.0)
    assert pays(0.1, 1.0, 0.0, 1.0), "nothing would show it up, so there is nothing to wait for"
    assert not pays(0.9, 0.0, 1.0, 1.0)
    assert not pays(0.9, -1.0, 1.0, 1.0)


def test_a_test_takes_more_answers_the_closer_its_tree_is_to_epsilon() -> None:
    lengths = [economics.test_length(error, LEVEL, 0.1) for error in (0.0, 0.02, 0.05, 0.09)]
    assert lengths == sorted(lengths)
    assert economics.test_length(0.1, LEVEL, 0.1) == economics.test_length(0.2, LEVEL, 0.1) == math.inf
    assert lengths[0] == pytest.approx(math.log(LEVEL) / math.log(0.9))


@pytest.mark.parametrize("error", [0.0, 0.05, 0.09])
def test_another_attempt_makes_the_next_test_longer_by_what_its_level_costs(error: float) -> None:
    """Levels fall about as 1/number^2; a test of a tree that errs takes many times as long, and so does the rest."""
    for number in (3, 10, 30):
        levels = [level_in(RUN, one, 0.05) for one in (number, number + 1)]
        lengths = [economics.test_length(error, level, 0.1) for level in levels]
        assert next_level_costs(number, levels[0], lengths[0]) == pytest.approx(lengths[1] - lengths[0], rel=0.5)


# --- out of reach

FLAT = [(4_000, 0.4), (8_000, 0.4), (16_000, 0.39)]


def test_errors_that_do_not_fall_are_hopeless_and_errors_that_fall_are_not() -> None:
    assert hopeless(FLAT, 0.1)
    assert not hopeless(FLAT, 0.45)
    assert not hopeless([(4_000, 0.4), (8_000, 0.2), (16_000, 0.1)], 0.05)
    assert not hopeless([], 0.1)


def test_nothing_is_given_up_early() -> None:
    early = [(count, 0.47) for count in (1_000, 2_000, 4_000, economics.HOPELESS_FROM - 1)]
    assert not hopeless(early, 0.1)
    assert hopeless([*early, (economics.HOPELESS_FROM, 0.47)], 0.1)


def test_only_falls_over_a_few_times_fewer_answers_count() -> None:
    sudden = [(400, 0.9), (9_000, 0.4), (10_000, 0.39)]
    assert hopeless(sudden, 0.1), "one step on is too short, and 25 times too far"


def test_few_leaves_are_seen_to_be_too_few_by_what_they_were_fitted_to() -> None:
    assert too_few(400, 1_000, 0.1)
    assert not too_few(110, 1_000, 0.1), "that may be chance"
    assert not too_few(0, 50, 0.1)
    assert too_few(1_100, 10_000 // 2, 0.1)
