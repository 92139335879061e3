"""Regions: what a user names, what a split leaves."""

from __future__ import annotations

from unittest.mock import ANY

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.spaces.region import Region

SPACE = ft.ProductSpace.bernoulli(4, [0.1, 0.2, 0.3, 0.0])


def test_the_whole_space_has_mass_one_and_no_restriction() -> None:
    whole = SPACE.whole
    assert (whole.mass, whole.depth, str(whole)) == (1.0, 0, "----")
    assert whole.free() == [0, 1, 2, 3]


def test_a_user_names_features_and_values() -> None:
    region = Region.of(SPACE, {"x2": 0, "x0": True})
    assert str(region) == "1-0-"
    assert region.mass == pytest.approx(0.1 * 0.7)
    assert region.free() == [1, 3]
    assert region.depth == 2


def test_nothing_given_is_the_whole_space() -> None:
    assert Region.of(SPACE, None) == Region.of(SPACE, {}) == SPACE.whole


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": 1}, "feature must be one of the space's names (x0, x1, x2, x3); got 'y'"),
        ({0: 1}, "feature must be one of the space's names (x0, x1, x2, x3); got 0"),
        ({"x1": 2}, "given['x1'] must be 0 or 1; got 2"),
        ({"x1": (0, 1)}, "given['x1'] must be 0 or 1; got (0, 1)"),
        ({"x1": float("nan")}, "given['x1'] must be 0 or 1; got nan"),
        (["x1"], "given must map feature names to values, as in {'x3': 1}; got ['x1']"),
    ],
)
def test_bad_regions_are_refused(given: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        Region.of(SPACE, given)
    assert str(caught.value) == message


def test_split_gives_the_no_side_and_the_yes_side() -> None:
    no, yes = Region.of(SPACE, {"x0": 1}).split(IsOne(2))
    assert (str(no), str(yes)) == ("1-0-", "1-1-")
    assert no.mass == pytest.approx(0.1 * 0.7)
    assert yes.mass == pytest.approx(0.1 * 0.3)
    assert list(yes.restrictions) == [0, 2], "in the order they were met"


def test_a_region_cannot_be_split_twice_by_the_same_bit() -> None:
    with pytest.raises(ft.ParameterError, match="feature 'x0' is already fixed to 1 here; it cannot split again"):
        Region.of(SPACE, {"x0": 1}).split(IsOne(0))


def test_a_region_may_have_no_mass() -> None:
    no, yes = SPACE.whole.split(IsOne(3))
    assert (no.mass, yes.mass) == (1.0, 0.0)


def test_the_order_of_restrictions_does_not_matter_for_equality() -> None:
    one, two = Region.of(SPACE, {"x0": 1, "x1": 0}), Region.of(SPACE, {"x1": 0, "x0": 1})
    assert one == two
    assert hash(one) == hash(two)
    assert one != Region.of(SPACE, {"x0": 1, "x1": 1})
    assert one != "10--"
    assert one == ANY, "what a region does not know is asked"
    assert one != Region.of(ft.ProductSpace.bernoulli(4), {"x0": 1, "x1": 0})


def test_tests_are_the_free_features_lowest_first() -> None:
    assert Region.of(SPACE, {"x1": 0}).tests() == [IsOne(0), IsOne(2), IsOne(3)]


def test_a_region_of_bits_has_two_inputs_for_each_that_is_free() -> None:
    assert SPACE.whole.points == 16
    assert Region.of(SPACE, {"x0": 1, "x3": 0}).points == 4


MIXED = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.5),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.25, "pilot": 0.25}),
        ft.Numeric("age", 18, 90),
    ]
)


def test_a_user_names_bits_categories_and_intervals() -> None:
    region = Region.of(MIXED, {"age": (18, 36), "job": {"nurse", "clerk"}, "owner": 1})
    assert str(region) == "owner = 1 and job in {clerk, nurse} and 18 <= age <= 36"
    assert region.mass == 0.5 * 0.75 * 0.25
    assert str(MIXED.whole) == "all inputs"
    assert hash(region) == hash(Region.of(MIXED, {"owner": 1, "job": ["clerk", "nurse"], "age": (18, 36)}))


def test_any_test_splits_a_region() -> None:
    no, yes = MIXED.whole.split(AtMost(2, 36.0))
    assert (no.mass, yes.mass) == (0.75, 0.25)
    assert str(no.split(IsIn(1, frozenset({1})))[1]) == "job = nurse and age > 36"


def test_parts_of_a_region_may_be_nothing() -> None:
    region = Region.of(MIXED, {"age": (20, 30)})
    assert region.parts(AtMost(2, 40.0)) == (None, region)
    assert region.parts(IsOne(0)) == region.split(IsOne(0))


def test_a_finite_region_has_the_product_of_what_is_left() -> None:
    finite = ft.ProductSpace([*MIXED.features[:2], ft.Numeric.from_values("children", [0, 0, 1, 2, 3])])
    assert finite.whole.points == 2 * 3 * 4
    assert Region.of(finite, {"job": {"clerk", "nurse"}, "children": (1, 3)}).points == 2 * 2 * 3
    assert MIXED.whole.points is None


def test_only_bits_are_split_by_themselves() -> None:
    assert MIXED.whole.tests() == [IsOne(0)]


def test_a_region_of_bits_lists_its_inputs_as_bytes() -> None:
    listed = Region.of(ft.ProductSpace.bernoulli(3), {"x1": 1}).inputs(0, 4)
    assert listed.dtype == np.uint8
    assert listed.tolist() == [[0, 1, 0], [1, 1, 0], [0, 1, 1], [1, 1, 1]]


def test_a_region_says_which_inputs_lie_in_it() -> None:
    space = ft.ProductSpace([ft.Numeric("age", 18, 90, missing=0.1), ft.Boolean("owner")])
    inner = np.array([[20.0, 1], [50.0, 1], [np.nan, 1], [18.0, 0]])
    no, yes = space.whole.split(AtMost(0, 40, missing=True))
    assert yes.contains(inner).tolist() == [True, False, True, True]
    assert no.contains(inner).tolist() == [False, True, False, False]
    no, yes = space.whole.split(AtMost(0, 40))
    assert yes.contains(inner).tolist() == [True, False, False, True]
    assert no.contains(inner).tolist() == [False, True, True, False]
    assert yes.split(IsOne(1))[1].contains(inner).tolist() == [True, False, False, False]
