"""Saved scikit-learn models: what is trusted, and what is not."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

import fidelitree as ft
from fidelitree.errors import MissingExtraError
from fidelitree.targets import Estimator, load_model

FITTED = DecisionTreeClassifier().fit([[0, 0], [1, 0]], [5, 7])
BITS = np.array([[0, 1], [1, 0]], np.uint8)


class HouseRule(ClassifierMixin, BaseEstimator):
    """A type that skops has never heard of."""

    def fit(self, inputs: Any, labels: Any) -> HouseRule:
        self.classes_ = np.unique(labels)
        return self

    def predict(self, inputs: Any) -> Any:
        return self.classes_[np.asarray(inputs)[:, 0]]


def test_unknown_types_are_listed_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, HouseRule.__module__, sys.modules[HouseRule.__module__])
    path, name = tmp_path / "rule.skops", f"{HouseRule.__module__}.HouseRule"
    skops.io.dump(HouseRule().fit([[0], [1]], [0, 1]), path)
    with pytest.raises(ft.ParameterError) as error:
        load_model(path)
    assert str(error.value) == (
        f"rule.skops would build types that skops does not know as harmless: '{name}'. "
        f"If you know them and trust the file's author, say so: trusted=['{name}']"
    )
    model = load_model(path, trusted=[name])
    assert isinstance(model, Estimator)
    assert model(BITS).tolist() == [0, 1]
    with pytest.raises(ft.ParameterError, match="trusted must be a list of names of types; got the text "):
        load_model(path, trusted=name)


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib"])
def test_a_pickle_is_not_opened_unless_trusted(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(pickle.dumps(FITTED))
    for options in ({}, {"trust_pickle": False}, {"trust_pickle": "yes"}):
        with pytest.raises(ft.ParameterError) as error:
            load_model(path, **options)
        assert str(error.value) == (
            f"model{suffix} is a pickle, and loading a pickle runs whatever program its author put into it. "
            f"If you made the file, or trust who did, say trust_pickle=True; otherwise ask for a skops file"
        )
    assert load_model(path, trust_pickle=True)(BITS).tolist() == [5, 7]


class Bomb:
    def __reduce__(self) -> Any:
        return Path.touch, (Path("exploded"),)


def test_refusing_a_pickle_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bomb.pkl"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ft.ParameterError, match="say trust_pickle=True"):
        load_model(path)
    assert not Path("exploded").exists()
    with pytest.raises(ft.ParameterError, match="model must be a fitted model with a method predict; got None"):
        load_model(path, trust_pickle=True)
    assert Path("exploded").exists()  # what the sentence warns of is true


@pytest.mark.parametrize("suffix", [".pkl", ".joblib"])
def test_a_pickle_that_ends_the_process(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(b"csys\nexit\n(I0\ntR.")  # a call of sys.exit(0)
    with pytest.raises(ft.FormatError, match=rf"^model{suffix} cannot be unpickled here: SystemExit: 0$"):
        load_model(path, trust_pickle=True)


@pytest.mark.parametrize("content", [b"", b"hello", pickle.dumps(FITTED)[:-40]])
@pytest.mark.parametrize("suffix", [".pkl", ".joblib", ".skops"])
def test_a_damaged_file(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(content)
    options = {} if suffix == ".skops" else {"trust_pickle": True}
    with pytest.raises(
        ft.FormatError, match=rf"^model{suffix} (cannot be unpickled here: |is not a skops file that can )"
    ):
        load_model(path, **options)


@pytest.mark.parametrize(
    ("suffix", "module", "extra"), [(".skops", "skops", "skops"), (".joblib", "joblib", "sklearn")]
)
def test_a_missing_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, module: str, extra: str
) -> None:
    path = tmp_path / f"model{suffix}"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, f"{module}.io", raising=False)
    options = {} if suffix == ".skops" else {"trust_pickle": True}
    with pytest.raises(MissingExtraError, match=rf"{module}, which is not installed; .* 'fidelitree\[{extra}\]'"):
        load_model(path, **options)
