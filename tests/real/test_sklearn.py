"""The bank table through scikit-learn: numbers and categories, before and after a ColumnTransformer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from fidelitree.sklearn import DistilledTreeClassifier
from fidelitree.spaces.draw import Stream, draw

Find = Callable[[str], Path]
CATEGORIES = ["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"]
EPSILON = 0.1


@pytest.fixture
def bank(data_file: Find) -> Any:
    """Inputs for fitting, others, and the labels of both; the balance of 8 people is missing."""
    table = pd.read_csv(data_file("tables/bank_marketing_11162.csv"))
    return train_test_split(table.drop(columns="deposit"), table["deposit"], test_size=0.5, random_state=0)


@pytest.fixture
def whole(bank: Any) -> Any:
    """The same without those 8."""
    kept = [part.index for part in (bank[0].dropna(), bank[1].dropna())]
    return [part.loc[index] for part, index in zip(bank, (*kept, *kept), strict=True)]


def columns() -> Any:
    return make_column_transformer(
        (OrdinalEncoder(), CATEGORIES), remainder=SimpleImputer(strategy="median"), verbose_feature_names_out=False
    )


def boosting() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=5, random_state=0)


def true_error(model: DistilledTreeClassifier) -> float:
    """Among 20 000 fresh inputs: within .015 of the error with probability 1 - 10^-6 or more."""
    space = model.result_.space
    inner = draw(space.whole, Stream.named(9, "fresh"), 0, 20_000).T
    return float(np.mean(model.tree_.predict_inner(inner) != model.estimator_.predict(space.batch(inner))))


def test_after_a_column_transformer_pandas_in_pandas_out(bank: Any) -> None:
    X, other, y, labels = bank
    steps = [("columns", columns()), ("tree", DistilledTreeClassifier(boosting(), EPSILON, random_state=0))]
    pipeline = Pipeline(steps).set_output(transform="pandas").fit(X, y)
    model = pipeline[-1]
    inner = pipeline[:-1].transform(other)
    assert isinstance(inner, pd.DataFrame)
    assert model.feature_names_in_.tolist() == inner.columns.tolist() == [*CATEGORIES, *other.columns.drop(CATEGORIES)]
    assert list(model.tree_.names) == inner.columns.tolist()
    assert model.certificate_.holds
    assert true_error(model) < EPSILON + 0.015
    assert pipeline.classes_.tolist() == ["no", "yes"]
    assert pipeline.score(other, labels) > 0.7
    likeliest = pipeline.predict_proba(other).argmax(axis=1)
    assert (pipeline.classes_[likeliest] == pipeline.predict(other)).all()


def test_around_a_pipeline_the_tree_speaks_of_the_tables_own_columns(whole: Any) -> None:
    X, other, y, labels = whole
    wrapped = DistilledTreeClassifier(make_pipeline(columns(), boosting()), EPSILON, random_state=0)
    model = wrapped.fit(X, y)
    assert model.tree_.kinds.count("categorical") == len(CATEGORIES)
    assert "duration <= " in str(model.tree_)
    assert model.certificate_.holds
    assert true_error(model) < EPSILON + 0.015
    assert model.score(other, labels) > 0.7
    before = model.tree_.digest
    again = wrapped.fit(pl.from_pandas(X), y)
    assert again.tree_.digest == before
    assert (again.predict(pl.from_pandas(other)) == model.predict(other)).all()


def test_over_rows_the_certificate_is_about_more_rows(whole: Any) -> None:
    X, other, y, _ = whole
    model = DistilledTreeClassifier(make_pipeline(columns(), boosting()), EPSILON, over="rows", random_state=0)
    model.fit(X, y)
    assert model.certificate_.holds
    # 5 581 rows: within .035 with probability 1 - 10^-6 or more.
    assert np.mean(model.predict(other) != model.estimator_.predict(other)) < model.certificate_.error_bound + 0.035
