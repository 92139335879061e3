"""LightGBM boosters as targets: labels by objective, names, categories."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest

import fidelitree as ft
from fidelitree.errors import MissingExtraError
from fidelitree.targets import LightGBMModel, from_model, load_model
from trained import classes, inputs

if TYPE_CHECKING:
    from pathlib import Path

X = inputs()


def train(objective: str, labels: Any = None, **parameters: Any) -> lightgbm.Booster:
    labels = classes(X, 2) if labels is None else labels
    settings = {"objective": objective, "verbose": -1, "num_threads": 1, **parameters}
    return lightgbm.train(settings, lightgbm.Dataset(X, labels), num_boost_round=4)


def train_ranking() -> lightgbm.Booster:
    data = lightgbm.Dataset(X, classes(X, 2), group=[len(X)])
    return lightgbm.train({"objective": "lambdarank", "verbose": -1, "num_threads": 1}, data, num_boost_round=2)


def test_two_classes() -> None:
    booster = train("binary")
    model = LightGBMModel(booster)
    assert model(X).tolist() == (booster.predict(X) > 0.5).astype(int).tolist()
    assert repr(model) == "<LightGBMModel Booster of 4 features>"
    assert (model.classes, model.feature_names) == ((0, 1), None)


@pytest.mark.parametrize("objective", ["multiclass", "softmax", "multiclassova"])
def test_several_classes(objective: str) -> None:
    booster = train(objective, classes(X, 3), num_class=3)
    model = from_model(booster)
    assert model(X).tolist() == booster.predict(X).argmax(axis=1).tolist()
    assert model.classes == (0, 1, 2)


def test_a_regressor_answers_numbers_and_a_rule_makes_labels_of_them() -> None:
    booster = train("regression", X[:, 1])
    model = from_model(booster)
    assert model(X).tolist() == booster.predict(X).tolist()
    assert model.classes is None
    assert ft.distill(booster, ft.ProductSpace.from_data(X), 0.2, tolerance=1.0).certificate.holds
    with pytest.raises(ft.ParameterError, match="labels must be given for a model with objective 'lambdarank'"):
        LightGBMModel(train_ranking())
    assert LightGBMModel(booster, labels=2)(X).tolist() == (booster.predict(X) > 2).astype(int).tolist()


@pytest.mark.parametrize("kind", ["file", "classifier"])
def test_names_with_blanks(tmp_path: Path, kind: str) -> None:
    table = pd.DataFrame(X, columns=["body mass", "height", "age", "children at home"])
    fitted = lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1).fit(table, classes(X, 2))
    fitted.booster_.save_model(tmp_path / "model.txt")
    model = load_model(tmp_path / "model.txt") if kind == "file" else from_model(fitted)
    expected = fitted.predict(table).tolist()
    assert model(table).tolist() == expected
    assert model(pl.from_pandas(table[table.columns[::-1]])).tolist() == expected
    assert model(X).tolist() == expected


def test_categories(tmp_path: Path) -> None:
    jobs = np.array(["clerk", "nurse", "pilot"])[np.arange(len(X)) % 3]
    table = pd.DataFrame({"age": X[:, 0], "job": pd.Categorical(jobs)})
    labels = ((jobs == "nurse") | (X[:, 0] > 3)).astype(int)
    fitted = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1).fit(table, labels)
    fitted.booster_.save_model(tmp_path / "model.txt")
    model = load_model(tmp_path / "model.txt")
    expected = fitted.predict(table).tolist()
    for batch in (table, pl.from_pandas(table), {"job": jobs, "age": X[:, 0]}):
        assert model(batch).tolist() == expected
    pilots = table[table["job"] == "pilot"]
    assert model(pilots.astype({"job": "str"})).tolist() == fitted.predict(pilots).tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a LightGBM model: its first line must be 'tree'; got b''"),
        (b"hello world", "is not a LightGBM model: its first line must be 'tree'; got b'hello world'"),
        (b"tree\nversion=v3\nnum_class=1\n", "is not a LightGBM model that can be read: Model file doesn't specify"),
    ],
)
def test_a_file_of_something_else(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "model.txt"
    path.write_bytes(content)
    with pytest.raises(ft.FormatError, match=rf"^model.txt {message}"):
        load_model(path)


def test_what_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ft.ParameterError, match=r"model must be a path or a lightgbm.Booster; got 3"):
        LightGBMModel(3)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError, match=r"LightGBM models need lightgbm, .* 'fidelitree\[lightgbm\]'"):
        LightGBMModel("model.txt")
