"""A bit: its mass, how it is drawn, restricted and split."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fidelitree.errors import ParameterError
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import AtMost, Boolean, IsOne


def lane(number: int = 0) -> np.random.BitGenerator:
    return Stream.named(0, "test").lane(number, 0)


def test_masses_of_a_bit() -> None:
    bit = Boolean("x", 0.3)
    assert bit.mass(None) == 1
    assert bit.mass(1) == 0.3
    assert bit.mass(0) == 1 - 0.3


@pytest.mark.parametrize(("p", "value"), [(0.0, 0), (1.0, 1)])
def test_a_certain_bit_is_always_drawn_alike(p: float, value: int) -> None:
    assert (Boolean("x", p).draw(lane(), 10_000, None) == value).all()


@pytest.mark.parametrize("restriction", [0, 1])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_a_restricted_bit_has_the_value_that_is_left(p: float, restriction: int) -> None:
    drawn = Boolean("x", p).draw(lane(), 100, restriction)
    assert drawn.dtype == np.uint8
    assert drawn.tolist() == [restriction] * 100


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1000])
def test_as_many_rows_are_drawn_as_were_asked_for(rows: int) -> None:
    drawn = Boolean("x", 0.3).draw(lane(), rows, None)
    assert drawn.shape == (rows,)
    assert set(drawn.tolist()) <= {0, 1}


class TwoDraws:
    """Random bits that are set by hand: first the bytes of all rows, then the low bits of those that tie."""

    def __init__(self, octets: list[int], low: int) -> None:
        self._answers = [np.array(octets, np.uint8).view(np.uint64), low]

    def random_raw(self, size: int) -> np.ndarray:
        answer = self._answers.pop(0)
        return answer if isinstance(answer, np.ndarray) else np.full(size, answer << 19, np.uint64)


@pytest.mark.parametrize("p", [0.3, 0.5, 1 / 256, 0.999, math.nextafter(0.25, 1), 2.0**-53, math.nextafter(1, 0)])
def test_draw_compares_a_53_bit_uniform_with_p(p: float) -> None:
    """The first byte decides, or the other 45 bits where it ties: exactly (byte, low) / 2^53 < p."""
    octets = [0, 1, 64, 76, 77, 127, 128, 255]
    for low in (0, 1, 2**44, 2**45 - 1):
        drawn = Boolean("x", p).draw(TwoDraws(octets, low), 8, None)
        assert drawn.tolist() == [int(((octet << 45) + low) / 2**53 < p) for octet in octets]


def test_a_bit_splits_once() -> None:
    bit = Boolean("owner", 0.3)
    assert bit.split(IsOne(0), None) == (0, 1)
    with pytest.raises(ParameterError, match="feature 'owner' is already fixed to 1 here; it cannot split again"):
        bit.split(IsOne(0), 1)


def test_a_bit_is_tested_for_one_only() -> None:
    with pytest.raises(ParameterError) as caught:
        Boolean("owner").parts(AtMost(0, 0.5), None)
    assert str(caught.value) == ("feature 'owner' is a bit, which only x = 1 tests; got AtMost(feature=0, cut=0.5)")


@pytest.mark.parametrize(("left", "parts"), [(None, (0, 1)), (0, (0, None)), (1, (None, 1))])
def test_what_a_test_leaves_of_a_bit(left: int | None, parts: tuple[object, object]) -> None:
    assert Boolean("owner").parts(IsOne(0), left) == parts


def test_a_bit_lists_what_is_left_of_it() -> None:
    assert [part.tolist() for part in Boolean("x", 0.25).listed(None)] == [[0, 1], [0.75, 0.25]]
    assert [part.tolist() for part in Boolean("x", 0.25).listed(0)] == [[0], [1]]
    assert Boolean("x").points == 2


@pytest.mark.parametrize(("wanted", "left"), [(0, 0), (1, 1), (True, 1), (np.int64(0), 0), (np.True_, 1)])
def test_a_user_may_name_the_value_in_many_ways(wanted: object, left: int) -> None:
    assert Boolean("x").restriction(wanted) == left


@pytest.mark.parametrize("wanted", [2, -1, 0.0, "1", None, (0, 1)])
def test_other_values_are_refused(wanted: object) -> None:
    with pytest.raises(ParameterError) as caught:
        Boolean("owner").restriction(wanted)
    assert str(caught.value) == f"given['owner'] must be 0 or 1; got {wanted!r}"


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (1.5, "p of feature 'x' must be a probability between 0 and 1; got 1.5 - did you mean 0.015?"),
        (-0.1, "p of feature 'x' must be a probability between 0 and 1; got -0.1"),
        (math.nan, "p of feature 'x' must be a number; got NaN"),
        ("half", "p of feature 'x' must be a number; got 'half'"),
    ],
)
def test_p_must_be_a_probability(p: object, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Boolean("x", p)
    assert str(caught.value) == message


def test_a_bit_describes_itself() -> None:
    assert Boolean("x", 0.1).describe() == {"kind": "boolean", "name": "x", "p": (0.1).hex()}
    assert Boolean("owner").text(1) == "owner = 1"
    assert Boolean("x").column(np.array([0.0, 1.0])).dtype == np.uint8
