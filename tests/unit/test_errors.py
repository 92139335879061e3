"""Each breach of a rule is one sentence: parameter, rule, value, way out."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fidelitree.errors import (
    ParameterError,
    check_choice,
    check_count,
    check_delta,
    check_epsilon,
    check_number,
    check_observer,
    check_path,
    check_probability,
    check_switch,
    check_text,
    is_text,
    show,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BREACHES: list[tuple[Callable[[], object], str]] = [
    (lambda: check_epsilon(5), "epsilon must be at least 0 and below 1; got 5 - did you mean 0.05?"),
    (lambda: check_epsilon(12.5), "epsilon must be at least 0 and below 1; got 12.5 - did you mean 0.125?"),
    (lambda: check_epsilon(1), "epsilon must be at least 0 and below 1; got 1"),
    (lambda: check_epsilon(-0.1), "epsilon must be at least 0 and below 1; got -0.1"),
    (lambda: check_epsilon(math.inf), "epsilon must be at least 0 and below 1; got inf"),
    (lambda: check_epsilon(math.nan), "epsilon must be a number; got NaN"),
    (lambda: check_epsilon(None), "epsilon must be a number; got None"),
    (lambda: check_delta(5), "delta must be above 0 and below 1; got 5 - did you mean 0.05?"),
    (lambda: check_delta(0), "delta must be above 0 and below 1; got 0"),
    (lambda: check_delta(1), "delta must be above 0 and below 1; got 1"),
    (lambda: check_delta(100), "delta must be above 0 and below 1; got 100"),
    (lambda: check_delta("0.1"), "delta must be a number; got '0.1'"),
    (lambda: check_probability("p", 30), "p must be a probability between 0 and 1; got 30 - did you mean 0.3?"),
    (
        lambda: check_probability("p", 1.001),
        "p must be a probability between 0 and 1; got 1.001 - did you mean 0.01001?",
    ),
    (lambda: check_probability("p[2]", -1e-9), "p[2] must be a probability between 0 and 1; got -1e-09"),
    (lambda: check_probability("p", True), "p must be a number; got True"),
    (lambda: check_number("max_seconds", b"1"), "max_seconds must be a number; got b'1'"),
    (lambda: check_number("max_seconds", [1, 2]), "max_seconds must be a number; got [1, 2]"),
    (lambda: check_count("n", 2.0), "n must be a whole number; got 2.0"),
    (lambda: check_count("n", False), "n must be a whole number; got False"),
    (lambda: check_count("n", "3"), "n must be a whole number; got '3'"),
    (lambda: check_count("n", 0), "n must be at least 1; got 0"),
    (lambda: check_count("seed", -1, least=0), "seed must be at least 0; got -1"),
    (lambda: check_switch("deterministic", "no"), "deterministic must be True or False; got 'no'"),
    (lambda: check_switch("deterministic", 0), "deterministic must be True or False; got 0"),
    (
        lambda: check_text("name of a feature", "a\udc80"),
        "name of a feature must be text that UTF-8 can hold; got 'a\\udc80' - decode its bytes first",
    ),
    (lambda: check_observer(3), "observer must be callable: it is given one event after another; got 3"),
    (lambda: check_observer(None), "observer must be callable: it is given one event after another; got None"),
]


@pytest.mark.parametrize(("call", "message"), BREACHES, ids=[message for _, message in BREACHES])
def test_a_breach_is_told_in_one_sentence(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value) == message


def test_a_number_too_large_for_a_float_is_refused_like_any_other() -> None:
    with pytest.raises(ParameterError, match="epsilon must be a number; got 1000"):
        check_epsilon(10**400)


def test_text_is_what_every_file_can_hold() -> None:
    assert all(map(is_text, ["", "a", "日本", "\ud7ff\ue000\U0010ffff"]))
    assert not any(map(is_text, ["\ud800", "a\udfff", "\ud83d\ude00", b"a", None, 3]))


def test_ends_of_the_ranges_are_allowed_where_the_rule_says_so() -> None:
    assert check_epsilon(0) == 0.0
    assert check_epsilon(0.999) == 0.999
    assert check_delta(1e-200) == 1e-200
    assert (check_probability("p", 0), check_probability("p", 1)) == (0.0, 1.0)
    assert check_count("seed", 0, least=0) == 0


@pytest.mark.parametrize("delta", [1e-323, 1e-300, 9.9e-201])
def test_a_delta_whose_parts_are_no_numbers_any_more_is_refused(delta: float) -> None:
    with pytest.raises(ParameterError) as caught:
        check_delta(delta)
    assert str(caught.value) == (
        f"delta must be at least 1e-200, so that its parts are numbers still; got {delta!r} - 1e-9 is one false bound "
        f"in a billion runs"
    )


def test_numbers_of_other_types_become_plain_ones() -> None:
    assert type(check_epsilon(np.float32(0.5))) is float
    assert check_probability("p", Fraction(1, 4)) == 0.25
    assert type(check_count("n", np.int8(3))) is int


def test_a_number_beyond_all_counting_is_refused_shortly() -> None:
    with pytest.raises(ParameterError, match=r"^max_queries must be below 2\^256; got a number of 1,329 bits$"):
        check_count("max_queries", 10**400)


@pytest.mark.parametrize("value", [np.array(["auto"]), None, 3, ["auto"], "Auto"])
def test_a_choice_is_one_of_some_words(value: object) -> None:
    assert check_choice("strategy", "auto", ("auto", "influence")) == "auto"
    with pytest.raises(ParameterError, match=r"^strategy must be one of auto, influence; got "):
        check_choice("strategy", value, ("auto", "influence"))


@pytest.mark.parametrize("value", ["a\0b", "a\ud800", b"bytes", 3, None])
def test_a_path_is_text_that_the_system_takes(value: object, tmp_path: Path) -> None:
    assert check_path("journal", tmp_path / "x") == check_path("journal", str(tmp_path / "x")) == tmp_path / "x"
    with pytest.raises(ParameterError, match=r"^journal must be a path: text that a file system can hold; got "):
        check_path("journal", value)


def test_what_cannot_be_printed_is_named_by_its_type() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    assert show(Mute()) == "an object of type Mute that cannot be printed"
    assert show(list(range(1000)), 8) == "[0, 1, 2"
