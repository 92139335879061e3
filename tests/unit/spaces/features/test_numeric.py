"""Numbers: intervals, observed values and quantiles; masses, draws, cuts, and what is refused."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import AtMost, IsOne, midway

if TYPE_CHECKING:
    from collections.abc import Callable

AGE = ft.Numeric("age", 18, 90)
SEEN = ft.Numeric.from_values("age", [40, 18, 18, 20])


def lane() -> np.random.BitGenerator:
    return Stream.named(0, "test").lane(0, 0)


def test_masses_of_an_interval() -> None:
    assert AGE.mass(None) == 1
    assert AGE.mass((-math.inf, math.inf)) == 1
    assert AGE.mass((18, 36)) == 0.25
    assert AGE.mass((0, 36)) == 0.25
    assert AGE.mass((90, 100)) == 0
    assert AGE.points is None
    assert AGE.cuts(None) is None


def test_masses_of_observed_values_are_their_frequencies() -> None:
    assert SEEN.mass((17, 18)) == 0.5
    assert SEEN.mass((18, 40)) == 0.5
    assert SEEN.mass((18, 19)) == 0
    assert SEEN.mass(None) == 1
    assert SEEN.points == 3
    assert [part.tolist() for part in SEEN.listed(None)] == [[18, 20, 40], [0.5, 0.25, 0.25]]
    assert [part.tolist() for part in SEEN.listed((18, 30))] == [[20], [1]]
    assert [part.tolist() for part in SEEN.listed((50, 60))] == [[], []]


def test_quantiles_are_even_between_neighbours() -> None:
    four = ft.Numeric.from_quantiles("x", [0, 1, 1, 4, 8])
    assert four.mass((-1, 0.5)) == 0.125
    assert four.mass((0.5, 0.99)) == pytest.approx(0.1225)
    assert four.mass((-1, 1)) == 0.5, "two equal quantiles are one value"
    assert four.mass((1, 4)) == 0.25
    assert four.mass((1, 2.5)) == 0.125
    by_level = ft.Numeric.from_quantiles("x", {0: 0, 0.25: 1, 0.5: 1, 0.75: 4, 1: 8})
    assert by_level == four


def test_weights_count_values() -> None:
    weighted = ft.Numeric.from_values("x", [1.5, 2.5, 1.5, 9.0], [1, 2, 1, 0])
    assert weighted.mass((1, 2)) == 0.5
    assert weighted.points == 2, "what has no weight is not there"


def test_fractional_weights_are_drawn_as_often_as_they_say() -> None:
    """10 000 draws: each of the three shares is off by more than 0.03 with probability below 1e-8."""
    weighted = ft.Numeric.from_values("x", [1.0, 2.0, 4.0], [0.5, 1.25, 0.75])
    drawn = weighted.draw(lane(), 10_000, None)
    for value, share in ((1, 0.2), (2, 0.5), (4, 0.3)):
        assert abs((drawn == value).mean() - share) < 0.03
    assert set(weighted.draw(lane(), 1000, (1.0, 9.0)).tolist()) == {2, 4}


def test_cuts_lie_midway_between_neighbours() -> None:
    assert SEEN.cuts(None).tolist() == [19, 30]
    assert SEEN.cuts((18, math.inf)).tolist() == [30]
    assert SEEN.cuts((20, math.inf)).tolist() == []


@pytest.mark.parametrize(
    ("low", "high"), [(1.0, math.nextafter(1.0, 2)), (0.0, 5e-324), (-1e308, 1.7e308), (-5e-324, 0.0), (1e308, 1.5e308)]
)
def test_a_cut_separates_the_closest_neighbours(low: float, high: float) -> None:
    assert low <= midway(low, high) < high


@pytest.mark.parametrize(
    "feature",
    [AGE, SEEN, ft.Numeric.from_quantiles("x", [18, 20, 20, 50, 90]), ft.Numeric.from_quantiles("x", {0: 19, 1: 19})],
    ids=["interval", "values", "quantiles", "one value"],
)
@pytest.mark.parametrize("left", [None, (18.0, 20.0), (-math.inf, 20.0), (18.5, math.inf)])
def test_draws_stay_inside_what_is_left(feature: ft.Numeric, left: tuple[float, float] | None) -> None:
    low, high = left or (-math.inf, math.inf)
    drawn = feature.draw(lane(), 4000, left)
    assert drawn.shape == (4000,)
    assert drawn.dtype == np.float64
    assert ((drawn > low) & (drawn <= high)).all()


class Ones:
    """The largest random numbers there are."""

    def random_raw(self, size: int) -> np.ndarray:
        return np.full(size, 2**64 - 1, np.uint64)


def test_an_interval_is_open_on_the_left_to_the_last_digit() -> None:
    thin = (50.0, math.nextafter(50.0, 51))
    assert AGE.draw(Ones(), 1, thin).tolist() == [thin[1]]
    assert AGE.draw(Ones(), 1, None)[0] > 18


@pytest.mark.parametrize(
    ("feature", "left", "message"),
    [
        (SEEN, (21.0, 30.0), "nothing can be drawn in (21.0, 30.0]: no value was observed there"),
        (AGE, (90.0, 95.0), "nothing can be drawn in (90.0, 95.0]: it has probability 0"),
    ],
)
def test_nothing_is_drawn_where_nothing_is(feature: ft.Numeric, left: tuple[float, float], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        feature.draw(lane(), 5, left)
    assert str(caught.value) == message


def test_a_cut_splits_an_interval() -> None:
    assert AGE.split(AtMost(0, 30.0), None) == ((30, math.inf), (-math.inf, 30))
    assert AGE.split(AtMost(0, 30.0), (20.0, 40.0)) == ((30, 40), (20, 30))
    assert AGE.parts(AtMost(0, 30.0), (30.0, 40.0)) == ((30, 40), None)
    assert AGE.parts(AtMost(0, 40.0), (30.0, 40.0)) == (None, (30, 40))
    assert AGE.parts(AtMost(0, 99.0), (30.0, 40.0)) == (None, (30, 40))


def test_a_cut_outside_splits_nothing() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        AGE.split(AtMost(0, 50.0), (20.0, 40.0))
    assert str(caught.value) == "the test age <= 50 splits nothing of feature 'age' here, where 20 < age <= 40"
    with pytest.raises(ft.ParameterError, match="feature 'age' is numeric, which only x <= t tests; got IsOne"):
        AGE.split(IsOne(0), None)


@pytest.mark.parametrize(
    ("wanted", "values"),
    [((18, 20), [18, 20]), ((19, None), [20, 40]), ((None, 18), [18]), (20, [20]), ([20, 40], [20, 40])],
)
def test_both_ends_that_a_user_names_belong_to_the_region(wanted: object, values: list[int]) -> None:
    assert SEEN.listed(SEEN.restriction(wanted))[0].tolist() == values


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("young", "given['age'] must be a number or a pair (low, high); got 'young'"),
        (None, "given['age'] must be a number or a pair (low, high); got None"),
        ((1, 2, 3), "given['age'] must be a number or a pair (low, high); got (1, 2, 3)"),
        ((1, math.nan), "given['age'] must be a number or a pair (low, high); got (1, nan)"),
        (True, "given['age'] must be a number or a pair (low, high); got True"),
        ((30, 20), "given['age'] must have its low end first; got (30, 20)"),
    ],
)
def test_other_regions_are_refused(wanted: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        AGE.restriction(wanted)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("left", "text"),
    [
        ((18.0, 30.0), "18 < age <= 30"),
        (AGE.restriction((18, 30)), "18 <= age <= 30"),
        ((-math.inf, 30.5), "age <= 30.5"),
        ((30.5, math.inf), "age > 30.5"),
        ((-math.inf, math.inf), "age is any number"),
    ],
)
def test_what_is_left_reads_well(left: tuple[float, float], text: str) -> None:
    assert AGE.text(left) == text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ft.Numeric("x", 2, 1),
            "low and high of feature 'x' must be finite, low below high; got 2 and 1",
        ),
        (lambda: ft.Numeric("x", 0, math.inf), "low and high of feature 'x' must be finite"),
        (lambda: ft.Numeric("x", "a", 1), "low of feature 'x' must be a number; got 'a'"),
        (lambda: ft.Numeric.from_values("x", []), "values of feature 'x' must be a list of at least one number; got"),
        (
            lambda: ft.Numeric.from_values("x", ["a"]),
            "values of feature 'x' must be a list of at least one number; got",
        ),
        (
            lambda: ft.Numeric.from_values("x", [[1]]),
            "values of feature 'x' must be a list of at least one number; got",
        ),
        (lambda: ft.Numeric.from_values("x", [1, math.inf]), "values of feature 'x' must be finite numbers; 1 of 2"),
        (
            lambda: ft.Numeric.from_values("x", [1, -(2**53)]),
            "integers of feature 'x' must be below 2^53 in size; got -",
        ),
        (lambda: ft.Numeric.from_values("x", [1, 2], [1]), "weights of feature 'x' must be one finite number for each"),
        (lambda: ft.Numeric.from_values("x", [1, 2], [0, 0]), "weights of feature 'x' must be one finite number"),
        (lambda: ft.Numeric.from_values("x", [1, 2], [1, -1]), "weights of feature 'x' must be one finite number"),
        (lambda: ft.Numeric.from_quantiles("x", [1]), "quantiles of feature 'x' must rise from level 0 to level 1"),
        (lambda: ft.Numeric.from_quantiles("x", [1, 0]), "quantiles of feature 'x' must rise from level 0 to level 1"),
        (lambda: ft.Numeric.from_quantiles("x", {0: 1, 0.5: 2}), "quantiles of feature 'x' must rise from level 0"),
        (lambda: ft.Numeric.from_quantiles("x", {0: 1, 2: 2}), "level of a quantile of feature 'x' must be a prob"),
    ],
)
def test_what_is_no_marginal(make: Callable[[], ft.Numeric], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_an_interval_cannot_be_listed() -> None:
    with pytest.raises(ft.ParameterError, match="the values between 18 and 90 cannot be listed"):
        AGE.listed(None)


def test_integers_stay_integers() -> None:
    assert SEEN.integer
    assert SEEN.column(np.array([18.0, 40.0])).dtype == np.int64
    assert ft.Numeric.from_values("x", [1.0, 2.0]).column(np.array([1.0])).dtype == np.float64
    assert not AGE.integer


def test_zero_has_no_sign() -> None:
    assert ft.Numeric("x", -0.0, 1) == ft.Numeric("x", 0.0, 1)
    assert ft.Numeric.from_values("x", [-0.0, 1.0]) == ft.Numeric.from_values("x", [0.0, 1.0])
    assert ft.Numeric.from_quantiles("x", [-0.0, 1]) == ft.Numeric.from_quantiles("x", [0.0, 1])


def test_equal_numbers_are_equal() -> None:
    assert ft.Numeric.from_values("age", [18, 18, 20, 40]) == SEEN
    assert hash(ft.Numeric.from_values("age", [18, 18, 20, 40])) == hash(SEEN)
    assert ft.Numeric.from_values("age", [18, 20, 40]) != SEEN
    assert ft.Numeric.from_values("age", [18.0, 18.0, 20.0, 40.0]) != SEEN
    assert ft.Numeric("age", 18, 90) == AGE
    assert AGE != "age"


def test_it_describes_itself() -> None:
    assert AGE.describe() == {
        "kind": "numeric",
        "name": "age",
        "integer": False,
        "edges": [(18.0).hex(), (90.0).hex()],
        "shares": [(1.0).hex()],
    }
    assert SEEN.describe()["values"] == struct.pack("<ddd", 18, 20, 40).hex()
    assert SEEN.describe()["weights"] == struct.pack("<ddd", 2, 1, 1).hex()
    assert repr(AGE) == "Numeric('age', 18, 90)"
    assert repr(SEEN) == "<Numeric 'age': 3 observed values>"
    assert repr(ft.Numeric.from_quantiles("x", [1, 2, 5])) == "<Numeric 'x': 3 quantiles from 1 to 5>"


# --- missing numbers ------------------------------------------------------------------------------------------------

GONE = ft.Numeric("age", 18, 90, missing=0.2)
SOME = ft.Numeric.from_values("rooms", [1, 2, 2, None, math.nan])
EVERYTHING = (-math.inf, math.inf, True)
MISSING = (math.inf, math.inf, True)


def test_a_missing_number_is_in_no_interval() -> None:
    assert GONE.mass(None) == 1
    assert GONE.mass((18, 36)) == 0.8 * 0.25
    assert GONE.mass((18, 36, True)) == 0.8 * 0.25 + 0.2
    assert GONE.mass((-math.inf, math.inf)) == 0.8
    assert GONE.mass(EVERYTHING) == pytest.approx(1)
    assert GONE.mass(MISSING) == 0.2
    assert AGE.mass(MISSING) == 0
    assert (SOME.missing, SOME.points, SOME.integer) == (0.4, 3, True)
    assert SOME.mass((0, 1)) == pytest.approx(0.2)
    for left, values, shares in [
        (None, [1, 2, math.nan], [0.2, 0.4, 0.4]),
        ((1, 5, True), [2, math.nan], [0.5, 0.5]),
        ((1, 5), [2], [1]),
        (MISSING, [math.nan], [1]),
    ]:
        found = SOME.listed(left)
        np.testing.assert_equal(found[0], values)
        np.testing.assert_allclose(found[1], shares)


def test_a_test_has_missing_numbers_on_one_side() -> None:
    below, above = (-math.inf, 30), (30, math.inf)
    assert GONE.parts(AtMost(0, 30, True), None) == (above, (*below, True))
    assert GONE.parts(AtMost(0, 30, False), None) == ((*above, True), below)
    assert GONE.parts(AtMost(0, 30), None) == ((*above, True), below), "unless told they are not at most anything"
    assert GONE.parts(AtMost(0, math.inf, False), None) == (MISSING, (-math.inf, math.inf))
    assert GONE.parts(AtMost(0, 30, True), (40, 50, True)) == ((40, 50), MISSING)
    assert GONE.parts(AtMost(0, 30), below) == (None, below)
    assert AGE.parts(AtMost(0, 30), None) == (above, below), "nothing is said of what cannot be"
    assert AGE.parts(AtMost(0, 30, True), None) == (above, (*below, True))


def test_draws_are_missing_as_often_as_they_should_be() -> None:
    drawn = GONE.draw(lane(), 10_000, None)
    assert 1800 < np.isnan(drawn).sum() < 2200, "ten standard deviations are 400"
    assert np.isnan(GONE.draw(lane(), 10, MISSING)).all()
    assert not np.isnan(GONE.draw(lane(), 100, (20, 30))).any()
    half = GONE.draw(lane(), 10_000, (18, 36, True))
    assert 4500 < np.isnan(half).sum() < 5500
    assert np.nanmax(half) <= 36


def test_conditions_speak_of_missing_numbers_where_there_may_be_some() -> None:
    assert GONE.text((18.0, 30.0, True)) == "18 < age <= 30 or missing"
    assert GONE.text((18.0, 30.0)) == "18 < age <= 30"
    assert GONE.text(MISSING) == "age is missing"
    assert GONE.text((-math.inf, math.inf)) == "age is not missing"
    assert GONE.text(EVERYTHING) == "age is any number or missing"
    assert AGE.text(EVERYTHING) == "age is any number"
    assert [GONE.restriction(wanted) for wanted in (None, math.nan, (None, 30))] == [MISSING, MISSING, (-math.inf, 30)]
    with pytest.raises(ft.ParameterError) as caught:
        GONE.restriction("much")
    assert str(caught.value) == (
        "given['age'] must be a number or a pair (low, high), or None for missing numbers; got 'much'"
    )


def test_a_share_of_missing_numbers_is_part_of_a_feature() -> None:
    assert GONE == AGE.with_missing(0.2) != AGE
    assert GONE.with_missing(0) == AGE
    assert "missing" not in AGE.describe()
    assert GONE.describe()["missing"] == (0.2).hex()
    assert repr(GONE) == "Numeric('age', 18, 90, missing=0.2)"
    assert repr(SOME) == "<Numeric 'rooms': 2 observed values, 40% missing>"
    assert SOME.column(np.array([1.0, math.nan])).dtype == np.float64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AGE.with_missing(1.5), "missing of feature 'age' must be a probability between 0 and 1; got 1.5"),
        (
            lambda: ft.Numeric("age", 0, 1, missing=1),
            "missing of feature 'age' must be below 1; got 1 - leave",
        ),
        (
            lambda: ft.Numeric.from_values("x", [None]),
            "values of feature 'x' must hold a number that can be",
        ),
    ],
)
def test_shares_of_missing_numbers_that_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        make()
    assert str(caught.value).startswith(message)
