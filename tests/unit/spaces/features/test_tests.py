"""Tests of features: what they answer and how they read."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.spaces.features import AtMost, IsIn, IsOne

JOBS = ("clerk", "nurse", "pilot")


@pytest.mark.parametrize(
    ("test", "yes", "no"),
    [
        (IsOne(3), "owner = 1", "owner = 0"),
        (AtMost(0, 32.5), "owner <= 32.5", "owner > 32.5"),
        (AtMost(0, 32.0), "owner <= 32", "owner > 32"),
        (AtMost(0, 1e-7), "owner <= 1e-07", "owner > 1e-07"),
        (AtMost(0, 1e300), "owner <= 1e+300", "owner > 1e+300"),
        (AtMost(0, 0.1 + 0.2), "owner <= 0.30000000000000004", "owner > 0.30000000000000004"),
        (IsIn(0, frozenset({1, 0})), "owner in {clerk, nurse}", "owner = pilot"),
        (IsIn(0, frozenset({2})), "owner = pilot", "owner != pilot"),
    ],
)
def test_both_sides_read_well(test: AtMost | IsIn | IsOne, yes: str, no: str) -> None:
    assert test.text("owner", True, JOBS) == yes
    assert test.text("owner", False, JOBS) == no


def test_without_values_codes_are_shown() -> None:
    assert IsIn(0, frozenset({2, 0})).text("job", True) == "job in {0, 2}"


@pytest.mark.parametrize(
    ("test", "column", "answers"),
    [
        (IsOne(0), np.array([0, 1, 1], np.uint8), [False, True, True]),
        (IsOne(0), np.array([0.0, 1.0]), [False, True]),
        (AtMost(0, 2.5), np.array([2.0, 2.5, np.nextafter(2.5, 3), 9.0, -9.0]), [True, True, False, False, True]),
        (
            IsIn(0, frozenset({1, 3})),
            np.array([0.0, 1.0, 2.0, 3.0, 4.0, 99.0]),
            [False, True, False, True, False, False],
        ),
        (IsIn(0, frozenset({0})), np.array([-1.0, 0.0]), [False, True]),
    ],
)
def test_answers(test: AtMost | IsIn | IsOne, column: np.ndarray, answers: list[bool]) -> None:
    assert test.answers(column).tolist() == answers


def test_each_test_says_which_kind_of_feature_it_asks_about() -> None:
    assert [test.kind for test in (IsOne(0), AtMost(0, 1.0), IsIn(0, frozenset({0})))] == [
        "boolean",
        "numeric",
        "categorical",
    ]
