"""E-values: equal to their definition, unable to win on average, and quick to be convinced."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import fidelitree as ft
import reference
from fidelitree.theory import sequential
from fidelitree.theory.sequential import (
    LEDGERS,
    Bet,
    accepts,
    divergence,
    error_bound,
    level_in,
    level_of_attempt,
    log_e_value,
    log_e_value_below,
    samples_needed,
)

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000)]
LEVEL = level_of_attempt(1, 0.05)
epsilons = pytest.mark.parametrize("epsilon", EPSILONS, ids=str)


def log(number: Fraction) -> float:
    return math.log(number.numerator) - math.log(number.denominator)


# --- what they are


@epsilons
def test_the_closed_form_is_the_mixture(epsilon: Fraction) -> None:
    for samples in (0, 1, 2, 3, 5, 9, 17, 33):
        for errors in range(samples + 1):
            exact = log(reference.e_value(errors, samples, epsilon))
            assert log_e_value(errors, samples, float(epsilon)) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(
    ("errors", "samples", "epsilon"),
    [
        (0, 5_000, 0.001),
        (30, 1_000, 0.05),
        (0, 10**7, 1e-6),
        (5, 10**7, 1e-6),
        (20, 10**7, 1e-6),
        (100_000, 10**7, 0.0101),
        (5 * 10**6, 10**7, 0.6),
        (10**7, 10**9, 0.01002),
    ],
)
def test_the_closed_form_keeps_its_digits_for_large_numbers(errors: int, samples: int, epsilon: float) -> None:
    slow = reference.log_e_value(errors, samples, epsilon)
    assert log_e_value(errors, samples, epsilon) == pytest.approx(slow, rel=1e-6, abs=1e-6)


@epsilons
def test_the_bet_against_a_small_error_is_its_mixture(epsilon: Fraction) -> None:
    for samples in (0, 1, 2, 3, 5, 9, 17, 33):
        for errors in range(samples + 1):
            exact = log(reference.e_value_below(errors, samples, epsilon))
            assert log_e_value_below(errors, samples, float(epsilon)) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("errors", [200, 2_000, 10**7])
def test_nothing_is_left_of_the_bet_after_very_many_errors(errors: int) -> None:
    assert log_e_value(errors, errors, 1e-6) == -math.inf
    assert not accepts(errors, errors, 1e-6, 0.999)


def test_nothing_is_left_of_the_opposite_bet_after_very_many_right_answers() -> None:
    assert log_e_value_below(0, 10**7, 0.5) == -math.inf
    assert log_e_value_below(10**7, 10**7, 0.5) == pytest.approx(10**7 * math.log(2), rel=1e-5)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-17, 1e-6, 0.5, 1 - 1e-12])
def test_extreme_arguments_are_numbers_and_errors_never_help(epsilon: float) -> None:
    for samples in (0, 1, 10**4, 10**7, 10**13, 10**17):
        values = [log_e_value(errors, samples, epsilon) for errors in sorted({0, samples // 2, samples})]
        assert not any(math.isnan(value) or value == math.inf for value in values)
        assert values == sorted(values, reverse=True)


# --- that they cannot win on average


@epsilons
def test_one_more_sample_cannot_win_on_average(epsilon: Fraction) -> None:
    """Exactly fair at an error of epsilon, a loss above it, and it starts at 1: a supermartingale."""
    assert reference.e_value(0, 0, epsilon) == 1
    for samples in range(8):
        for errors in range(samples + 1):
            here, right, wrong = (
                reference.e_value(k, n, epsilon)
                for k, n in ((errors, samples), (errors, samples + 1), (errors + 1, samples + 1))
            )
            assert (1 - epsilon) * right + epsilon * wrong == here
            for error in (epsilon + (1 - epsilon) / 7, (1 + epsilon) / 2, Fraction(1)):
                assert (1 - error) * right + error * wrong < here


@epsilons
def test_the_computed_bets_are_fair_over_all_outcomes(epsilon: Fraction) -> None:
    for samples in (1, 7, 40, 200):
        above = [log_e_value(k, samples, float(epsilon)) for k in range(samples + 1)]
        below = [log_e_value_below(k, samples, float(epsilon)) for k in range(samples + 1)]
        for error, bets, fair in [
            (float(epsilon), above, True),
            (float(epsilon), below, True),
            (float(1 + epsilon) / 2, above, False),
            (float(epsilon) / 2, below, False),
        ]:
            outcomes = np.arange(samples + 1)
            chances = special.xlogy(outcomes, error) + special.xlog1py(samples - outcomes, -error)
            logs = chances + np.log(special.comb(samples, outcomes)) + bets
            assert float(np.exp(logs).sum()) == pytest.approx(1, abs=1e-9) if fair else np.exp(logs).sum() < 1


@epsilons
def test_more_right_answers_help_and_a_larger_epsilon_is_easier(epsilon: Fraction) -> None:
    """The second is what makes `error_bound` true at all errors above it at once."""
    grid = [float(epsilon) * factor for factor in (0.2, 0.5, 0.9, 1.0)] + [1 - (1 - float(epsilon)) / 2]
    for errors in (0, 1, 3, 10):
        samples = [log_e_value(errors, n, float(epsilon)) for n in range(errors, 300)]
        assert all(one < two for one, two in itertools.pairwise(samples))
        easier = [log_e_value(errors, 100, e) for e in grid]
        assert all(one < two for one, two in itertools.pairwise(easier))


# --- how often it accepts what it should not, and how soon what it should; by exact probabilities


def acceptance(error: float, epsilon: float, level: float, head_start: int = 0) -> tuple[float, float]:
    """Probability to be accepted ever, and the average number of samples, up to 1e-9.

    With k errors a test accepts at n_k samples and not before. So the number of errors at n_0, n_1, ... is followed
    by its distribution among those not yet accepted. ``head_start`` samples without an error come first.
    """
    at, average, accepted = head_start, 0.0, 0.0
    waiting = np.array([1.0])  # entry j: k + j errors so far
    for errors in itertools.count():
        then = _first_accepted(errors, at, epsilon, level)
        average += float(waiting.sum()) * (then - at)
        waiting = np.convolve(waiting, _binomial(then - at, error))[:2000]
        accepted, waiting, at = accepted + waiting[0], waiting[1:], then
        if waiting.sum() < 1e-9 or errors == 600:
            return float(accepted), average
    raise AssertionError("the loop ends")


def _first_accepted(errors: int, above: int, epsilon: float, level: float) -> int:
    high = max(1, above)
    while not accepts(errors, high, epsilon, level):
        above, high = high, 2 * high
    while high - above > 1:
        middle = (above + high) // 2
        above, high = (above, middle) if accepts(errors, middle, epsilon, level) else (middle, high)
    return high


def _binomial(trials: int, p: float) -> np.ndarray:
    most = min(trials, int(trials * p + 40 * math.sqrt(trials * p + 1) + 40))
    hits = np.arange(most + 1)
    ways = special.gammaln(trials + 1) - special.gammaln(hits + 1) - special.gammaln(trials - hits + 1)
    return np.exp(ways + special.xlogy(hits, p) + special.xlog1py(trials - hits, -p))


@pytest.mark.parametrize("epsilon", [0.1, 0.01, 0.001])
@pytest.mark.parametrize("share", [0, 1 / 4, 1 / 2])
def test_it_takes_at_most_three_tenths_more_samples_than_any_test_must(epsilon: float, share: float) -> None:
    error = share * epsilon
    accepted, average = acceptance(error, epsilon, LEVEL)
    assert accepted == pytest.approx(1, abs=1e-8)
    assert average <= 1.3 * math.log(1 / LEVEL) / divergence(error, epsilon)


def test_without_errors_it_takes_the_known_numbers() -> None:
    """At levels 1, 2 and 3 of delta = 0.05 and epsilon = 0.1; even bets alone take 49, 65 and 74."""
    needed = [_first_accepted(0, 0, 0.1, level_of_attempt(attempt, 0.05)) for attempt in (1, 2, 3)]
    assert needed == [40, 54, 62]
    for attempt, samples in enumerate(needed, start=1):
        won = reference.e_value(0, samples, Fraction(1, 10)), reference.e_value(0, samples - 1, Fraction(1, 10))
        assert won[0] >= 1 / level_of_attempt(attempt, 0.05) > won[1]


def test_an_e_value_of_one_over_the_level_is_enough() -> None:
    level = math.exp(-log_e_value(0, 40, 0.1))
    assert -math.log(level) == log_e_value(0, 40, 0.1), "or this would not be a tie"
    assert accepts(0, 40, 0.1, level)
    assert not accepts(0, 39, 0.1, level)


@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.01])
@pytest.mark.parametrize("level", [0.2, LEVEL, 0.001])
def test_an_error_of_epsilon_is_accepted_with_at_most_its_level(epsilon: float, level: float) -> None:
    accepted, _ = acceptance(epsilon, epsilon, level)
    assert 0.5 * level < accepted <= level
    assert acceptance(1.1 * epsilon, epsilon, level)[0] < accepted


def test_counting_what_opened_the_attempt_would_break_the_level() -> None:
    """A gate of 12 or 20 error-free answers, counted: the reason for the prequential rule."""
    assert acceptance(0.1, 0.1, LEVEL, head_start=12)[0] > 1.5 * LEVEL
    assert acceptance(0.1, 0.1, LEVEL, head_start=20)[0] > 0.08


@pytest.mark.parametrize(("error", "epsilon"), [(0.05, 0.1), (0.2, 0.1), (0.0, 0.3), (1.0, 0.3), (0.3, 0.3)])
def test_the_divergence_is_what_one_sample_says_on_average(error: float, epsilon: float) -> None:
    wrong = error * math.log(error / epsilon) if error else 0.0
    right = (1 - error) * math.log((1 - error) / (1 - epsilon)) if error < 1 else 0.0
    assert divergence(error, epsilon) == pytest.approx(wrong + right, abs=1e-15)


# --- bounds and levels


@pytest.mark.parametrize("level", [0.2, 0.05, 1e-6])
@pytest.mark.parametrize(("errors", "samples"), [(0, 1), (0, 40), (1, 2), (3, 100), (60, 100), (10, 10**7)])
def test_the_bound_is_where_acceptance_begins(errors: int, samples: int, level: float) -> None:
    bound = error_bound(errors, samples, level)
    assert errors / samples < bound < 1
    assert accepts(errors, samples, bound, level)
    assert not accepts(errors, samples, bound - 1e-7 * bound, level)


def test_where_nothing_is_certified_the_bound_is_one() -> None:
    assert error_bound(0, 0, 0.05) == 1
    for samples in (1, 100, 10**7):
        assert error_bound(samples, samples, 0.05) == 1


def test_the_levels_of_all_attempts_add_up_to_delta() -> None:
    levels = [level_of_attempt(attempt, 0.2) for attempt in range(1, 10_001)]
    assert levels == sorted(levels, reverse=True)
    rest = 6 * 0.2 / math.pi**2 / 10_000.5  # the sum of 1/j^2 beyond J is about 1/(J + 1/2)
    assert math.fsum(levels) + rest == pytest.approx(0.2, abs=1e-12)
    assert math.fsum(levels) < 0.2


# --- a running test


def test_a_bound_is_that_of_all_answers_not_of_the_luckiest_moment() -> None:
    bet = Bet(0.05)
    assert bet.error_bound == 1
    bet.count(0, 50)
    certified = bet.error_bound
    assert certified == error_bound(0, 50, 0.05) < 0.1
    bet.count(20, 20)
    assert (bet.errors, bet.samples) == (20, 70)
    assert bet.error_bound == error_bound(20, 70, 0.05) > certified
    bet.count(0, 10_000)
    assert bet.error_bound == error_bound(20, 10_070, 0.05) < certified


def test_what_was_certified_once_is_forgotten_when_errors_follow() -> None:
    bet = Bet(0.05)
    bet.count(0, 50)
    assert not bet.certifies(0.01)
    assert bet.certifies(0.08)
    assert bet.certifies(0.5)
    bet.count(50, 50)
    assert not accepts(50, 100, 0.08, 0.05)
    assert not bet.certifies(0.08)
    assert bet.error_bound == error_bound(50, 100, 0.05) > 0.5
    assert bet.counts == (50, 100)


@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.004])
@pytest.mark.parametrize(("errors", "samples"), [(0, 0), (0, 7), (2, 10), (8, 8)])
def test_a_bet_knows_how_many_right_answers_are_missing(errors: int, samples: int, epsilon: float) -> None:
    bet = Bet(LEVEL)
    bet.count(errors, samples)
    needed = bet.needed_for(epsilon)
    assert needed > 0
    assert accepts(errors, samples + needed, epsilon, LEVEL)
    assert not accepts(errors, samples + needed - 1, epsilon, LEVEL)
    bet.count(0, needed)
    assert bet.needed_for(epsilon) == 0
    bet.count(5, 5)
    assert bet.needed_for(epsilon) > 0, "what is certified is what all answers say"


def test_the_last_answer_that_is_missing_is_one() -> None:
    bet = Bet(LEVEL)
    bet.count(0, samples_needed(0, 0.1, LEVEL) - 1)
    assert bet.needed_for(0.1) == 1


def test_evidence_that_is_just_enough_certifies_the_error_itself() -> None:
    bet = Bet(math.exp(-log_e_value(0, 40, 0.1)))
    bet.count(0, 40)
    assert bet.certifies(0.1)
    assert bet.error_bound <= 0.1


def test_of_two_bounds_the_lower_one_is_told() -> None:
    bet = Bet(0.05)
    bet.count(0, 50)
    ours = error_bound(0, 50, 0.05)
    assert bet.lower(ours / 2) == ours / 2
    bet.count(0, 50)
    assert bet.lower(ours / 1.01) == bet.error_bound == error_bound(0, 100, 0.05) < ours / 1.5
    assert bet.counts == (0, 100)


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.01])
def test_errors_as_frequent_as_epsilon_are_never_accepted(epsilon: float) -> None:
    """Why nothing is worked out for them: the likelihood of every error below epsilon is less than that of epsilon."""
    for errors in (1, 2, 10, 1000):
        assert log_e_value(errors, math.floor(errors / epsilon), epsilon) < 0


def test_what_is_out_of_reach_needs_a_number_beyond_all_budgets() -> None:
    bet = Bet(0.05)
    for epsilon in (1e-17, 1e-300):
        assert bet.needed_for(epsilon) == 1 << 40


def test_where_nothing_is_certified_all_answers_count() -> None:
    bet = Bet(0.05)
    bet.count(3, 3)
    assert (bet.counts, bet.error_bound) == ((3, 3), 1)


@pytest.mark.parametrize("errors", [0, 1, 2, 3, 10, 50])
@pytest.mark.parametrize("epsilon", [0.9, 0.3, 0.1])
@pytest.mark.parametrize("level", [0.9, LEVEL, 1e-9])
def test_the_samples_needed_are_the_first_that_are_accepted(errors: int, epsilon: float, level: float) -> None:
    first = next(n for n in range(max(1, errors), 2000) if accepts(errors, n, epsilon, level))
    assert samples_needed(errors, epsilon, level) == first


@pytest.mark.parametrize("errors", [0, 7])
def test_few_looks_find_the_samples_needed(errors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By halves alone it would take twenty for 412 samples; the search is made again after every error."""
    looks = []
    monkeypatch.setattr(sequential, "accepts", lambda *given: looks.append(given) or accepts(*given))
    for epsilon in (0.1, 0.05, 0.01):
        looks.clear()
        samples_needed(errors, epsilon, LEVEL)
        assert len(looks) <= 10


