"""Equal rows: kept together where there are more of them than chance explains, with a warning."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.copies import copied, numbers_of_rows
from fidelitree.spaces.given import world_of


def columns(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"a": rng.random(rows), "b": rng.integers(0, 50, rows), "c": rng.choice(["x", "y", "z"], rows)}


def repeated(table: dict[str, Any], times: int) -> dict[str, Any]:
    return {name: np.repeat(column, times) for name, column in table.items()}


def shares(table: Any) -> tuple[float, float] | None:
    space = ft.ProductSpace.from_data(table)
    return copied(space, space.encode(table))


def test_copies_are_kept_together_with_a_warning_that_says_what_was_done() -> None:
    table = repeated(columns(60), 30)
    with pytest.warns(ft.CopiedRowsWarning) as caught:
        rows = ft.Rows(table)
    said = str(caught[0].message)
    assert said.startswith("100% of test rows equal a row that teaches; among rows drawn from a distribution fitted to")
    assert "So equal rows were kept together, and each different row counts once" in said
    assert 'name their column: groups="person"' in said
    assert "make each row a group: groups=range(1800)" in said
    assert caught[0].filename == __file__
    assert rows.groups is not None
    assert (rows.groups.count, rows.counted, rows.tests) == (60, "equal", 60)
    assert rows.assumes[1] == (
        "different rows are independent of each other, and each counts once, however often it is repeated"
    )
    parts = rows.parts(0)
    assert (len(parts.testing), len(parts.growing)) == (30, 900)
    assert not {*map(bytes, parts.testing)} & {*map(bytes, parts.growing)}


def test_so_they_are_where_a_table_is_given() -> None:
    with pytest.warns(ft.CopiedRowsWarning):
        world = world_of(repeated(columns(60), 30))
    assert world.kept is not None
    assert (world.kept.count, world.kept.counted) == (30, "equal")


@pytest.mark.filterwarnings("ignore:column 'key' has 1,800 different texts")
@pytest.mark.parametrize("ids", ["numbers", "texts", "both", "fractions"])
def test_copies_are_found_behind_columns_of_different_values(ids: str) -> None:
    """Four of four bounds over such a table were false, without a word."""
    table: dict[str, Any] = repeated(columns(60), 30)
    if ids in {"numbers", "both"}:
        table["visit"] = np.arange(1_800)
    if ids in {"texts", "both"}:
        table["key"] = [f"id{k}" for k in range(1_800)]
    if ids == "fractions":
        table["stamp"] = np.random.default_rng(5).random(1_800)
    with pytest.warns(
        ft.CopiedRowsWarning, match=r"teaches but for (visit|key|visit and key|stamp), whose values are all"
    ):
        rows = ft.Rows(table)
    assert rows.groups is not None
    assert (rows.groups.count, rows.counted) == (60, "equal")
    with pytest.warns(ft.CopiedRowsWarning, match="whose values are all different"):
        assert world_of(table).kept is not None


def test_rows_with_numbers_that_repeat_by_nature_are_left_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ft.CopiedRowsWarning)
        rng = np.random.default_rng(1)
        assert ft.Rows(columns(2_000) | {"id": np.arange(2_000)}).groups is None
        assert ft.Rows({"a": rng.random(500) < 0.5, "b": rng.random(500) < 0.1, "id": np.arange(500)}).groups is None
        assert ft.Rows({"a": rng.random(500), "b": rng.random(500)}).groups is None
        assert ft.Rows({"id": np.arange(50)}).groups is None


def test_a_column_that_parts_equal_rows_is_doubted_and_left_as_it_is() -> None:
    table = repeated(columns(60), 30) | {"visit": np.arange(1_800), "half": np.arange(1_800) // 7}
    for groups, count in (("visit", 1_800), ("half", 258)):
        with pytest.warns(ft.CopiedRowsWarning, match="equal a row of another group that teaches") as caught:
            rows = ft.Rows({name: table[name] for name in ("a", "b", "c", groups)}, groups=groups)
        assert len(caught) == 1
        assert rows.groups is not None
        assert (rows.groups.count, rows.counted) == (count, "groups")
        with pytest.warns(ft.CopiedRowsWarning, match="The groups were left as they are"):
            world_of({name: table[name] for name in ("a", "b", "c", groups)}, groups)


def test_ways_out_are_taken_without_a_word() -> None:
    table = repeated(columns(60), 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ft.Rows(table, groups=range(1800)).tests == 1800
        assert ft.Rows(table, groups=np.repeat(np.arange(30), 60)).tests == 30


@pytest.mark.parametrize(
    "table",
    [
        columns(2_000),
        {"a": np.arange(500) % 2 == 0, "b": np.arange(500) % 3 == 0},
        np.random.default_rng(0).random((400, 12)) < 0.5,
        np.random.default_rng(0).random((400, 4)) < 0.1,
        repeated(columns(20), 1) | {"a": np.repeat(columns(2)["a"], 10)},
        {"a": [1, 1, 2, 2]},
    ],
    ids=["numbers", "two bits", "wide bits", "rare bits", "small", "four rows"],
)
def test_rows_that_repeat_by_nature_are_left_alone(table: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ft.CopiedRowsWarning)
        assert ft.Rows(table).groups is None


@pytest.mark.parametrize("times", [2, 3, 5, 10])
@pytest.mark.parametrize("rows", [60, 250])
def test_each_row_a_few_times_is_seen(rows: int, times: int) -> None:
    found = shares(repeated(columns(rows), times))
    assert found is not None
    share, chance = found
    assert share > 0.3
    assert chance < 0.1


def test_a_few_copies_do_little_harm() -> None:
    table = columns(1_000)
    some = {name: np.concatenate([column, column[:50]]) for name, column in table.items()}
    assert shares(some) is None
    many = {name: np.concatenate([column, column[:300]]) for name, column in table.items()}
    assert shares(many) is not None


def test_too_many_categories_for_a_tree_are_taken_as_independent() -> None:
    names = [f"n{i}" for i in range(7_000)]
    table = {"name": names * 2, "age": list(range(7_000)) * 2}
    space = ft.ProductSpace.from_data(table, categorical=["name"])
    found = copied(space, space.encode(table))
    assert found is not None
    assert found[0] > 0.4


@pytest.mark.parametrize("kind", [np.uint8, np.float64])
@pytest.mark.parametrize("width", [1, 7, 8, 9, 64, 65, 200])
def test_equal_rows_have_one_number(kind: Any, width: int) -> None:
    rows = (np.random.default_rng(width).random((300, width)) < 0.5).astype(kind)
    if kind is np.float64:
        rows[0, 0], rows[1, 0] = 0.0, -0.0
        rows[1, 1:] = rows[0, 1:]
    _, expected = np.unique(rows, axis=0, return_inverse=True)
    found = numbers_of_rows(np.asfortranarray(rows))
    assert np.array_equal(found[:, None] == found, expected.ravel()[:, None] == expected.ravel())


def test_missing_numbers_are_equal() -> None:
    rows = np.array([[np.nan, 1.0], [-np.nan, 1.0], [2.0, np.nan]])
    found = numbers_of_rows(rows)
    assert found[0] == found[1] != found[2]


def test_it_costs_little_beside_reading_a_table() -> None:
    rng = np.random.default_rng(0)
    table = {f"f{i}": rng.random(200_000) for i in range(8)}
    space = ft.ProductSpace.from_data(table)
    inner = space.encode(table)
    began = time.process_time()
    assert copied(space, inner) is None
    assert time.process_time() - began < 2
