"""Spaces read off tables: the kind of every column, its marginal, and batches like the table."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import fidelitree as ft
from mixed import some_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

OWNER = [True, False, True, True]
JOB = ["nurse", "clerk", None, "nurse"]
AGE = [31, 35, 31, 60]
SCORE = [0.5, 0.25, 1.5, -2.0]


def pandas_table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "owner": OWNER,
            "job": JOB,
            "age": np.array(AGE, np.int16),
            "score": np.array(SCORE, np.float32),
            "grade": pd.Categorical(["b", "a", "b", None], categories=["c", "b", "a"], ordered=True),
            "big": pd.array([1, 2, 2, 3], dtype="Int64"),
            "odd": pd.Series([1, "x", None, "x"], dtype=object),
        },
        index=[7, 5, 5, 1],
    )


def polars_table() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "owner": OWNER,
            "job": JOB,
            "age": pl.Series(AGE, dtype=pl.UInt8),
            "score": pl.Series(SCORE, dtype=pl.Float32),
            "grade": pl.Series(["b", "a", "b", None], dtype=pl.Enum(["c", "b", "a"])),
            "kind": pl.Series(["x", "y", "x", "x"], dtype=pl.Categorical),
        }
    )


def arrow_table() -> pa.Table:
    return pa.table(
        {
            "owner": OWNER,
            "job": JOB,
            "age": pa.array(AGE, pa.int32()),
            "score": pa.array(SCORE, pa.float64()),
            "grade": pa.array(["b", "a", "b", None]).dictionary_encode(),
        }
    )


def mapping() -> dict[str, Any]:
    return {"owner": np.array(OWNER), "job": np.array(JOB, object), "age": np.array(AGE, np.int8), "score": SCORE}


TABLES = [pandas_table, polars_table, arrow_table, mapping]


def types(table: Any) -> Any:
    """Names, order and types of the columns."""
    if isinstance(table, dict):
        return {name: np.asarray(column).dtype for name, column in table.items()}
    if isinstance(table, np.ndarray):
        return table.dtype
    return table.schema if isinstance(table, (pa.Table, pl.DataFrame)) else table.dtypes.to_dict()


@pytest.mark.parametrize("make", TABLES)
def test_kinds_and_marginals_follow_the_columns(make: Callable[[], Any]) -> None:
    space = ft.ProductSpace.from_data(make())
    owner, job, age, score = space.features[:4]
    assert owner == ft.Boolean("owner", 0.75)
    assert job == ft.Categorical.from_counts("job", {"clerk": 1, "nurse": 2, None: 1})
    assert age == ft.Numeric.from_values("age", AGE)
    assert score == ft.Numeric.from_values("score", SCORE)


@pytest.mark.parametrize("make", TABLES)
def test_a_batch_has_the_columns_order_and_types_of_the_table(make: Callable[[], Any]) -> None:
    table = make()
    space = ft.ProductSpace.from_data(table)
    inner = some_inputs(space, 200)
    batch = space.batch(inner)
    assert type(batch) is type(table)
    assert types(batch) == types(table)
    assert np.array_equal(space.encode(batch), inner)
    if isinstance(batch, pd.DataFrame):
        assert batch.index.tolist() == list(range(200))


@pytest.mark.parametrize("make", [*TABLES, lambda: np.arange(6.0).reshape(2, 3)])
def test_a_pickled_space_writes_the_same_batches(make: Callable[[], Any]) -> None:
    table = make()
    space = ft.ProductSpace.from_data(table)
    again = pickle.loads(pickle.dumps(space))
    inner = some_inputs(space, 50)
    assert again == space
    assert types(again.batch(inner)) == types(table)
    assert np.array_equal(space.encode(again.batch(inner)), inner)


@pytest.mark.parametrize("make", TABLES)
def test_the_table_itself_can_be_encoded(make: Callable[[], Any]) -> None:
    space = ft.ProductSpace.from_data(make())
    inner = space.encode(make())
    assert inner[:, 0].tolist() == [1, 0, 1, 1]
    assert inner[:, 1].tolist() == [1, 0, 2, 1]
    assert inner[:, 2].tolist() == AGE


@pytest.mark.parametrize("make", TABLES)
def test_a_tree_predicts_on_the_table(make: Callable[[], Any]) -> None:
    from fidelitree.spaces.features import AtMost, IsIn
    from fidelitree.trees.tree import Tree

    space = ft.ProductSpace.from_data(make())
    tree = Tree.build(space, [(AtMost(2, 33.0), 1, 2), 0, (IsIn(1, frozenset({2})), 3, 4), 1, 2], ["a", "b", "c"])
    assert tree.predict(make()).tolist() == ["b", "a", "c", "a"]


def test_ordered_categories_keep_their_order_and_unseen_ones_are_left_out() -> None:
    for make in (pandas_table, polars_table):
        space = ft.ProductSpace.from_data(make())
        assert space.features[space.index("grade")].values == ("b", "a", None)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
def test_arrays_of_numbers(kind: type) -> None:
    array = np.array([[1, 10], [2, 10], [1, 30]], kind)
    space = ft.ProductSpace.from_data(array)
    assert space.names == ("x0", "x1")
    assert [feature.kind for feature in space] == ["numeric", "numeric"]
    assert space.points == 4
    batch = space.batch(some_inputs(space, 20))
    assert isinstance(batch, np.ndarray)
    assert (batch.dtype, batch.shape) == (np.dtype(kind), (20, 2))
    assert np.array_equal(space.encode(batch), some_inputs(space, 20))


def test_an_array_of_truth_values_is_a_space_of_bits() -> None:
    array = np.array([[True, False], [False, False]])
    space = ft.ProductSpace.from_data(array)
    assert space == ft.ProductSpace.bernoulli(2, [0.5, 0.0])
    batch = space.batch(np.array([[1, 0], [0, 1]], np.uint8))
    assert batch.dtype == np.bool_
    assert batch.tolist() == [[True, False], [False, True]]
    assert space.encode(batch).dtype == np.uint8


def test_an_array_of_objects_is_read_column_by_column() -> None:
    array = np.array([[1, "a", True, None], [2.5, "b", False, "x"]], object)
    space = ft.ProductSpace.from_data(array)
    assert [feature.kind for feature in space] == ["numeric", "categorical", "boolean", "categorical"]
    batch = space.batch(some_inputs(space, 10))
    assert batch.dtype == object
    assert np.array_equal(space.encode(batch), some_inputs(space, 10))


def test_values_that_cannot_be_sorted_stand_as_they_were_met() -> None:
    space = ft.ProductSpace.from_data({"odd": np.array(["b", 2, "a", None, 2], object)})
    assert space.features[0].values == ("b", 2, "a", None)


def test_strings_are_categories() -> None:
    assert ft.ProductSpace.from_data(np.array([["a"], ["b"]])).features[0].values == ("a", "b")


def test_a_column_may_be_declared_categorical_or_numeric() -> None:
    space = ft.ProductSpace.from_data(mapping(), categorical=["age"], numeric=["owner"])
    assert space.features[space.index("age")].values == (31, 35, 60)
    owner = space.features[space.index("owner")]
    assert owner == ft.Numeric.from_values("owner", [1, 0, 1, 1])
    batch = space.batch(some_inputs(space, 30))
    assert batch["age"].dtype == np.int8
    assert batch["owner"].dtype == np.bool_
    assert np.array_equal(space.encode(batch), some_inputs(space, 30))
    assert ft.ProductSpace.from_data(mapping(), categorical="age") == ft.ProductSpace.from_data(
        mapping(), categorical=["age"]
    )


def test_truth_values_with_gaps_are_categories() -> None:
    space = ft.ProductSpace.from_data(pl.DataFrame({"owner": [True, None, False]}))
    assert space.features[0].values == (False, True, None)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"born": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
        pl.DataFrame({"born": [dt.date(2020, 1, 1), dt.date(2021, 1, 1)]}),
        pl.DataFrame({"born": [dt.time(1), None]}),
        pa.table({"born": [dt.timedelta(1), dt.timedelta(2)]}),
        {"born": np.array(["2020-01-01"], "datetime64[D]")},
        {"born": np.array([dt.date(2020, 1, 1), None], object)},
    ],
)
def test_dates_and_times_are_refused_with_the_way_out(table: Any) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.from_data(table)
    assert str(caught.value) == (
        "column 'born' holds dates or times, which cannot be features; turn it into numbers first, such as days since "
        "a date, and back inside the target; or leave it out"
    )


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"born": [[1, 2], [3]]}),
        pl.DataFrame({"born": [{"year": 1}, {"year": 2}]}),
        {"born": np.array([1 + 2j])},
    ],
)
def test_nested_types_are_refused(table: Any) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.from_data(table)
    assert str(caught.value).startswith("column 'born' is ")
    assert str(caught.value).endswith(
        ", which cannot be a feature; turn it into numbers or categories first, or leave it out"
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        *[
            (table, "column 'age' holds missing values only, and nothing can be learnt from it - leave it out, or name")
            for table in (
                pd.DataFrame({"age": [np.nan, np.nan]}),
                pd.DataFrame({"age": pd.array([None, None], dtype="Int64")}),
                pd.DataFrame({"age": [None, None]}, dtype=object),
                pl.DataFrame({"age": pl.Series([None, None], dtype=pl.Int8)}),
                pl.DataFrame({"age": [None, float("nan")]}),
                pl.DataFrame({"age": pl.Series([None], dtype=pl.String)}),
                pa.table({"age": pa.array([None, None], pa.float32())}),
                {"age": np.array([None, np.nan], object)},
            )
        ],
        (pl.DataFrame({"age": [None, None]}), "column 'age' is"),
        ({"age": np.array([1.0, np.inf])}, "values of feature 'age' must be finite numbers; 1 of 2 are not"),
        ({"age": np.array([2**53, 1])}, "integers of feature 'age' must be below 2^53 in size; got 9007199254740992"),
        ({"age": np.array([])}, "table must have at least one row; got none"),
        ({}, "table must have at least one column; got none"),
        ({"age": np.zeros((2, 2))}, "column 'age' must be a 1-D array; got shape (2, 2)"),
        ({"age": np.zeros(2), "job": np.zeros(3)}, "columns of a table must have one length"),
        ({0: np.zeros(2)}, "columns of a table must have strings as names; got 0"),
        (
            [[1, 2]],
            "table must be a pandas, polars or arrow table, a mapping of name to 1-D array, or a 2-D array; got",
        ),
        ({"born": np.array([dt.date(2020, 1, 1)], object)}, "column 'born' holds dates or times, which cannot be feat"),
        ({"many": np.array([[1], None], object)}, "column 'many' holds values that cannot be categories; turn it into"),
    ],
)
def test_tables_that_are_refused(table: Any, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.from_data(table)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"categorical": ["salary"]}, "categorical must hold names of columns (owner, job, age, score); got 'salary'"),
        ({"numeric": ["job"]}, "feature 'job' must hold numbers; got a column of object"),
        ({"numeric": ["age"], "categorical": ["age"]}, "column 'age' cannot be both categorical and numeric"),
    ],
)
def test_declarations_that_are_refused(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.from_data(mapping(), **declared)
    assert str(caught.value) == message


def test_strings_in_a_table_cannot_be_numeric() -> None:
    with pytest.raises(ft.ParameterError, match="feature 'job' must hold numbers; got a column of String"):
        ft.ProductSpace.from_data(polars_table(), numeric=["job"])


def test_a_fitted_pipeline_predicts_on_batches_as_they_are() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 300),
            "job": pd.Categorical(rng.choice(["clerk", "nurse", "pilot"], 300)),
            "income": rng.normal(50, 10, 300),
        }
    )
    label = np.where((table["age"] > 50) & (table["job"] == "nurse"), "yes", "no")
    encoder = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder="passthrough")
    model = make_pipeline(encoder, DecisionTreeClassifier(random_state=0)).fit(table, label)
    space = ft.ProductSpace.from_data(table)
    certificate = ft.certify(model, model.predict, space, 0.1, seed=0)
    assert certificate.holds
    assert certificate.errors == 0
    over_rows = ft.certify(model, model.predict, ft.Rows(table), 0.1, seed=0)
    assert over_rows.holds


def series(table: dict[str, Any]) -> dict[str, Any]:
    return {name: pl.Series(column) for name, column in table.items()}


@pytest.mark.parametrize("kind", [dict, series, pd.DataFrame, pl.DataFrame, pa.table])
def test_categories_that_numpy_would_merge_are_refused(kind: Any) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.ProductSpace.from_data(kind({"job": ["a", "a\0", "b"]}))
    assert str(caught.value) == (
        "value of feature 'job' must not end with NUL, which NumPy drops; got 'a\\x00' - strip it"
    )


@pytest.mark.parametrize("kind", [dict, series, pd.DataFrame, pl.DataFrame, pa.table])
def test_an_input_that_ends_with_nul_is_no_category(kind: Any) -> None:
    space = ft.ProductSpace.from_data({"job": ["a", "b"], "age": [1, 2]})
    assert space.encode(kind({"job": ["a", "a\0"], "age": [1, 2]}))[:, 0].tolist() == [0, -1]


# --- missing numbers ------------------------------------------------------------------------------------------------

GAPPED: list[tuple[Any, Any]] = [
    (pd.DataFrame({"age": [31.5, np.nan, 40]}), lambda batch: batch["age"].dtype == np.float64),
    (pd.DataFrame({"age": np.array([31, np.nan, 40], np.float32)}), lambda batch: batch["age"].dtype == np.float32),
    (pd.DataFrame({"age": pd.array([31, None, 40], dtype="Int16")}), lambda batch: str(batch["age"].dtype) == "Int16"),
    (pd.DataFrame({"age": pd.array([3.5, None], dtype="Float64")}), lambda batch: str(batch["age"].dtype) == "Float64"),
    (pl.DataFrame({"age": pl.Series([31, None, 40], dtype=pl.UInt8)}), lambda b: b.schema["age"] == pl.UInt8),
    (pl.DataFrame({"age": [31.5, None, 40]}), lambda b: b["age"].null_count() > 0 and b.schema["age"] == pl.Float64),
    (pl.DataFrame({"age": [31.5, float("nan"), 40]}), lambda b: b["age"].is_nan().any()),
    (pa.table({"age": pa.array([31, None, 40], pa.int32())}), lambda b: b.schema.field("age").type == pa.int32()),
    ({"age": np.array([31.5, np.nan, 40])}, lambda batch: batch["age"].dtype == np.float64),
    ({"age": np.array([31, None, 40], object)}, lambda batch: None in batch["age"].tolist()),
    (np.array([[31.5], [np.nan]]), lambda batch: batch.dtype == np.float64),
]


@pytest.mark.parametrize(("table", "alike"), GAPPED)
def test_missing_numbers_are_values_and_come_back_as_they_were(table: Any, alike: Any) -> None:
    space = ft.ProductSpace.from_data(table)
    rows = 2 if len(space.encode(table)) == 2 else 3
    assert space.features[0].missing == 1 / rows
    inner = space.encode(table)
    assert np.isnan(inner).sum() == 1
    assert np.array_equal(space.encode(space.batch(inner)), inner, equal_nan=True)
    batch = space.draw(60, seed=1)
    assert alike(batch)
    assert 0 < np.isnan(space.encode(batch)).sum() < 60


@pytest.mark.parametrize("table", [table for table, _ in GAPPED if "Float64" not in str(getattr(table, "dtypes", ""))])
def test_a_stored_space_with_missing_numbers_gives_the_same_batches(table: Any) -> None:
    space = ft.ProductSpace.from_data(table)
    if space.to_dict()["batches"] is None or not isinstance(table, (pd.DataFrame, pl.DataFrame, pa.Table)):
        pytest.skip("batches of objects have no name")
    again = ft.ProductSpace.from_dict(space.to_dict())
    assert again.digest == space.digest
    one, two = space.draw(40, seed=2), again.draw(40, seed=2)
    assert np.array_equal(space.encode(one), again.encode(two), equal_nan=True)
    assert str(getattr(one, "schema", getattr(one, "dtypes", ""))) == str(
        getattr(two, "schema", getattr(two, "dtypes", ""))
    )


def test_a_column_of_missing_values_may_be_named_as_a_category() -> None:
    space = ft.ProductSpace.from_data({"gone": np.array([np.nan, np.nan]), "age": np.arange(2)}, categorical=["gone"])
    assert space.features[0].values == (None,)
    assert np.isnan(space.draw(3)["gone"]).all()


def test_objects_may_be_named_as_numbers() -> None:
    table = pd.DataFrame({"age": pd.Series([31, None, pd.NA, 40], dtype=object)})
    (age,) = ft.ProductSpace.from_data(table, numeric=["age"])
    assert (age.kind, age.missing) == ("numeric", 0.5)


@pytest.mark.parametrize(
    "column",
    [[1, "a", 1.0], [True, "b", 1], [0, None, "c", False, 2], [True, 1, 0], [1, 2.5, None, 1.0]],
    ids=["float", "bool", "gap", "ints", "numbers"],
)
@pytest.mark.parametrize("kind", [pd.DataFrame, dict], ids=["pandas", "dict"])
def test_equal_values_of_different_types_are_refused(column: list[Any], kind: Any) -> None:
    values = np.empty(len(column), object)
    values[:] = column
    with pytest.raises(ft.ParameterError, match="column 'x' must hold equal values of one type; got "):
        ft.ProductSpace.from_data(kind({"x": values}))


def test_different_values_of_different_types_stay_as_they_are() -> None:
    values = np.empty(4, object)
    values[:] = [1, "1", 2.5, None]
    assert ft.ProductSpace.from_data({"x": values}).features[0].values == (1, "1", 2.5, None)


def test_a_name_that_comes_twice_is_refused() -> None:
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    told = "columns of a table must have different texts as names; .*'a' 2 times - rename columns, or leave some out"
    with pytest.raises(ft.ParameterError, match=told):
        ft.ProductSpace.from_data(twice)
    with pytest.raises(ft.ParameterError, match="columns of a table must have different texts as names"):
        ft.distill(lambda batch: np.zeros(len(batch)), twice)
