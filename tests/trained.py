"""Small models of every kind, trained here on one table of two classes or three."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fidelitree import targets
from fidelitree.targets import Model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NAMES = ("length", "width", "height", "age")


def inputs(rows: int = 240) -> NDArray[np.float64]:
    """Four features: two continuous, two of few whole values. All are exact in 32 bits."""
    random = np.random.default_rng(11)
    continuous = random.integers(0, 1024, (rows, 2)) / 256
    return np.column_stack([continuous, random.integers(0, 5, (rows, 2))])


def classes(x: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Labels to learn; not a function that every model gets right."""
    return np.digitize(x[:, 0] + x[:, 2] * (x[:, 3] > 1), np.linspace(1.5, 4.5, count - 1)).astype(np.int64)


@dataclass(frozen=True)
class Trained:
    """A model behind its adapter, and what the library itself answers to an array."""

    model: Model
    answer: Callable[[NDArray[np.float64]], NDArray[Any]]


def table(x: NDArray[np.float64]) -> Any:
    import pandas as pd

    return pd.DataFrame(x, columns=list(NAMES))


def estimator_on_an_array(folder: Path) -> Trained:
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression().fit(inputs(), np.array(["no", "perhaps", "yes"])[classes(inputs(), 3)])
    return Trained(targets.Estimator(fitted), fitted.predict)


def pipeline_on_a_table(folder: Path) -> Trained:
    fitted = _pipeline().fit(table(inputs()), classes(inputs(), 2) == 1)
    return Trained(targets.Estimator(fitted), lambda x: fitted.predict(table(x)))


def skops_file(folder: Path) -> Trained:
    import skops.io

    fitted = _pipeline().fit(table(inputs()), classes(inputs(), 3))
    skops.io.dump(fitted, folder / "model.skops")
    return Trained(targets.load_model(folder / "model.skops"), lambda x: fitted.predict(table(x)))


def pickle_file(folder: Path) -> Trained:
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(max_depth=4, random_state=0).fit(inputs(), classes(inputs(), 3))
    (folder / "model.pkl").write_bytes(pickle.dumps(fitted))
    return Trained(targets.load_model(folder / "model.pkl", trust_pickle=True), fitted.predict)


def joblib_file(folder: Path) -> Trained:
    import joblib
    from sklearn.ensemble import RandomForestClassifier

    fitted = RandomForestClassifier(5, random_state=0).fit(table(inputs()), classes(inputs(), 3))
    joblib.dump(fitted, folder / "model.joblib")
    model = targets.load_model(folder / "model.joblib", trust_pickle=True)
    return Trained(model, lambda x: fitted.predict(table(x)))


def xgboost_classifier(folder: Path) -> Trained:
    from xgboost import XGBClassifier

    fitted = XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(table(inputs()), classes(inputs(), 3))
    return Trained(targets.from_model(fitted), lambda x: fitted.predict(table(x)))


def xgboost_json(folder: Path) -> Trained:
    from xgboost import XGBClassifier

    fitted = XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(inputs(), classes(inputs(), 2))
    fitted.save_model(folder / "model.json")
    return Trained(targets.load_model(folder / "model.json"), fitted.predict)


def xgboost_ubj(folder: Path) -> Trained:
    from xgboost import XGBClassifier

    fitted = XGBClassifier(n_estimators=6, max_depth=3, n_jobs=1).fit(table(inputs()), classes(inputs(), 3))
    fitted.save_model(folder / "model.ubj")
    return Trained(targets.load_model(folder / "model.ubj"), lambda x: fitted.predict(table(x)))


def lightgbm_classifier(folder: Path) -> Trained:
    fitted = _lightgbm().fit(table(inputs()), np.array(["a", "b", "c"])[classes(inputs(), 3)])
    return Trained(targets.from_model(fitted), lambda x: fitted.predict(table(x)))


def lightgbm_classifier_on_an_array(folder: Path) -> Trained:
    fitted = _lightgbm().fit(inputs(), classes(inputs(), 3))
    return Trained(targets.from_model(fitted), fitted.predict)


