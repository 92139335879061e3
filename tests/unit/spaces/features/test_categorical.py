"""Categories: masses, draws, splits, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.spaces.features.categorical import json_value, pick, value_array

JOB = ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2})


def lane() -> np.random.BitGenerator:
    return Stream.named(0, "test").lane(0, 0)


def test_masses_are_sums_of_probabilities() -> None:
    assert JOB.mass(None) == 1
    assert JOB.mass(frozenset({0, 1, 2})) == 1
    assert JOB.mass(frozenset({1, 2})) == pytest.approx(0.5, rel=1e-15)
    assert JOB.mass(frozenset()) == 0
    assert JOB.points == 3


def test_listed_values_are_equally_likely() -> None:
    die = ft.Categorical("die", range(1, 7))
    assert die.values == (1, 2, 3, 4, 5, 6)
    assert die.probabilities.tolist() == [1 / 6] * 6


def test_any_hashable_value_is_a_category() -> None:
    odd = ft.Categorical("odd", [None, "", 1.5, (1, 2), frozenset("ab"), np.int64(7), np.str_("x")])
    assert odd.values == (None, "", 1.5, (1, 2), frozenset("ab"), 7, "x")
    assert type(odd.values[5]) is int
    assert odd.restriction((1, 2)) == {3}
    assert odd.restriction([1.5, None]) == {0, 2}
    assert ft.Categorical("missing", ["a", math.nan]).values == ("a", None)


def test_counts_become_frequencies() -> None:
    job = ft.Categorical.from_counts("job", {"clerk": 30, "nurse": 10})
    assert job.probabilities.tolist() == [0.75, 0.25]


def test_draws_stay_inside_the_restriction_and_never_have_probability_0() -> None:
    rare = ft.Categorical("x", {"a": 0.0, "b": 0.5, "c": 0.0, "d": 0.5, "e": 0.0})
    assert set(rare.draw(lane(), 5000, None).tolist()) == {1.0, 3.0}
    assert set(rare.draw(lane(), 5000, frozenset({0, 3, 4})).tolist()) == {3.0}
    assert set(rare.draw(lane(), 5000, frozenset({0, 4})).tolist()) == {0.0, 4.0}, "evenly where nothing has a chance"


@pytest.mark.parametrize("shares", [[0.1] * 10, [1 / 3] * 3, [0.0, 1.0, 0.0], [5e-324, 0.0]])
def test_the_largest_uniform_number_picks_a_possible_value(shares: list[float]) -> None:
    place = pick(np.array([0.0, 1 - 2**-53]), np.array(shares))
    assert all(shares[at] > 0 for at in place)


def test_a_set_splits_what_is_left() -> None:
    assert JOB.split(IsIn(0, frozenset({0, 1})), None) == ({2}, {0, 1})
    assert JOB.split(IsIn(0, frozenset({0})), frozenset({0, 2})) == ({2}, {0})
    assert JOB.parts(IsIn(0, frozenset({1})), frozenset({0, 2})) == ({0, 2}, None)
    assert JOB.parts(IsIn(0, frozenset({0, 2})), frozenset({0})) == (None, {0})


@pytest.mark.parametrize(
    ("codes", "left", "message"),
    [
        ({1}, {0, 2}, "the test job = nurse splits nothing of feature 'job' here, where job in {clerk, pilot}"),
        (
            {0, 1, 2},
            None,
            "the test job in {clerk, nurse, pilot} splits nothing of feature 'job' here, where job is any value",
        ),
    ],
)
def test_a_split_must_leave_something_on_both_sides(codes: set[int], left: set[int] | None, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        JOB.split(IsIn(0, frozenset(codes)), None if left is None else frozenset(left))
    assert str(caught.value) == message


def test_a_category_has_no_thresholds() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        JOB.split(AtMost(0, 1.0), None)
    assert str(caught.value) == (
        "feature 'job' is categorical, which only x in A tests; got AtMost(feature=0, cut=1.0)"
    )


@pytest.mark.parametrize(
    ("wanted", "left"), [("nurse", {1}), ({"nurse"}, {1}), (["pilot", "clerk"], {0, 2}), (frozenset({"nurse"}), {1})]
)
def test_a_user_names_one_value_or_several(wanted: object, left: set[int]) -> None:
    assert JOB.restriction(wanted) == left


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("chef", "given['job'] must hold values of the feature ('clerk', 'nurse', 'pilot'); got 'chef'"),
        ({"nurse", 3}, "given['job'] must hold values of the feature ('clerk', 'nurse', 'pilot'); got 3"),
        ([["nurse"]], "given['job'] must hold values of the feature ('clerk', 'nurse', 'pilot'); got ['nurse']"),
        ([], "given['job'] must hold at least one value; got none"),
    ],
)
def test_other_values_are_refused(wanted: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        JOB.restriction(wanted)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"a": 0.5, "b": 0.4},
            "probabilities of feature 'x' must add up to 1; got 0.9 - Categorical.from_counts takes counts",
        ),
        ({"a": 1.5}, "probability of 'a' of feature 'x' must be a probability between 0 and 1; got 1.5"),
        ({}, "feature 'x' must have at least one value that can be drawn; got none"),
        ([], "feature 'x' must have at least one value that can be drawn; got none"),
        (
            ["a", "\udc80"],
            "value of feature 'x' must be text that UTF-8 can hold; got '\\udc80' - decode its bytes first",
        ),
        (["a", "b", "a"], "values of feature 'x' must be different; got 'a' more than once"),
        ([1, True], "values of feature 'x' must be different; got 1 more than once"),
        ("abc", "values of feature 'x' must be a mapping of value to probability, or list the values; got 'abc'"),
        (3, "values of feature 'x' must be a mapping of value to probability, or list the values; got 3"),
        ([["a"]], "values of feature 'x' must be hashable; got ['a']"),
    ],
)
def test_what_is_no_marginal(values: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.Categorical("x", values)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"a": -1}, "count of 'a' of feature 'x' must be finite and at least 0; got -1.0"),
        ({"a": math.inf}, "count of 'a' of feature 'x' must be finite and at least 0; got inf"),
        ({"a": 0}, "feature 'x' must have at least one value that can be drawn; got none"),
    ],
)
def test_what_is_no_count(counts: dict[str, float], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.Categorical.from_counts("x", counts)
    assert str(caught.value) == message


def test_columns_have_the_type_of_the_values() -> None:
    assert ft.Categorical("x", ["a", "bc"]).column(np.array([1.0, 0.0])).tolist() == ["bc", "a"]
    assert value_array(["a", "bc"]).dtype.kind == "U"
    assert value_array([1, 2]).dtype.kind == "i"
    assert value_array([True, False]).dtype.kind == "b"
    assert value_array([1, "a", None]).dtype == object
    assert value_array([2**70, 1]).tolist() == [2**70, 1]
    assert value_array([(1, 2), (3, 4)]).shape == (2,)


def test_equal_categories_are_equal() -> None:
    same = ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2})
    assert same == JOB
    assert hash(same) == hash(JOB)
    assert ft.Categorical("job", ["clerk", "nurse", "pilot"]) != JOB
    assert ft.Categorical("x", [1, 2]) != ft.Categorical("x", ["1", "2"])
    assert JOB != "job"


def test_it_describes_itself() -> None:
    assert JOB.describe() == {
        "kind": "categorical",
        "name": "job",
        "values": ["clerk", "nurse", "pilot"],
        "p": [(0.5).hex(), (0.3).hex(), (0.2).hex()],
    }
    assert [json_value(value) for value in (None, 1, 0.5, (1,))] == [None, 1, {"float": (0.5).hex()}, {"repr": "(1,)"}]
    assert repr(JOB) == "Categorical('job', {'clerk': 0.5, 'nurse': 0.3, 'pilot': 0.2})"
    assert repr(ft.Categorical("x", range(9))).endswith("3: 0.1111, ...})")
