"""A certificate is one honest sentence."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.certificate import Certificate, _up

FIXED = Certificate(0.1, 0.05, 0.0876, 1500, 110, "fixed", "tree", "space", seed=3)
EXACT = Certificate(0.1, 0.0, 0.0625, 16, None, "exact", "tree", "space", split_quality=True)


def test_it_holds_when_the_bound_is_at_most_epsilon() -> None:
    assert FIXED.holds
    assert dataclasses.replace(FIXED, error_bound=0.1).holds
    assert not dataclasses.replace(FIXED, error_bound=0.1000001).holds


def test_the_sentence_of_a_sampled_certificate() -> None:
    assert str(FIXED) == (
        "With confidence 0.95, this tree disagrees with the target on at most 0.0876 of inputs (an error of 0.1 was "
        "asked for), by 110 errors among 1,500 test inputs, provided that the target is deterministic and inputs "
        "follow the stated product distribution."
    )


def test_the_sentence_of_an_exact_certificate() -> None:
    assert str(EXACT) == (
        "This tree disagrees with the target on exactly 0.0625 of all inputs (an error of 0.1 was asked for), provided "
        "that the target is deterministic and inputs follow the stated product distribution."
    )


def test_what_is_not_certified_is_said() -> None:
    assert "(an error of 0.05 was asked for and is NOT certified)" in str(dataclasses.replace(FIXED, epsilon=0.05))


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0"), (-0.0, "0"), (0.12341, "0.1235"), (0.5, "0.5"), (1.0, "1"), (0.99999, "1"), (1.23401e-7, "1.235e-07")],
)
def test_a_bound_is_shown_with_four_digits_rounded_up(share: float, text: str) -> None:
    assert _up(share) == text


@given(st.floats(1e-300, 1))
def test_a_shown_bound_is_never_in_the_trees_favour(share: float) -> None:
    """Up to the last digit of the float: 0.3 is shown as 0.3."""
    assert share * (1 - 1e-12) <= float(_up(share)) <= min(1.0, share * 1.0011)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        FIXED.error_bound = 0.0