def lightgbm_two_classes(folder: Path) -> Trained:
    fitted = _lightgbm().fit(table(inputs()), classes(inputs(), 2))
    fitted.booster_.save_model(folder / "model.txt")
    return Trained(targets.load_model(folder / "model.txt"), lambda x: fitted.predict(table(x)))


def lightgbm_three_classes(folder: Path) -> Trained:
    import lightgbm

    data = lightgbm.Dataset(inputs(), classes(inputs(), 3))
    booster = lightgbm.train(
        {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}, data, num_boost_round=5
    )
    booster.save_model(folder / "model.txt")
    return Trained(targets.load_model(folder / "model.txt"), lambda x: booster.predict(x).argmax(axis=1))


def onnx_labels(folder: Path) -> Trained:
    path = write_onnx(folder / "model.onnx", labelled=True)
    return Trained(targets.load_model(path), lambda x: (x @ WEIGHTS).argmax(axis=1))


def onnx_scores(folder: Path) -> Trained:
    path = write_onnx(folder / "model.onnx", rows=7)
    return Trained(targets.load_model(path, labels="argmin"), lambda x: (x @ WEIGHTS).argmin(axis=1))


def onnx_without_rows(folder: Path) -> Trained:
    path = write_onnx(folder / "model.onnx", rows=None)
    return Trained(targets.load_model(path, labels="argmax"), lambda x: (x @ WEIGHTS).argmax(axis=1))


def torch_network(folder: Path) -> Trained:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(*WEIGHTS.shape, bias=False, dtype=torch.float64)
    layer.weight.data = torch.tensor(WEIGHTS.T, dtype=torch.float64)
    return Trained(targets.torch(layer), lambda x: (x @ WEIGHTS).argmax(axis=1))


def function(folder: Path) -> Trained:
    def first(batch: Any) -> NDArray[Any]:
        column = next(iter(batch.values())) if isinstance(batch, dict) else np.asarray(batch)[:, 0]
        return np.where(np.asarray(column) > 2, "high", "low")

    return Trained(targets.Function(first), first)


def command(folder: Path) -> Trained:
    line = [sys.executable, "-c", SCORER]
    return Trained(targets.Command(line, names=NAMES), lambda x: np.where(x[:, 0] + x[:, 2] > 3, "yes", "no"))


KINDS = [
    estimator_on_an_array,
    pipeline_on_a_table,
    skops_file,
    pickle_file,
    joblib_file,
    xgboost_classifier,
    xgboost_json,
    xgboost_ubj,
    lightgbm_classifier,
    lightgbm_classifier_on_an_array,
    lightgbm_two_classes,
    lightgbm_three_classes,
    onnx_labels,
    onnx_scores,
    torch_network,
    onnx_without_rows,
    function,
    command,
]

SCORER = """
import json, sys
for line in sys.stdin:
    x = json.loads(line)
    print("yes" if x["length"] + x["height"] > 3 else "no", flush=True)
"""
WEIGHTS = np.array([[1.0, -0.5, 0.0], [0.25, 0.5, -1.0], [0.0, 1.0, -0.5], [-1.0, 0.5, 1.0]])


def write_onnx(path: Path, rows: int | str | None = "rows", labelled: bool = False) -> Path:
    """A linear model of four features and three classes: its scores, and its labels when asked."""
    import onnx
    from onnx import TensorProto, helper

    lead = [] if rows is None else [rows]
    nodes = [helper.make_node("MatMul", ["x", "weights"], ["scores"])]
    outputs = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [*lead, 3])]
    if labelled:
        nodes.append(helper.make_node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0))
        outputs.insert(0, helper.make_tensor_value_info("label", TensorProto.INT64, lead))
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [*lead, 4])],
        outputs,
        [helper.make_tensor("weights", TensorProto.FLOAT, WEIGHTS.shape, WEIGHTS.ravel())],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, path)
    return path


def _pipeline() -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    by_name = make_column_transformer((OneHotEncoder(), ["age"]), (StandardScaler(), ["width", "length"]))
    return make_pipeline(by_name, LogisticRegression())


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
