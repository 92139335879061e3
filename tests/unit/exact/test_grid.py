"""The grid of a finite space: which tests it finds best, and how it orders many categories."""

from __future__ import annotations

import numpy as np

import fidelitree as ft
from fidelitree.exact.cells import ALL_SUBSETS
from fidelitree.exact.grid import GridSubfunction
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.spaces.region import Region


def grid(space: ft.ProductSpace, answer: object, given: dict[str, object] | None = None) -> GridSubfunction:
    region = Region.of(space, given)
    answers = np.array([answer(*row) for row in region.inputs(0, region.points).tolist()])
    labels = sorted(set(answers.tolist()))
    return GridSubfunction(region, np.searchsorted(labels, answers), labels)


SPACE = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.25),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.25, "pilot": 0.25, "never": 0.0}),
        ft.Numeric.from_values("rooms", [1, 2, 4, 8]),
    ]
)


def test_the_best_test_of_a_number_is_the_cut_where_labels_change() -> None:
    splits = grid(SPACE, lambda owner, job, rooms: int(rooms > 2)).splits()
    assert splits.drops.tolist() == [0, 0, 0.5]
    assert splits.tests[2] == AtMost(2, 3.0)


def test_the_best_test_of_a_category_is_the_set_that_has_the_label() -> None:
    splits = grid(SPACE, lambda owner, job, rooms: int(job in (1, 2))).splits()
    assert splits.drops.tolist() == [0, 0.5, 0]
    assert splits.tests[1] == IsIn(1, frozenset({0})), "of a set and its complement the one without the last value"


def test_a_bit_has_one_test_and_its_drop_is_its_influence() -> None:
    both = grid(SPACE, lambda owner, job, rooms: int(owner))
    assert both.splits().drops.tolist() == both.influences().tolist() == [0.375, 0, 0]
    assert both.splits().tests[0] == IsOne(0)


def test_values_of_probability_0_part_nothing() -> None:
    assert grid(SPACE, lambda owner, job, rooms: int(job == 3)).splits().drops.tolist() == [0, 0, 0]


def test_inside_a_region_only_what_is_left_counts() -> None:
    inside = grid(SPACE, lambda owner, job, rooms: int(rooms > 2), {"rooms": (4, 8), "job": {"nurse", "pilot"}})
    assert inside.influences().tolist() == [0, 0, 0]
    assert inside.labels == [1]
    again = grid(SPACE, lambda owner, job, rooms: int(rooms > 2), {"rooms": (1, 4)})
    assert again.splits().tests[2] == AtMost(2, 3.0)


def test_many_categories_are_ordered_and_the_right_set_is_found() -> None:
    space = ft.ProductSpace([ft.Categorical("x", range(ALL_SUBSETS + 10)), ft.Boolean("y")])
    members = {1, 4, 5, 9, 12, 18}
    splits = grid(space, lambda x, y: int(x in members)).splits()
    test = splits.tests[0]
    assert {frozenset(members), frozenset(range(20)) - members} >= {test.codes}
    one = grid(space, lambda x, y: int(x == 7)).splits().tests[0]
    assert one.codes in (frozenset({7}), frozenset(range(20)) - {7})


def test_one_value_that_is_left_has_no_test() -> None:
    space = ft.ProductSpace([ft.Categorical("x", ["only"]), ft.Numeric.from_values("y", [3]), ft.Boolean("z")])
    assert grid(space, lambda x, y, z: int(z)).splits().drops.tolist() == [0, 0, 0.5]
