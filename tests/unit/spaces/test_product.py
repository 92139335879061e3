"""Product spaces of bits: how they are made, compared, named and refused."""

from __future__ import annotations

import cProfile
import time

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import Boolean


class Colour:
    """A feature that is no bit."""

    name, kind = "colour", "categorical"

    def mass(self, restriction: object) -> float:
        return 1.0


def test_bernoulli_gives_fair_bits_by_default() -> None:
    space = ft.ProductSpace.bernoulli(3)
    assert space.names == ("x0", "x1", "x2")
    assert [feature.p for feature in space] == [0.5] * 3
    assert len(space) == 3


def test_one_bias_for_all_or_one_each() -> None:
    assert ft.ProductSpace.bernoulli(2, 0.3).biases.tolist() == [0.3, 0.3]
    assert ft.ProductSpace.bernoulli(2, [0.1, 1]).biases.tolist() == [0.1, 1.0]
    assert ft.ProductSpace.bernoulli(2, np.array([0.1, 0.2])).biases.tolist() == [0.1, 0.2]
    assert ft.ProductSpace.bernoulli(1, np.float32(0.5)).biases.tolist() == [0.5]


def test_names_may_be_chosen() -> None:
    space = ft.ProductSpace.bernoulli(2, names=["owner", "urban"])
    assert space.index("urban") == 1
    assert space.names == ("owner", "urban")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be at least 1; got 0"),
        ({"n": -3}, "n must be at least 1; got -3"),
        ({"n": 2.5}, "n must be a whole number; got 2.5"),
        ({"n": 3, "p": 1.1}, "p must be a probability between 0 and 1; got 1.1 - did you mean 0.011?"),
        ({"n": 3, "p": -0.5}, "p must be a probability between 0 and 1; got -0.5"),
        ({"n": 3, "p": float("nan")}, "p must be a number; got NaN"),
        ({"n": 3, "p": "fair"}, "p must be a number; got 'fair'"),
        ({"n": 3, "p": None}, "p must be a number; got None"),
        ({"n": 2, "p": [0.5, float("nan")]}, "p[1] must be a number; got NaN"),
        ({"n": 2, "p": [0.5, 2]}, "p[1] must be a probability between 0 and 1; got 2 - did you mean 0.02?"),
        ({"n": 3, "p": [0.5, 0.5]}, "p must be one number or one per bit: n is 3, p has shape (2,)"),
        ({"n": 2, "p": [[0.5, 0.5]]}, "p must be one number or one per bit: n is 2, p has shape (1, 2)"),
        ({"n": 2, "names": ["a"]}, "names must hold one name per bit: n is 2, got 1 names"),
        ({"n": 2, "names": ["a", 7]}, "names must list one name per bit, as text; got 7"),
        ({"n": 2, "names": ["a", "a"]}, "features must have different names; got 'a' more than once"),
    ],
)
def test_bad_arguments_of_bernoulli(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.bernoulli(**arguments)
    assert str(caught.value) == message


def test_biases_that_make_no_array_are_refused() -> None:
    with pytest.raises(ft.ParameterError, match=r"p must be one number or one per bit; got \[array"):
        ft.ProductSpace.bernoulli(2, [np.zeros((2, 2)), np.zeros((2, 3))])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([], "features must hold at least one feature; got none"),
        ([Boolean("a"), "b"], "features must hold features such as Boolean; got 'b' at 1"),
        ([Boolean("a"), Boolean("b"), Boolean("a")], "features must have different names; got 'a' more than once"),
    ],
)
def test_bad_features(features: list[object], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace(features)
    assert str(caught.value) == message


def test_a_feature_refuses_a_name_that_no_file_can_hold() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        Boolean("\udc80")
    message = "name of a feature must be text that UTF-8 can hold; got '\\udc80' - decode its bytes first"
    assert str(caught.value) == message


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.bernoulli(2).index("y")
    assert str(caught.value) == "feature must be one of the space's names (x0, x1); got 'y'"
    with pytest.raises(ft.ParameterError, match=r"names \(x0, x1, x2, x3, x4, x5, x6, x7\); got 'y'"):
        ft.ProductSpace.bernoulli(8).index("y")
    with pytest.raises(ft.ParameterError, match=r"names \(x0, x1, x2, x3, x4, x5, x6, x7, \.\.\.\); got 'y'"):
        ft.ProductSpace.bernoulli(9).index("y")


def test_spaces_are_equal_when_their_features_are() -> None:
    one, same, other = (ft.ProductSpace.bernoulli(2, p) for p in (0.3, 0.3, 0.4))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != (Boolean("x0", 0.3), Boolean("x1", 0.3))
    assert len({one, same, other}) == 2


def test_digest_tells_marginals_and_names_apart() -> None:
    spaces = [
        ft.ProductSpace.bernoulli(2, 0.1),
        ft.ProductSpace.bernoulli(2, np.nextafter(0.1, 1)),
        ft.ProductSpace.bernoulli(2, 0.1, names=["a", "b"]),
        ft.ProductSpace.bernoulli(3, 0.1),
    ]
    assert len({space.digest for space in spaces}) == 4
    assert spaces[0].digest == ft.ProductSpace.bernoulli(2, 0.1).digest


def test_the_digest_is_pinned() -> None:
    """Stored certificates name a space by it."""
    assert (
        ft.ProductSpace.bernoulli(2, 0.1).digest == "d44f9b2d4fa99cd68af7585fb669499f6a812615a878f64a887c37b8db513fc2"
    )


def test_repr_shows_the_first_features_and_how_many_there_are() -> None:
    assert repr(ft.ProductSpace.bernoulli(1, 0.3)) == "ProductSpace([Boolean(name='x0', p=0.3)])  # 1 features"
    assert repr(ft.ProductSpace.bernoulli(50)).endswith(", ...])  # 50 features")


def test_biases_need_bits_only() -> None:
    space = ft.ProductSpace([Boolean("a"), Colour()])
    with pytest.raises(ft.ParameterError) as caught:
        _ = space.biases
    assert str(caught.value) == "space must hold bits only here; feature 'colour' is categorical"


def test_the_number_of_inputs_is_known_where_it_is_finite() -> None:
    assert ft.ProductSpace.bernoulli(5).points == 32
    rooms, job = ft.Numeric.from_values("rooms", [1, 2, 2, 5]), ft.Categorical("job", ["clerk", "nurse"])
    assert ft.ProductSpace([Boolean("owner"), rooms, job]).points == 12
    assert ft.ProductSpace([Boolean("owner"), ft.Numeric("age", 18, 90)]).points is None


def test_one_feature_that_is_no_bit_makes_inner_values_floats() -> None:
    assert ft.ProductSpace.bernoulli(2).dtype == np.uint8
    assert ft.ProductSpace([Boolean("owner"), ft.Categorical("job", ["clerk"])]).dtype == np.float64


def test_digests_tell_mixed_marginals_apart() -> None:
    spaces = [
        ft.ProductSpace([feature])
        for feature in (
            ft.Numeric("x", 0, 1),
            ft.Numeric("x", 0, 2),
            ft.Numeric.from_values("x", [0, 1]),
            ft.Numeric.from_values("x", [0.0, 1.0]),
            ft.Numeric.from_values("x", [0, 1, 1]),
            ft.Categorical("x", [0, 1]),
            ft.Categorical("x", ["0", "1"]),
            ft.Categorical("x", {"0": 0.25, "1": 0.75}),
        )
    ]
    assert len({space.digest for space in spaces}) == len({*spaces}) == len(spaces)


def test_the_digest_of_mixed_features_is_pinned() -> None:
    """Stored certificates name a space by it."""
    space = ft.ProductSpace([Boolean("owner", 0.3), ft.Categorical("job", ["clerk", None]), ft.Numeric("age", 18, 90)])
    assert space.digest == "a60d927763732bf46a2f4bad364a63daa5a9c96e88eeb94a5adc66ce3faa2ad2"


def test_more_bits_than_memory_holds_are_refused_at_once() -> None:
    with pytest.raises(ft.ParameterError, match=r"n must be at most 1,000,000, .*; got 10,000,000"):
        ft.ProductSpace.bernoulli(10_000_000)


def test_a_million_bits_cost_no_more_than_a_few_steps_each() -> None:
    """Work is counted in calls of Python; only what is done to whole numbers is timed, and was quadratic."""
    profile = cProfile.Profile(builtins=False)
    profile.runcall(ft.ProductSpace.bernoulli, 20_000)
    assert sum(entry.callcount for entry in profile.getstats()) < 12 * 20_000
    space = ft.ProductSpace.bernoulli(10**6)
    began = time.process_time()
    assert space.points == 1 << 10**6
    assert time.process_time() - began < 3
    assert space.dtype == np.uint8


def test_one_name_twice_among_many_is_found_in_one_pass() -> None:
    names = [f"x{i}" for i in range(100_000)] + ["x99999"]
    with pytest.raises(ft.ParameterError, match="features must have different names; got 'x99999' more than once"):
        ft.ProductSpace.bernoulli(len(names), names=names)


def test_a_mapping_of_many_columns_is_read_in_one_pass() -> None:
    """Looking each of 20 000 names up among all of them would take a hundred times as long."""
    space = ft.ProductSpace.bernoulli(20_000)
    began = time.process_time()
    assert space.encode({name: [1] for name in space.names}).shape == (1, 20_000)
    assert time.process_time() - began < 3


def test_a_number_that_nobody_can_read_is_a_power_of_ten() -> None:
    def words(features: int) -> str:
        return ft.ProductSpace([ft.Categorical(f"c{i}", list("abcdefghij")) for i in range(features)]).extent

    assert (words(3), words(28)) == ("1,000 inputs", "at least 10^28 inputs")
