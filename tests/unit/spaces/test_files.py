"""Stored spaces and rows come back with the same digest, the same draws and the same batches."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import fidelitree as ft
from fidelitree.spaces.draw import Stream, draw
from mixed import mixed_spaces

COLUMNS: dict[str, Any] = {
    "age": [31, 35, 62, 40],
    "wage": [0.1, 0.2, 0.30000000000000004, 1e30],
    "job": ["nurse", "clerk", None, "pilot"],
    "owner": [True, False, True, True],
}


def through_json(space: Any) -> Any:
    return type(space).from_dict(json.loads(json.dumps(space.to_dict())))


TABLES = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas types": pd.DataFrame(COLUMNS).astype({"age": "int8", "wage": "float32", "job": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars types": pl.DataFrame(COLUMNS, schema_overrides={"age": pl.UInt16, "job": pl.Categorical}),
    "arrow": pa.table(COLUMNS),
    "mapping": {name: np.array(column) for name, column in COLUMNS.items() if name != "job"},
    "words": {"job": np.array(["nurse", "clerk"]), "age": np.array([1, 2], np.int16)},
    "array": np.array([[1.5, 2.0], [3.0, 4.0]], np.float32),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_space_of_a_table_comes_back_with_its_batches(name: str) -> None:
    space = ft.ProductSpace.from_data(TABLES[name])
    again = through_json(space)
    assert (again.digest, again.names) == (space.digest, space.names)
    inner = draw(space.whole, Stream.named(0, "label"), 0, 20).T
    one, two = space.batch(inner), again.batch(inner)
    assert type(one) is type(two)
    assert repr(one) == repr(two)
    if isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, two, check_categorical=False)
    assert through_json(again).digest == space.digest


@given(mixed_spaces())
def test_any_space_comes_back_exactly(space: ft.ProductSpace) -> None:
    again = through_json(space)
    assert again == space
    assert again.digest == space.digest
    lane = [draw(one.whole, Stream.named(3, "label"), 0, 50) for one in (space, again)]
    assert np.array_equal(*lane, equal_nan=True)


def test_rows_come_back_exactly() -> None:
    for table in (TABLES["pandas"], np.eye(5, dtype=bool)):
        rows = ft.Rows(table)
        again = through_json(rows)
        assert again.digest == rows.digest
        assert np.array_equal(again.inner, rows.inner)
        assert not again.inner.flags.writeable


def test_types_without_a_simple_name_give_the_batches_of_a_space_alone() -> None:
    levels = pd.Categorical(["low", "high"], categories=["low", "high"], ordered=True)
    space = ft.ProductSpace.from_data(pd.DataFrame({"level": levels}))
    assert space.to_dict()["batches"] is None
    assert through_json(space).batch(np.zeros((1, 1)))["level"].tolist() == ["low"]


def test_values_that_json_cannot_hold_are_refused_when_stored() -> None:
    with pytest.raises(ft.ParameterError, match=r"values of feature 'a' must be str, .* to be stored; got \(1, 2\)"):
        ft.ProductSpace([ft.Categorical("a", [(1, 2)])]).to_dict()


GOOD = ft.ProductSpace([ft.Numeric("age", 1, 2), ft.Categorical("job", ["a", "b"])]).to_dict()
AGE, JOB = GOOD["features"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], 'it must be an object with "format": "fidelitree.space"'),
        ({**GOOD, "version": 9}, "its version must be 1, which this fidelitree reads; got 9"),
        ({**GOOD, "features": []}, "features must be a list of at least one feature"),
        (
            {**GOOD, "features": [{**AGE, "name": "\ud800"}]},
            "each feature must be an object with a name; got {'name': '",
        ),
        (
            {**GOOD, "features": [{**JOB, "values": ["a", "\ud800"]}]},
            "features.job value of feature 'job' must be text",
        ),
        ({**GOOD, "features": [3]}, "each feature must be an object with a name; got 3"),
        (
            {**GOOD, "features": [{**AGE, "kind": "odd"}]},
            "features.age.kind must be one of boolean, categorical, numeric; got 'odd'",
        ),
        (
            {**GOOD, "features": [{"name": "age", "kind": "boolean"}]},
            "features.age is boolean and must have p; got none of",
        ),
        (
            {**GOOD, "features": [{**AGE, "edges": [2, 1]}]},
            "features.age edges of feature 'age' must be finite",
        ),
        (
            {**GOOD, "features": [{**AGE, "shares": [0.5]}]},
            "features.age shares of feature 'age' must be at least 0",
        ),
        (
            {**GOOD, "features": [{**AGE, "edges": ["x", 1]}]},
            "features.age edges of feature 'age' must be numbers; got ['x', 1]: could not convert",
        ),
        (
            {**GOOD, "features": [{**JOB, "weights": [1]}]},
            "features.job weights must be one for each of the 2 values; got 1",
        ),
        ({**GOOD, "features": [{**JOB, "values": ["a", "a"]}]}, "features.job values must be different; got ['a',"),
        ({**GOOD, "features": [{**JOB, "odd": 1}]}, "features.job knows the keys values, weights here; got 'odd'"),
        (
            {**GOOD, "features": [{"name": "age", "kind": "numeric", "low": 1, "high": 2}]},
            "features.age is numeric and must have values and weights and integer or edges and shares; got low, high",
        ),
        ({**GOOD, "batches": 3}, "batches must be an object or null; got 3"),
        ({**GOOD, "batches": {"batch": "odd"}}, "batches: batch must be one of dict, pandas, polars, arrow; got 'odd'"),
        ({**GOOD, "batches": {"table": "odd", "types": {}}}, "batches: table must be one of dict, array, pandas"),
        (
            {**GOOD, "features": [JOB], "batches": {"table": "pandas", "types": {"job": "Odd"}}},
            "batches: values of feature",
        ),
        ({**GOOD, "features": [JOB], "batches": {"table": "dict", "types": {"job": "odd"}}}, "batches: values of f"),
    ],
)
def test_what_is_no_stored_space_is_refused(data: Any, message: str) -> None:
    with pytest.raises(ft.FormatError) as caught:
        ft.ProductSpace.from_dict(data)
    assert f"not a stored space: {message}" in str(caught.value)


@pytest.mark.parametrize(
    "rows",
    [None, {}, {"count": 2, "packed": "!"}, {"count": 2, "packed": "AAAA"}, {"count": -1, "packed": ""}],
)
def test_what_are_no_stored_rows_is_refused(rows: Any) -> None:
    with pytest.raises(ft.FormatError, match="not stored rows of a table: "):
        ft.Rows.from_dict({**GOOD, "rows": rows})


def test_rows_that_claim_another_count_are_refused() -> None:
    data = ft.Rows(TABLES["pandas"]).to_dict()
    data["rows"]["count"] += 1
    with pytest.raises(ft.FormatError, match="not stored rows of a table: "):
        ft.Rows.from_dict(data)


def packed(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw)).decode()


@pytest.mark.parametrize(("count", "shown"), [(25_000_001, "25000001"), (10**30, str(10**30)), (10**70, "10{39}")])
def test_rows_that_claim_more_than_may_be_stored_are_refused(count: int, shown: str) -> None:
    data = {**GOOD, "features": [AGE], "rows": {"count": count, "packed": packed(b"")}}
    way_out = f"they may take at most 200 MB; got {shown} rows of 1 features - make Rows of the table itself"
    with pytest.raises(ft.FormatError, match=f"^not stored rows of a table: {way_out}$"):
        ft.Rows.from_dict(data)


def test_rows_are_not_unpacked_beyond_what_they_claim() -> None:
    bomb = {**GOOD, "features": [AGE], "rows": {"count": 2, "packed": packed(bytes(50_000_000))}}
    tracemalloc.start()
    try:
        with pytest.raises(ft.FormatError, match="not stored rows of a table: "):
            ft.Rows.from_dict(bomb)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_rows_that_take_several_steps_to_unpack_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.spaces.packing._STEP", 3)
    rows = ft.Rows({"age": np.random.default_rng(0).random(100)})
    assert through_json(rows).inner.tolist() == rows.inner.tolist()
