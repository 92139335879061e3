"""Batches of every kind, brought to a model's columns."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fidelitree as ft
from fidelitree.errors import MissingExtraError
from fidelitree.targets.models.model import ModelColumns, count_rows

MIXED = {"age": [31, 45], "job": ["nurse", "pilot"], "tall": [True, False]}


def batches() -> list[Any]:
    return [{k: np.array(v) for k, v in MIXED.items()}, pd.DataFrame(MIXED), pl.DataFrame(MIXED), pa.table(MIXED)]


def test_rows_are_counted_in_any_batch() -> None:
    assert [count_rows(batch) for batch in [*batches(), np.zeros((2, 3)), {}]] == [2, 2, 2, 2, 2, 0]


def test_arrays_by_name_in_the_models_order() -> None:
    for batch in batches():
        arrays = ModelColumns(("tall", "age"), 2).arrays(batch)
        assert [(name, array.tolist()) for name, array in arrays.items()] == [
            ("tall", [True, False]),
            ("age", [31, 45]),
        ]


def test_a_matrix_with_text_holds_objects() -> None:
    for batch in batches():
        matrix = ModelColumns(None, 3).matrix(batch)
        assert matrix.dtype == object
        assert matrix.tolist() == [[31, "nurse", True], [45, "pilot", False]]


def test_a_model_of_numbers_says_which_feature_is_text() -> None:
    for batch in batches():
        with pytest.raises(ft.ParameterError) as error:
            ModelColumns(None, 3).numbers(batch)
        assert str(error.value) == (
            "the model takes numbers for feature 'job'; the batch holds 'nurse' there. "
            "Encode it as the model's training data was encoded"
        )
        assert ModelColumns(("tall", "age"), 2).numbers(batch).tolist() == [[1.0, 31.0], [0.0, 45.0]]


def test_a_table_stays_the_same_kind_of_table() -> None:
    columns = ModelColumns(("job", "age"), 2)
    assert type(columns.table(pl.DataFrame(MIXED))) is pl.DataFrame
    for batch in batches():
        table = columns.table(batch)
        assert list(table.columns) == ["job", "age"]
        assert table["job"].to_list() == ["nurse", "pilot"]
        assert isinstance(columns.pandas(batch), pd.DataFrame)
    same = pd.DataFrame(MIXED)
    assert ModelColumns(tuple(MIXED), 3).table(same) is same


def test_pandas_keeps_its_dtypes() -> None:
    table = pd.DataFrame(MIXED).astype({"job": "category", "age": "int8"})
    chosen = ModelColumns(("job", "age"), 2).table(table)
    assert chosen.dtypes.astype(str).to_dict() == {"job": "category", "age": "int8"}


def test_blanks_in_names_are_underscores_to_lightgbm() -> None:
    batch = {"body mass": np.array([1, 2]), "age": np.array([3, 4])}
    columns = ModelColumns(("age", "body_mass"), 2)
    assert columns.matrix(batch).tolist() == [[3, 1], [4, 2]]
    assert list(columns.table(pd.DataFrame(batch)).columns) == ["age", "body_mass"]
    both = {"body mass": np.array([1]), "body_mass": np.array([2]), "age": np.array([3])}
    assert columns.matrix(both).tolist() == [[3, 2]]


def test_long_lists_of_names_are_cut() -> None:
    with pytest.raises(ft.ParameterError, match=r"missing: 'f0', 'f1', 'f2', 'f3', 'f4' and 4 more. It has 'x'. Name"):
        ModelColumns(tuple(f"f{i}" for i in range(9)), 9).matrix({"x": np.zeros(2)})


def test_a_table_needs_pandas_only_when_it_must_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = ModelColumns(("job", "age"), 2)
    assert columns.table(pl.DataFrame(MIXED)).columns == ["job", "age"]
    with pytest.raises(MissingExtraError) as error:
        columns.table({k: np.array(v) for k, v in MIXED.items()})
    assert str(error.value) == (
        "models that were fitted on a table need pandas, which is not installed; "
        "install it with: pip install 'fidelitree[pandas]'"
    )
