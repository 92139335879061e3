"""A sum without rounding error, compared with fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.search.exact_growth import ExactSum

terms = st.lists(st.floats(-1e9, 1e9, allow_subnormal=False) | st.floats(0, 1e-20), max_size=40)


def total_of(values: list[float]) -> ExactSum:
    total = ExactSum()
    for value in values:
        total.add(value)
    return total


@given(terms)
def test_value_is_the_true_sum_rounded_once(values: list[float]) -> None:
    assert total_of(values).value == float(sum(map(Fraction, values)))


@given(terms, st.randoms(use_true_random=False))
def test_what_was_added_can_be_taken_away_exactly(values: list[float], random: object) -> None:
    total = total_of([0.1, *values])
    random.shuffle(values)
    for value in values:
        total.add(-value)
    assert total.value == 0.1


def test_an_empty_sum_is_zero() -> None:
    assert ExactSum().value == 0


def test_many_terms_need_few_partials() -> None:
    total = total_of(np.random.default_rng(0).random(10_000).tolist())
    assert len(total._partials) < 10
