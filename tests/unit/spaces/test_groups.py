"""Groups of rows: what a user may give, and that no split parts a group."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.given import world_of
from fidelitree.spaces.groups import Groups, groups_of, numbered, taken_out

WHO = ["a", "b", "a", None, "b", None, "c", "c"]
TABLE = {"age": np.arange(8.0), "who": np.array(WHO, object)}


def some_groups(draw: Any) -> list[int]:
    found: list[int] = draw(st.lists(st.integers(0, 12), min_size=4, max_size=60).filter(lambda all_: len({*all_}) > 1))
    return found


@st.composite
def grouped(draw: Any) -> list[int]:
    return some_groups(draw)


@given(grouped(), st.integers(0, 1 << 40))
def test_a_group_never_stands_on_both_sides_and_tests_once(codes: list[int], seed: int) -> None:
    rows = ft.Rows({"x": np.arange(len(codes))}, groups=codes)
    growing, testing = rows.places(seed)
    who = np.array(codes)
    assert not {*who[growing]} & {*who[testing]}
    assert len({*who[testing]}) == len(testing) == len({*codes}) // 2
    left = ~np.isin(who, who[testing])
    assert sorted(growing) == np.flatnonzero(left).tolist(), "all rows of a group that teaches teach"


@given(grouped())
def test_neither_do_halves_nor_quarters(codes: list[int]) -> None:
    table = {"x": np.arange(len(codes))}
    groups = groups_of(codes, len(codes))
    who = np.array(codes)
    pieces = groups.pieces(Stream("some"), 4)
    assert sorted(np.concatenate(pieces)) == list(range(len(codes)))
    seen = [{*who[piece]} for piece in pieces]
    assert sum(map(len, seen)) == len({*codes})
    world = world_of(table, codes)
    assert world.kept is not None
    kept = world.kept.inner[:, 0].astype(int)
    assert len({*who[kept]}) == len(kept) == len({*codes}) // 2
    fitted = {value for value in range(len(codes)) if who[value] not in {*who[kept]}}
    assert {*world.product.features[0].listed(None)[0].astype(int)} == fitted


@given(grouped(), st.integers(0, 1 << 20))
def test_an_audit_and_a_blend_keep_to_it(codes: list[int], seed: int) -> None:
    table, who = {"x": np.arange(len(codes))}, np.array(codes)
    shuffled = ft.Rows(table, groups=codes).shuffled(Stream.named(seed, "certify"))[:, 0].astype(int)
    assert sorted(who[shuffled]) == sorted({*codes})
    near = ft.Rows(table, blend=0.5, groups=codes)
    learnt, tested = near.apart(seed)
    assert not {*who[learnt.inner[:, 0].astype(int)]} & {*who[tested.inner[:, 0].astype(int)]}


def test_groups_of_all_sizes_are_tested_equally_often() -> None:
    """One group of 200 rows among 19 single ones: were groups ordered by their rows, it would always test first."""
    codes = [0] * 200 + list(range(1, 20))
    rows = ft.Rows({"x": np.arange(len(codes))}, groups=codes)
    tested = [rows.places(seed)[1] for seed in range(400)]
    hits = sum((places < 200).any() for places in tested)
    assert 150 <= hits <= 240, "9 of 20 groups test: 180 expected; outside with probability 1e-3"
    first = sum(rows.shuffled(Stream.named(seed, "certify"))[0, 0] < 200 for seed in range(400))
    assert first <= 45, "1 in 20 is expected: 20; more with probability 1e-6"


def test_without_groups_nothing_is_split_otherwise() -> None:
    assert ft.Rows({"x": np.arange(8)}).places(5)[1].tolist() == ft.Rows({"x": np.arange(8)}).places(5)[1].tolist()
    assert ft.Rows({"x": np.arange(8)}).groups is None
    order = np.argsort(Stream.named(5, "rows").lane(0, 0).random_raw(8), kind="stable")
    assert ft.Rows({"x": np.arange(8)}).places(5)[1].tolist() == order[:4].tolist()


@pytest.mark.parametrize(
    "entries",
    [
        WHO,
        tuple(WHO),
        np.array(WHO, object),
        pd.Series(WHO, index=range(100, 108)),
        pl.Series(WHO),
        pa.chunked_array([WHO]),
        [("x", 1), ("x", 2), ("x", 1), float("nan"), ("x", 2), None, 7, 7],
        [1, 2, 1, np.nan, 2, np.nan, 3, 3],
        pd.to_datetime(pd.Series(["2020", "2021", "2020", None, "2021", None, "2022", "2022"])),
        [pd.Timestamp("2020"), "b", pd.Timestamp("2020"), pd.NaT, "b", pd.NaT, "c", "c"],
    ],
    ids=["list", "tuple", "array", "pandas", "polars", "arrow", "tuples", "numbers", "dates", "NaT"],
)
def test_any_entries_will_do_and_a_missing_one_is_its_own_group(entries: Any) -> None:
    assert groups_of(entries, 8).codes.tolist() == [0, 1, 0, 2, 1, 3, 4, 4]


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["dict", "pandas", "polars", "arrow"]
)
def test_a_named_column_is_no_feature(make: Any) -> None:
    table = make({"age": list(range(8)), "who": WHO})
    rows = ft.Rows(table, groups="who")
    assert rows.names == ("age",)
    assert rows.groups is not None
    assert rows.groups.codes.tolist() == [0, 1, 0, 2, 1, 3, 4, 4]
    assert world_of(table, "who").names == ("age",)
    assert ft.ChowLiu.from_data(table, groups="who").names == ("age",)
    assert ft.Mixture.from_data(table, groups="who").names == ("age",)
    both = ft.Rows(table, groups=WHO)
    assert both.names == ("age", "who"), "the way out: the values, not the name"


@pytest.mark.parametrize(
    ("table", "groups", "said"),
    [
        (TABLE, "whom", "groups must name a column of the table (age, who); got 'whom'"),
        (TABLE, WHO[:7], "groups must have one entry for each of the 8 rows; got 7"),
        (TABLE, np.zeros((8, 2)), "groups must be a 1-D array; got shape (8, 2)"),
        (TABLE, [[1]] * 8, "groups must hold values that can be told apart, such as texts or numbers"),
        (TABLE, ["a"] * 8, "groups must name at least 2 groups, one to learn from and one to test with; all 8 rows"),
        (TABLE, 3, "groups must list entries, one for each row, or the name of a column; got 3"),
        (np.zeros((8, 2)), "x0", "groups must be an array with an entry for each row where the table is a 2-D array"),
    ],
)
def test_what_cannot_be_groups_is_refused_with_the_way_out(table: Any, groups: Any, said: str) -> None:
    for door in (ft.Rows, ft.ChowLiu.from_data, ft.Mixture.from_data):
        with pytest.raises(ft.ParameterError) as refused:
            door(table, groups=groups)
        assert said in str(refused.value)


def test_a_space_has_no_groups() -> None:
    for space in (ft.ProductSpace.bernoulli(3), ft.Rows(TABLE, groups="who"), None):
        with pytest.raises(ft.ParameterError, match="groups must be left out where the space is no table"):
            world_of(space, WHO)


def test_a_blend_of_one_group_is_refused() -> None:
    stored = ft.Rows(TABLE, blend=0.2, groups="who").to_dict()
    stored["rows"]["groups"] = Groups(np.zeros(8, np.intp)).to_dict()
    with pytest.raises(ft.FormatError, match="blend needs at least 2 groups of rows"):
        ft.Rows.from_dict(stored)


def test_stored_rows_keep_their_groups_and_no_names() -> None:
    rows = ft.Rows(TABLE, groups="who")
    again = ft.Rows.from_dict(copy.deepcopy(rows.to_dict()))
    assert (again.digest, again.places(3)[1].tolist()) == (rows.digest, rows.places(3)[1].tolist())
    plain = {"age": TABLE["age"]}
    digests = {ft.Rows(plain).digest, rows.digest, ft.Rows(plain, groups=[1, 1, 2, 2, 3, 3, 4, 4]).digest}
    assert len(digests) == 3
    assert "groups" not in ft.Rows(plain).to_dict()["rows"], "as before, without groups"
    world = world_of(TABLE, "who")
    assert isinstance(world, ft.ChowLiu)
    kept = ft.ChowLiu.from_dict(world.to_dict()).kept
    assert kept is not None
    assert kept.counted == "groups"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(equal=3),
        lambda data: data.update(packed="x"),
        lambda data: data.update(more=1),
        lambda data: data.pop("equal"),
        lambda data: data.update(packed=Groups(np.arange(7)).to_dict()["packed"]),
        lambda data: data.update(packed=Groups(np.arange(9)).to_dict()["packed"]),
        lambda data: data.update(packed=Groups(np.arange(8)[::-1]).to_dict()["packed"]),
        lambda data: data.update(packed=Groups(np.full(8, 1 << 31)).to_dict()["packed"]),
    ],
)
def test_damaged_groups_are_refused(change: Any) -> None:
    stored = ft.Rows(TABLE, groups="who").to_dict()
    change(stored["rows"]["groups"])
    with pytest.raises(ft.FormatError, match="groups"):
        ft.Rows.from_dict(stored)


def test_numbers_are_those_of_first_appearance() -> None:
    assert numbered(np.array([7, 3, 7, 1])).tolist() == [0, 1, 0, 2]
    assert taken_out(TABLE, None) == (TABLE, None)


def test_the_assumption_says_what_is_independent() -> None:
    plain = {"age": TABLE["age"]}
    assert ft.Rows(plain).assumes[1] == "the rows are independent of each other"
    assert "one of its rows" in ft.Rows(plain, groups=WHO).assumes[1]
    assert ft.Rows(plain, groups=WHO).assumes[2] == "the target was not fitted to them"
    assert repr(ft.Rows(plain, groups=WHO)) == "<Rows: 8 rows in 5 groups of 1 features>"
