"""The signed control variate: a bet that cannot win on average, and a bound that follows from it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fidelitree.theory.control import STAKES, Disagreement, Signed, helped_bound, log_helped, log_signed
from fidelitree.theory.sequential import error_bound, log_e_value, upper_bound

MARGINS = (-0.7, -0.1, 0.0, 0.02, 0.3, 0.9)


def test_no_stake_wins_on_average_while_the_error_is_as_large() -> None:
    for more, fewer in itertools.product(np.linspace(0, 1, 11), repeat=2):
        margin = more - fewer  # the mean of Z is just what is bet against
        if more + fewer <= 1 and -1 < margin < 1:
            one, zero, minus = (math.exp(log_signed(Signed(0, 1, *z), margin)) for z in ((1, 0), (0, 0), (0, 1)))
            assert min(one, zero, minus) >= 0
            assert more * one + (1 - more - fewer) * zero + fewer * minus <= 1 + 1e-12


@pytest.mark.parametrize("margin", MARGINS)
def test_it_is_the_product_over_answers(margin: float) -> None:
    answers = [1, 0, 0, -1, 0, 1, 0, 0]
    capital = np.ones(len(STAKES))
    for z in answers:
        capital *= 1 + STAKES * (margin - z) / (1 - margin)
    counts = Signed(3, len(answers), answers.count(1), answers.count(-1))
    assert log_signed(counts, margin) == pytest.approx(math.log(capital.mean()))


def test_it_rises_with_the_margin() -> None:
    for counts in (Signed(5, 100, 3, 1), Signed(0, 10, 0, 0), Signed(9, 20, 9, 0), Signed(2, 30, 0, 20)):
        found = [log_signed(counts, margin) for margin in MARGINS]
        assert found == sorted(found)


def test_either_expert_is_worth_half() -> None:
    counts, epsilon = Signed(30, 200, 4, 2), 0.2
    plain, signed = log_e_value(30, 200, epsilon), log_signed(counts, epsilon - 0.14)
    assert log_helped(counts, 0.14, epsilon) == pytest.approx(math.log((math.exp(plain) + math.exp(signed)) / 2))
    hopeless = Signed(900, 1_000, 0, 0)
    assert log_e_value(900, 1_000, 1e-9) == -math.inf, "nothing is left of the plain bet"
    assert log_helped(hopeless, 0.9, 1e-9) == pytest.approx(log_signed(hopeless, 1e-9 - 0.9) - math.log(2))


def test_a_good_surrogate_gives_a_closer_bound_and_a_useless_one_costs_little() -> None:
    level = 0.004
    plain = error_bound(200, 1_000, level)
    good = helped_bound(Signed(200, 1_000, 8, 9), Disagreement(0.2), level)
    useless = helped_bound(Signed(200, 1_000, 160, 240), Disagreement(0.28), level)
    assert 0.2 < good < 0.2 + (plain - 0.2) / 2
    assert plain < useless < 0.2 + 1.1 * (plain - 0.2)


def test_the_bound_is_where_the_bets_start_to_accept() -> None:
    counts, level = Signed(40, 300, 5, 4), 0.01
    bound = helped_bound(counts, Disagreement(0.12), level)
    assert log_helped(counts, 0.12, bound) >= -math.log(level) > log_helped(counts, 0.12, bound * (1 - 1e-6))
    assert helped_bound(Signed(0, 0, 0, 0), Disagreement(0.0), level) == 1
    assert helped_bound(Signed(20, 20, 20, 0), Disagreement(0.0), level) == pytest.approx(1)


def test_what_is_drawn_has_its_own_part_of_the_level() -> None:
    drawn, level = Disagreement(0.12, 5_000), 0.01
    part, rest = drawn.levels(level)
    assert (part, part + rest) == pytest.approx((level / 20, level))
    assert drawn.at_most(level) == upper_bound(600, 5_000, part) > 0.12
    assert (Disagreement(0.12).levels(level), Disagreement(0.12).at_most(level)) == ((0, level), 0.12)
    counts = Signed(40, 300, 5, 4)
    by_draws = helped_bound(counts, drawn, level)
    assert by_draws == pytest.approx(helped_bound(counts, Disagreement(drawn.at_most(level)), rest))
    assert by_draws > helped_bound(counts, Disagreement(0.12), level)
