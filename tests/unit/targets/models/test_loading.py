"""The one door: what a text means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.targets import Command, OnnxModel, load_model
from trained import write_onnx

if TYPE_CHECKING:
    from pathlib import Path


def test_suffixes_in_any_case_and_paths_as_text(tmp_path: Path) -> None:
    path = write_onnx(tmp_path / "Model.ONNX", labelled=True)
    assert isinstance(load_model(path), OnnxModel)
    assert isinstance(load_model(str(path)), OnnxModel)


def test_a_command_keeps_its_words() -> None:
    model = load_model("cmd:python 'my score.py' --model=a.onnx", timeout=2, names=["a"])
    assert isinstance(model, Command)
    assert model.words == ("python", "my score.py", "--model=a.onnx")
    assert (model.timeout, model.feature_names) == (2.0, ("a",))


@pytest.mark.parametrize("source", ["model.xls", "model", "two words:f", "package.module:", "", "a:b:c"])
def test_what_it_does_not_know(source: str) -> None:
    with pytest.raises(ft.ParameterError) as error:
        load_model(source)
    assert str(error.value) == (
        "source must be a file (.onnx .json .ubj .model .txt .skops .pkl .pickle .joblib), package.module:function, "
        f"https://ADDRESS or cmd:COMMAND; got {source!r}"
    )


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ft.ParameterError, match=r"source names a file that does not exist: .*absent\.onnx"):
        load_model(tmp_path / "absent.onnx")


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("cmd:python", {"labels": 1}, "options of 'python' are timeout, names; got labels"),
        ("math:sin", {"timeout": 1}, "options of 'math:sin' are none; got timeout"),
        ("model.onnx", {"trusted": [], "missing": 0}, r"model.onnx' are labels, output; got trusted, missing"),
        ("model.skops", {"trust_pickle": True}, r"model.skops' are trusted; got trust_pickle"),
    ],
)
def test_an_option_of_another_kind(tmp_path: Path, source: str, options: dict[str, Any], message: str) -> None:
    if source.startswith("model"):
        (tmp_path / source).touch()
        source = str(tmp_path / source)
    with pytest.raises(ft.ParameterError, match=message):
        load_model(source, **options)
