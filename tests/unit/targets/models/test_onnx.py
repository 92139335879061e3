"""ONNX models as targets: which output, which layout."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import TensorProto, helper

import fidelitree as ft
from fidelitree.errors import MissingExtraError
from fidelitree.targets import OnnxModel, load_model
from trained import WEIGHTS, inputs, write_onnx

if TYPE_CHECKING:
    from pathlib import Path

X = inputs()[:30]
FLOAT, INT, TEXT = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
Tensor = tuple[str, int, Sequence[Any]]


def write(path: Path, nodes: list[Any], takes: list[Tensor], gives: list[Tensor], *constants: Any) -> Path:
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(*tensor) for tensor in takes],
        [helper.make_tensor_value_info(*tensor) for tensor in gives],
        list(constants),
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


def mixed(path: Path, rank: int = 2) -> Path:
    """1 where age is above 30 and the job is nurse: one input for each feature, as converters of pipelines write it."""
    shape = ["rows", 1][:rank]
    nodes = [
        helper.make_node("Greater", ["age", "thirty"], ["older"]),
        helper.make_node(
            "LabelEncoder",
            ["job"],
            ["code"],
            domain="ai.onnx.ml",
            keys_strings=["nurse"],
            values_int64s=[1],
            default_int64=0,
        ),
        helper.make_node("Cast", ["code"], ["nurse"], to=TensorProto.BOOL),
        helper.make_node("And", ["older", "nurse"], ["both"]),
        helper.make_node("Cast", ["both"], ["label"], to=INT),
    ]
    thirty = helper.make_tensor("thirty", FLOAT, [], [30.0])
    return write(path, nodes, [("age", FLOAT, shape), ("job", TEXT, shape)], [("label", INT, shape)], thirty)


def text(path: Path) -> Path:
    """Text in, text out."""
    node = helper.make_node(
        "LabelEncoder",
        ["words"],
        ["label"],
        domain="ai.onnx.ml",
        keys_strings=["a", "b"],
        values_strings=["one", "two"],
    )
    return write(path, [node], [("words", TEXT, ["rows", 1])], [("label", TEXT, ["rows", 1])])


@pytest.mark.parametrize("rank", [1, 2])
def test_one_input_for_each_feature(tmp_path: Path, rank: int) -> None:
    model = load_model(mixed(tmp_path / "mixed.onnx", rank))
    batch = {"job": np.array(["nurse", "nurse", "clerk"]), "age": np.array([25, 41, 60])}
    assert model.feature_names == ("age", "job")
    assert model(batch).tolist() == [0, 1, 0]
    assert model(pd.DataFrame(batch)).tolist() == [0, 1, 0]
    with pytest.raises(ft.ParameterError, match="the model takes numbers for feature 'age'; the batch holds "):
        model({"job": np.array(["nurse"]), "age": np.array(["old"])})


def test_bytes_are_a_model(tmp_path: Path) -> None:
    model = OnnxModel(write_onnx(tmp_path / "linear.onnx").read_bytes(), labels="argmax")
    assert repr(model) == "<OnnxModel model of 4 features>"
    assert model(X).tolist() == pickle.loads(pickle.dumps(model))(X).tolist() == (X @ WEIGHTS).argmax(axis=1).tolist()


def test_text(tmp_path: Path) -> None:
    labels = load_model(text(tmp_path / "text.onnx"))({"words": np.array(["b", "a"])})
    assert (labels.tolist(), labels.dtype.kind) == (["two", "one"], "U")


@pytest.mark.parametrize("rows", ["rows", None, 1, 7, 30, 64])
def test_any_number_of_rows_at_once(tmp_path: Path, rows: Any) -> None:
    model = load_model(write_onnx(tmp_path / "linear.onnx", rows=rows), labels="argmax")
    assert model(X).tolist() == (X @ WEIGHTS).argmax(axis=1).tolist()
    assert repr(model) == "<OnnxModel linear.onnx of 4 features>"
    assert model.classes == (0, 1, 2)


def test_a_named_output_and_a_threshold(tmp_path: Path) -> None:
    path = tmp_path / "two.onnx"
    nodes = [helper.make_node("Neg", ["x"], ["down"]), helper.make_node("Abs", ["x"], ["size"])]
    shape = ["rows", 1]
    write(path, nodes, [("x", FLOAT, shape)], [("down", FLOAT, shape), ("size", FLOAT, shape)])
    batch = np.array([[-2.0], [0.5], [2.0]])
    assert load_model(path, labels=1, output="size")(batch).tolist() == [1, 0, 1]
    model = load_model(path, labels=1, output="down")
    assert model(batch).tolist() == pickle.loads(pickle.dumps(model))(batch).tolist() == [1, 0, 0]
    with pytest.raises(ft.ParameterError) as error:
        load_model(path, labels=1)
    assert str(error.value) == (
        "labels=1.0 needs one output of floats; the model has 'down' (tensor(float)), 'size' (tensor(float)). "
        "Name one with output=..."
    )
    with pytest.raises(ft.ParameterError) as error:
        load_model(path)
    assert str(error.value) == (
        "labels=None needs one output of whole numbers, truth values or text; the model has 'down' (tensor(float)), "
        "'size' (tensor(float)). Give labels='argmax', 'argmin' or a number, to make labels of a score output"
    )
    with pytest.raises(
        ft.ParameterError, match=r"labels=1.0 needs one output of floats called 'up'; the model has 'do"
    ):
        load_model(path, labels=1, output="up")


def test_scores_beside_labels(tmp_path: Path) -> None:
    path = write_onnx(tmp_path / "both.onnx", labelled=True)
    assert load_model(path)(X).tolist() == load_model(path, labels="argmax")(X).tolist()
    assert load_model(path).classes is None


def test_it_runs_with_one_thread(tmp_path: Path) -> None:
    options = OnnxModel(write_onnx(tmp_path / "m.onnx"), labels="argmax")._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


def test_text_for_a_model_of_numbers(tmp_path: Path) -> None:
    model = load_model(write_onnx(tmp_path / "linear.onnx"), labels="argmax")
    batch = {"a": np.zeros(2), "b": np.array(["x", "y"]), "c": np.zeros(2), "d": np.zeros(2)}
    with pytest.raises(ft.ParameterError, match="the model takes numbers for feature 'b'; the batch holds "):
        model(batch)


def test_pictures_are_not_rows(tmp_path: Path) -> None:
    shape = ["rows", 3, 8, 8]
    node = helper.make_node("Neg", ["picture"], ["scores"])
    path = write(tmp_path / "picture.onnx", [node], [("picture", FLOAT, shape)], [("scores", FLOAT, shape)])
    with pytest.raises(ft.ParameterError) as error:
        load_model(path, labels="argmax")
    assert str(error.value) == (
        "an ONNX model must take rows of numbers or text; its input 'picture' is a tensor(float) of shape "
        "['rows', 3, 8, 8]"
    )


def test_a_file_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"hello")
    with pytest.raises(ft.FormatError, match=r"^model.onnx is not an ONNX model that onnxruntime can run: "):
        load_model(tmp_path / "model.onnx")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"ONNX models need onnxruntime, .* 'fidelitree\[onnx\]'"):
        OnnxModel("model.onnx")
