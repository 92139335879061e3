"""XGBoost boosters as targets: labels by objective, missing values, categories, early stopping."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost

import fidelitree as ft
from fidelitree.errors import MissingExtraError
from fidelitree.targets import XGBoostModel, from_model, load_model
from trained import classes, inputs

if TYPE_CHECKING:
    from pathlib import Path

X = inputs()


def train(objective: str, labels: Any = None, **parameters: Any) -> xgboost.Booster:
    labels = classes(X, 2) if labels is None else labels
    settings = {"objective": objective, "max_depth": 3, "nthread": 1, **parameters}
    return xgboost.train(settings, xgboost.DMatrix(X, labels), num_boost_round=4)


@pytest.mark.parametrize(
    ("objective", "cut"), [("binary:logistic", 0.5), ("binary:logitraw", 0.0), ("binary:hinge", 0.5)]
)
def test_two_classes(objective: str, cut: float) -> None:
    booster = train(objective)
    model = XGBoostModel(booster)
    assert model(X).tolist() == (booster.predict(xgboost.DMatrix(X)) > cut).astype(int).tolist()
    assert repr(model) == "<XGBoostModel Booster of 4 features>"
    assert model.classes == (0, 1)


@pytest.mark.parametrize("objective", ["multi:softmax", "multi:softprob"])
def test_several_classes(objective: str) -> None:
    booster = train(objective, classes(X, 3), num_class=3)
    margins = booster.predict(xgboost.DMatrix(X), output_margin=True)
    model = from_model(booster)
    assert model(X).tolist() == margins.argmax(axis=1).tolist()
    assert model(X).dtype == np.int64
    assert model.classes == (0, 1, 2)


def test_a_regressor_answers_numbers_and_a_rule_makes_labels_of_them() -> None:
    booster = train("reg:squarederror", X[:, 1])
    model = from_model(booster)
    assert model(X).tolist() == booster.predict(xgboost.DMatrix(X)).astype(float).tolist()
    assert model.classes is None
    found = ft.distill(booster, ft.ProductSpace.from_data(X), 0.2, tolerance=1.0)
    assert found.certificate.holds
    with pytest.raises(ft.TargetError, match="or tolerance= "):
        ft.distill(booster, ft.ProductSpace.from_data(X), 0.2)
    scores = XGBoostModel(train("binary:logistic"), labels="score")(X)
    assert 0 < scores.min() < scores.max() < 1
    labels = XGBoostModel(booster, labels=2)(X)
    assert labels.tolist() == (booster.predict(xgboost.DMatrix(X)) > 2).astype(int).tolist()


def test_missing_says_which_value_is_missing() -> None:
    """A model of a sparse file has never seen a zero."""
    bits = (X > 2).astype(np.uint8)
    target = bits[:, 0] ^ bits[:, 1]
    sparse = xgboost.DMatrix(bits, target, missing=0)
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, sparse, num_boost_round=5)
    assert XGBoostModel(booster, missing=0)(bits).tolist() == target.tolist()
    assert XGBoostModel(booster)(bits).tolist() != target.tolist()


def test_early_stopping_answers_with_the_best_iteration(tmp_path: Path) -> None:
    half = len(X) // 2
    labels = classes(X, 2)
    noise = labels[half:] ^ (np.arange(half) % 3 == 0)
    fitted = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=8, learning_rate=1.0, n_jobs=1)
    fitted.fit(X[:half], labels[:half], eval_set=[(X[half:], noise)], verbose=False)
    fitted.save_model(tmp_path / "model.ubj")
    everything = fitted.get_booster().predict(xgboost.DMatrix(X)) > 0.5
    model = load_model(tmp_path / "model.ubj")
    assert model(X).tolist() == fitted.predict(X).tolist()
    assert fitted.best_iteration + 1 < fitted.get_booster().num_boosted_rounds()
    assert model(X).tolist() != everything.astype(int).tolist()


def test_categories(tmp_path: Path) -> None:
    jobs = np.array(["clerk", "nurse", "pilot"])[np.arange(len(X)) % 3]
    table = pd.DataFrame({"age": X[:, 0], "job": pd.Categorical(jobs)})
    labels = ((jobs == "nurse") | (X[:, 0] > 3)).astype(int)
    fitted = xgboost.XGBClassifier(n_estimators=8, enable_categorical=True, n_jobs=1).fit(table, labels)
    fitted.save_model(tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    expected = fitted.predict(table).tolist()
    for batch in (table, pl.from_pandas(table), {"job": jobs, "age": X[:, 0]}):
        assert model(batch).tolist() == expected
    # Codes must come from the training data, not from the order or the number of categories in a batch.
    pilots = table[table["job"] == "pilot"]
    assert model(pilots.astype({"job": "str"})).tolist() == fitted.predict(pilots).tolist()


@pytest.mark.parametrize(
    "content", [b"", b"{}", b'{"format": "fidelitree tree"}', b"tree\nversion=v3", b"\x00\x01\x02"]
)
@pytest.mark.parametrize("suffix", [".json", ".ubj"])
def test_a_file_of_something_else(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    with pytest.raises(ft.FormatError, match=rf"^model{suffix} is not an XGBoost model in JSON or UBJSON"):
        load_model(path)


@pytest.mark.parametrize("raw_format", ["json", "ubj"])
def test_the_content_decides_and_not_the_suffix(tmp_path: Path, raw_format: str) -> None:
    booster = train("binary:logistic")
    for suffix in (".json", ".ubj", ".model"):
        path = tmp_path / f"model{suffix}"
        path.write_bytes(booster.save_raw(raw_format))
        assert load_model(path)(X).tolist() == XGBoostModel(booster)(X).tolist()


def test_what_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ft.ParameterError, match=r"model must be a path or an xgboost.Booster; got 3"):
        XGBoostModel(3)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingExtraError, match=r"XGBoost models need xgboost, .* 'fidelitree\[xgboost\]'"):
        XGBoostModel("model.json")
