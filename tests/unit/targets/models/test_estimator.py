"""Fitted estimators and pipelines as targets."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import fidelitree as ft
from fidelitree.targets import Estimator

TABLE = pd.DataFrame(
    {
        "age": np.tile([20, 30, 40, 50, 60], 12),
        "job": np.repeat(["clerk", "nurse", "pilot"], 20),
        "owner": np.tile([True, False], 30),
    }
)
LABELS = np.where((TABLE["age"] > 35) & (TABLE["job"] != "pilot"), "yes", "no")


def mixed_pipeline(final: Any) -> Any:
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough")
    return make_pipeline(encode, final)


@pytest.mark.parametrize("final", [HistGradientBoostingClassifier(max_iter=5), LogisticRegression(max_iter=2000)])
def test_a_pipeline_of_mixed_columns_takes_every_kind_of_table(final: Any) -> None:
    fitted = mixed_pipeline(final).fit(TABLE, LABELS)
    model = Estimator(fitted)
    expected = fitted.predict(TABLE).tolist()
    assert model.feature_names == ("age", "job", "owner")
    assert model.classes == ("no", "yes")
    arrays = {name: TABLE[name].to_numpy() for name in reversed(TABLE.columns)}
    for batch in (TABLE, pl.from_pandas(TABLE), pa.Table.from_pandas(TABLE, preserve_index=False), arrays):
        assert model(batch).tolist() == expected


def test_a_search_is_an_estimator_too() -> None:
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, cv=2)
    fitted = search.fit(TABLE[["age", "owner"]], LABELS)
    model = Estimator(fitted)
    assert repr(model) == "<Estimator GridSearchCV of 2 features>"
    assert model(TABLE).tolist() == fitted.predict(TABLE[["age", "owner"]]).tolist()


class Bare:
    """Something with a predict, and nothing else."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def predict(self, batch: Any) -> Any:
        return self.answer(batch)


def test_one_that_says_nothing_receives_the_batch_as_it_is() -> None:
    seen: list[Any] = []
    model = Estimator(Bare(lambda batch: seen.append(batch) or [1] * len(batch)))
    assert model(TABLE).tolist() == [1] * 60
    assert seen == [TABLE] if seen[0] is TABLE else False
    assert (repr(model), model.feature_names, model.classes) == ("<Estimator Bare>", None, None)


def test_a_column_of_labels_is_flattened_and_a_matrix_refused() -> None:
    batch = np.zeros((4, 2))
    assert Estimator(Bare(lambda batch: np.ones((4, 1), int)))(batch).tolist() == [1] * 4
    with pytest.raises(ft.TargetError) as error:
        Estimator(Bare(lambda batch: np.ones((4, 2), int)))(batch)
    assert str(error.value) == (
        "labels must be one per input: <Estimator Bare> received 4 inputs and answered an array of shape (4, 2)"
        " - where these are scores of each class, give predict"
    )


def test_several_outputs_are_no_label() -> None:
    two = DecisionTreeClassifier().fit([[0], [1]], [[0, 1], [1, 0]])
    model = Estimator(two)
    assert model.classes is None
    with pytest.raises(ft.TargetError, match=r"answered an array of shape \(2, 2\)"):
        model(np.array([[0], [1]]))


def test_it_must_be_fitted() -> None:
    for model in (DecisionTreeClassifier(), mixed_pipeline(DecisionTreeClassifier())):
        with pytest.raises(ft.ParameterError) as error:
            Estimator(model)
        assert str(error.value) == f"model must be fitted; {type(model).__name__} is not: call its fit first"


@pytest.mark.parametrize("model", [DecisionTreeClassifier, 3, lambda batch: batch])
def test_it_must_predict(model: Any) -> None:
    with pytest.raises(ft.ParameterError, match="model must be a fitted model with a method predict; got "):
        Estimator(model)


def test_it_works_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    class Alike(Bare):
        def fit(self) -> None: ...
        def get_params(self) -> None: ...

    monkeypatch.setitem(sys.modules, "sklearn.exceptions", None)
    assert Estimator(Alike(lambda batch: [0, 1]))(np.zeros((2, 1))).tolist() == [0, 1]
