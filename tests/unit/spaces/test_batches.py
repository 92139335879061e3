"""What a target receives: bytes, a mapping, a table made of it, or a table like the user's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fidelitree as ft
from mixed import MIXED, some_inputs

BITS = ft.ProductSpace.bernoulli(3)
INNER = some_inputs(MIXED, 50)


def test_bits_are_bytes_as_they_are() -> None:
    inner = some_inputs(BITS, 10)
    assert inner.dtype == BITS.dtype == np.uint8
    assert BITS.batch(inner) is inner


def test_anything_else_is_a_mapping_of_name_to_column() -> None:
    assert MIXED.dtype == INNER.dtype == np.float64
    batch = MIXED.batch(INNER)
    assert list(batch) == list(MIXED.names)
    assert [column.dtype.kind for column in batch.values()] == ["u", "U", "f", "i", "f"]
    assert batch["owner"].tolist() == INNER[:, 0].tolist()
    assert batch["job"].tolist() == [("clerk", "nurse", "pilot")[int(code)] for code in INNER[:, 1]]
    assert batch["age"].tolist() == INNER[:, 2].tolist()


@pytest.mark.parametrize(("kind", "table"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.Table)])
def test_a_table_may_be_asked_for(kind: str, table: type) -> None:
    for features, inner in ((MIXED.features, INNER), (BITS.features, some_inputs(BITS, 50))):
        space = ft.ProductSpace(features, batch=kind)
        batch = space.batch(inner)
        assert isinstance(batch, table)
        assert tuple(batch.column_names if kind == "arrow" else batch.columns) == space.names
        assert np.array_equal(space.encode(batch), inner)


def test_missing_categories_are_missing_in_a_table() -> None:
    space = ft.ProductSpace([ft.Categorical("job", ["clerk", None])], batch="pandas")
    assert space.batch(np.array([[1.0], [0.0]]))["job"].isna().tolist() == [True, False]


def test_other_kinds_are_refused() -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace(MIXED.features, batch="excel")
    assert str(caught.value) == "batch must be one of dict, pandas, polars, arrow; got 'excel'"


def test_a_column_of_a_typed_table_has_one_type() -> None:
    odd = ft.Categorical("odd", ["a", 1, None])
    batch = ft.ProductSpace([odd], batch="pandas").batch(np.array([[0.0], [1.0], [2.0]]))
    assert batch["odd"].tolist() == ["a", 1, None]
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace([odd], batch="polars")
    assert str(caught.value) == (
        "batch='polars' needs columns of one type; feature 'odd' has values of types int, str - use 'dict' or 'pandas'"
    )


def test_numbers_that_a_column_cannot_hold_are_refused() -> None:
    space = ft.ProductSpace.from_data({"age": np.array([30, 40])})
    assert space.batch(np.array([[35.0]]))["age"].tolist() == [35]
    with pytest.raises(ft.ParameterError) as caught:
        space.batch(np.array([[30.0], [35.5]]))
    assert str(caught.value) == "feature 'age' must have whole numbers in a batch; got others"
    special = ft.ProductSpace.from_data(pd.DataFrame({"age": pd.array([30, 40], dtype="Int64")}))
    with pytest.raises(ft.ParameterError) as caught:
        special.batch(np.array([[30.0], [35.0]]))
    assert str(caught.value) == "feature 'age' must have values of the table in a batch; got others"
