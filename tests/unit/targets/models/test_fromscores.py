"""Labels from scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.targets.models.fromscores import check_rule, classes_of, labels_of, rule_for

SCORES = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [0.1, 0.1, 0.8]], np.float32)


def test_argmax_and_argmin_take_the_first_of_equals() -> None:
    assert labels_of(SCORES, "argmax").tolist() == [1, 0, 2]
    assert labels_of(SCORES, "argmin").tolist() == [0, 1, 0]


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_a_number_is_to_be_exceeded(shape: tuple[int, ...]) -> None:
    scores = np.array([0.1, 0.5, np.nextafter(0.5, 1), np.inf]).reshape(shape)
    assert labels_of(scores, 0.5).tolist() == [0, 0, 1, 1]


def test_nan_has_no_label() -> None:
    with pytest.raises(ft.TargetError, match="the model answered NaN 1 times among 2 scores, and NaN has no label"):
        labels_of(np.array([0.1, np.nan]), 0.5)


@pytest.mark.parametrize(
    ("scores", "rule", "message"),
    [
        (
            SCORES,
            0.5,
            r"labels=0.5 needs one score for each input; the model answered shape \(3, 3\). Say labels='argmax'",
        ),
        (
            SCORES[:, 0],
            "argmax",
            r"labels='argmax' needs several scores for each input; the model answered shape \(3,\)",
        ),
        (
            SCORES[:, :1],
            "argmin",
            r"labels='argmin' needs several scores for each input; the model answered shape \(3, 1",
        ),
    ],
)
def test_a_rule_must_fit_the_scores(scores: Any, rule: Any, message: str) -> None:
    with pytest.raises(ft.ParameterError, match=message):
        labels_of(scores, rule)


@pytest.mark.parametrize("rule", ["largest", "0.5"])
def test_other_words_are_no_rules(rule: str) -> None:
    with pytest.raises(ft.ParameterError) as error:
        check_rule(rule)
    assert str(error.value) == (
        f"labels must be 'argmax', 'argmin', 'score' or a number, the score above which 1 is; got {rule!r}"
    )


def test_a_list_is_no_rule() -> None:
    with pytest.raises(ft.ParameterError, match=r"labels must be a number; got \[1\]"):
        check_rule([1])


def test_the_callers_rule_comes_before_the_objectives() -> None:
    assert rule_for("binary", {"binary": 0.5}, None) == 0.5
    assert rule_for("binary", {"binary": 0.5}, 0.9) == 0.9
    assert rule_for("other", {"binary": 0.5}, "argmax") == "argmax"


def test_classes_where_they_are_known() -> None:
    assert [classes_of(0.5, 0), classes_of("argmax", 3), classes_of("argmax", 0)] == [(0, 1), (0, 1, 2), None]