def test_one_sample_may_be_enough() -> None:
    assert samples_needed(0, 0.99, 0.5) == 1


def test_two_standard_deviations_are_not_yet_bad_luck() -> None:
    bet = Bet(0.05)
    bet.count(8, 100)
    assert not bet.unlucky(0.04)  # 4 are usual, and 8 are two standard deviations more
    bet.count(1, 0)
    assert bet.unlucky(0.04)


def test_bad_luck_is_not_yet_a_refutation() -> None:
    bet = Bet(0.05)
    bet.count(14, 100)
    assert not bet.unlucky(0.1)  # 10 are usual, and 16.3 would be two standard deviations more
    bet.count(3, 0)
    assert bet.unlucky(0.1)
    assert not Bet(0.05).unlucky(0.1)


def test_the_page_of_promises_has_the_parts_of_delta() -> None:
    page = (Path(__file__).parents[3] / "docs" / "promises.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| .* \| (\d+)% \|", page, re.MULTILINE))
    assert {name: int(share) / 100 for name, share in rows.items()} == LEDGERS
    for alone in ("audit", "interval"):
        assert level_in(alone, 1, 0.05) == LEDGERS[alone] * 0.05
    space = ft.ProductSpace.bernoulli(30)
    for epsilon in (0.1, None):
        found = ft.certify(ft.Tree.constant(space, 0), lambda bits: 0 * bits[:, 0], space, epsilon, max_queries=300)
        assert found.level == pytest.approx(level_in(found.ledger, 1, 0.05))
