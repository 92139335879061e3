"""Models that other people trained, read from their files, on the inputs that came with them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from fidelitree.targets import OnnxModel, load_model

Find = Callable[[str], Path]


def read_libsvm(path: Path, features: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Inputs, absent entries as 0, and labels."""
    lines = [line.split() for line in path.read_text().splitlines()]
    inputs = np.zeros((len(lines), features))
    for row, (_, *entries) in enumerate(lines):
        for entry in entries:
            feature, value = entry.split(":")
            inputs[row, int(feature)] = float(value)
    return inputs, np.array([int(line[0]) for line in lines])


def test_xgboost_agaricus_knows_its_mushrooms(data_file: Find) -> None:
    """Trained on a sparse file: an absent entry is missing, and the model is a constant to whom zeros are zeros."""
    path = data_file("models/xgagaricus.json")
    inputs, labels = read_libsvm(data_file("models/agaricus_test.libsvm"), 127)
    model = load_model(path, missing=0)
    assert repr(model) == "<XGBoostModel xgagaricus.json of 127 features>"
    assert (model(inputs.astype(np.uint8)) == labels).mean() > 0.99
    assert set(load_model(path)(inputs).tolist()) == {0}


def test_xgboost_dermatology_is_the_librarys(data_file: Find) -> None:
    import xgboost

    path = data_file("models/xgdermatology.json")
    inputs, labels = read_libsvm(data_file("models/dermatology_test.libsvm"), 33)
    model = load_model(path)
    booster = xgboost.Booster(model_file=path)
    assert model(inputs).tolist() == booster.predict(xgboost.DMatrix(inputs)).tolist()
    assert (model(inputs) == labels).mean() > 0.9
    assert model.classes == (0, 1, 2, 3, 4, 5)


def test_lightgbm_breast_cancer_is_the_librarys(data_file: Find) -> None:
    import lightgbm

    path = data_file("models/lg_breast_cancer.txt")
    inputs = np.loadtxt(data_file("models/breast_cancer_test.tsv"))
    model = load_model(path)
    assert model(inputs).tolist() == (lightgbm.Booster(model_file=path).predict(inputs) > 0.5).astype(int).tolist()
    assert repr(model) == "<LightGBMModel lg_breast_cancer.txt of 30 features>"
    assert model.feature_names is None


def initializers(path: Path) -> dict[str, NDArray[Any]]:
    import onnx
    from onnx import numpy_helper

    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}


def test_the_network_is_seven_layers_and_its_smallest_output(data_file: Find) -> None:
    """Declared for one input at a time, so the answers to a batch are put together."""
    path = data_file("models/TestNetwork2.onnx")
    weights = initializers(path)
    inputs = np.random.default_rng(3).uniform(-0.5, 0.5, (500, 5))
    layer = inputs.astype(np.float32)
    for depth in range(7):
        layer = layer @ weights[f"W{depth}"].T + weights[f"B{depth}"]
        layer = np.maximum(layer, 0) if depth < 6 else layer
    model = load_model(path, labels="argmin")
    assert model.classes == (0, 1, 2, 3, 4)
    assert model(inputs).tolist() == layer.argmin(axis=1).tolist()


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 100])
def test_the_logistic_model_takes_three_rows_at_a_time(data_file: Find, rows: int) -> None:
    """As its file declares: three rows of two features."""
    import onnxruntime

    path = data_file("models/logreg_iris.onnx")
    inputs = np.random.default_rng(5).normal(0, 9, (rows, 2))
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    triples = [np.repeat(row[None], 3, 0).astype(np.float32) for row in inputs]
    expected = [int(session.run(["label"], {"float_input": triple})[0][0]) for triple in triples]
    assert load_model(path)(inputs).tolist() == expected
    assert rows < 100 or set(expected) == {0, 1, 2}


def test_the_logistic_model_knows_iris_by_its_four_features(data_file: Find) -> None:
    """Its coefficients are those of four features; the shape that it declares is wrong, and is no part of the model."""
    import onnx
    from sklearn.datasets import load_iris

    model = onnx.load(data_file("models/logreg_iris.onnx"))
    rows, features = model.graph.input[0].type.tensor_type.shape.dim
    rows.dim_param, features.dim_value = "rows", 4
    iris = load_iris()
    assert (OnnxModel(model.SerializeToString())(iris.data) == iris.target).mean() > 0.9
