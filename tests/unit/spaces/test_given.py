"""A table in the place of a space: which half is fitted, which is kept, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fidelitree as ft
from fidelitree.spaces.given import ASSUMES_HALF, world_of


def table(rows: int = 200) -> pd.DataFrame:
    random = np.random.default_rng(0)
    age = random.integers(18, 90, rows)
    return pd.DataFrame(
        {
            "age": age,
            "owner": random.random(rows) < age / 100,
            "job": random.choice(["nurse", "clerk", "pilot"], rows),
        }
    )


def test_a_world_is_itself() -> None:
    for world in (ft.ProductSpace.bernoulli(3), ft.Rows(table()), ft.ChowLiu.from_data(table())):
        assert world_of(world) is world


@pytest.mark.parametrize("form", [table(), {name: table()[name].to_numpy() for name in table()}])
def test_every_row_is_in_one_half(form: Any) -> None:
    world = world_of(form)
    assert isinstance(world, ft.ChowLiu)
    assert world.assumes == (ASSUMES_HALF,)
    assert world.kept is not None
    assert world.kept.count == 100
    drawn = world.product.features[0].listed(None)
    fitted = np.repeat(drawn[0], np.round(drawn[1] * 100).astype(int))
    assert np.sort(np.concatenate([fitted, world.kept.inner[:, 0]])).tolist() == sorted(table()["age"])


def test_a_world_of_few_rows_says_so_in_what_it_assumes() -> None:
    assert world_of(table(60)).assumes == (ASSUMES_HALF,)
    assert world_of(table(5)).assumes == (f"{ASSUMES_HALF}, which is only 3 rows: too few to stand for others",)


def test_kept_rows_are_in_random_order_and_the_same_each_time() -> None:
    ordered = {"place": np.arange(1_000)}
    kept = world_of(ordered).kept
    assert kept is not None
    assert 300 < np.median(kept.inner[:50]) < 700
    assert world_of(ordered).digest == world_of(ordered).digest
    assert world_of({"place": np.arange(1_001)}).digest != world_of(ordered).digest


@pytest.mark.parametrize("form", [
    pd.DataFrame({"age": pd.array([31, 35, None] * 40, "Int64")}),
    pl.DataFrame({"age": [31, 35, None] * 40}),
    pa.table({"age": [31, 35, None] * 40}),
    {"age": np.array([31, 35, None] * 40, object)},
])  # fmt: skip
def test_whole_numbers_with_gaps_stay_whole(form: Any) -> None:
    """A number that is missing in a column of integers is missing in both halves, and in what is drawn."""
    world = world_of(form)
    age = world.features[0]
    assert isinstance(age, ft.Numeric)
    assert age.integer
    assert world.kept is not None
    assert age.missing * 60 + np.isnan(world.kept.inner).sum() == pytest.approx(40)
    drawn = world.draw(50)["age"]
    assert drawn.type == pa.int64() if isinstance(form, pa.Table) else drawn.dtype == form["age"].dtype
    assert np.isnan(world.product.encode(world.draw(50))).any()


@pytest.mark.filterwarnings("ignore:column 'name' has 40 different texts")
def test_categories_of_the_kept_half_are_known_though_they_are_not_drawn() -> None:
    world = world_of({"name": [f"n{i}" for i in range(40)]})
    assert len(world.features[0].values or ()) == 40
    assert sum(world.features[0].mass(frozenset({code})) > 0 for code in range(40)) == 20
    assert world.kept is not None
    names = world.kept.batch(world.kept.inner)["name"]
    assert not set(names.tolist()) & set(world.draw(500)["name"].tolist())


def test_an_array_is_a_table() -> None:
    assert world_of(np.random.default_rng(0).random((30, 2))).names == ("x0", "x1")


@pytest.mark.parametrize("odd", [None, 3, "space", [1, 2], np.zeros(3)])
def test_what_is_neither_is_refused(odd: Any) -> None:
    with pytest.raises(ft.ParameterError, match="space must be a ProductSpace"):
        world_of(odd)


def test_one_row_is_too_few() -> None:
    with pytest.raises(ft.ParameterError, match="at least 2 rows, one to fit and one to keep; got 1"):
        world_of({"a": [1]})


def test_a_thousand_numbers_are_taken() -> None:
    found = ft.frontier(lambda rows: rows[:, 7] > 0.5, np.random.default_rng(0).random((60, 1_000)), max_queries=200)
    assert len(found.knee.space.product) == 1_000


@pytest.mark.parametrize("kind", ["array", "dict", "pandas"])
def test_too_many_columns_are_refused_before_any_is_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.spaces.given.ProductSpace.from_data", None)
    rows = np.random.default_rng(0).random((200, 3_001))
    names = [f"n{i}" for i in range(3_001)]
    made = {"array": rows, "dict": dict(zip(names, rows.T, strict=True)), "pandas": pd.DataFrame(rows, columns=names)}
    with pytest.raises(ft.ParameterError, match=r"at most 6,000 .* got 6,002 or more in 3,001 columns"):
        ft.frontier(lambda batch: batch[:, 0] > 0, made[kind])


def test_columns_of_one_value_take_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.spaces.bins.MOST_BINS", 60)
    rows = np.zeros((40, 50))
    rows[:, 0] = np.arange(40) % 2
    rows[:, 1] = np.random.default_rng(0).random(40)
    assert len(world_of(rows).product) == 50
