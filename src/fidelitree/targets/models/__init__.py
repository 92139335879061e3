"""Targets from models: each file turns one kind of model into a callable from a batch to labels."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fidelitree.errors import ParameterError, check_path
from fidelitree.targets.models.boosters import LightGBMModel, XGBoostModel
from fidelitree.targets.models.command import Command
from fidelitree.targets.models.estimator import Estimator, read_pickle, read_skops
from fidelitree.targets.models.function import ADDRESS, Function, import_object
from fidelitree.targets.models.http import SCHEMES, HttpTarget, http
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.targets.models.onnx import OnnxModel
from fidelitree.targets.models.remote import Remote, terms_of
from fidelitree.targets.models.torch import TorchModel, torch

__all__ = [
    "Command",
    "Estimator",
    "Function",
    "HttpTarget",
    "LightGBMModel",
    "Model",
    "ModelColumns",
    "OnnxModel",
    "Remote",
    "TorchModel",
    "XGBoostModel",
    "from_model",
    "http",
    "load_model",
    "torch",
]


_COMMAND = "cmd:"
Loaded = Model | Remote | HttpTarget


def load_model(source: str | Path, **options: Any) -> Loaded:
    """A target from a model; the text says what it is.

    ========================================  =============================================  =======================
    ``source``                                what it is                                     options
    ========================================  =============================================  =======================
    ``model.onnx``                            an ONNX model                                  ``labels``, ``output``
    ``model.json``, ``.ubj``, ``.model``      an XGBoost model                               ``labels``, ``missing``
    ``model.txt``                             a LightGBM model                               ``labels``
    ``model.skops``                           a scikit-learn model                           ``trusted``
    ``model.pkl``, ``.pickle``, ``.joblib``   a pickled model                                ``trust_pickle``
    ``cmd:python score.py``                   a command, see `Command`                       ``timeout``, ``names``
    ``http://...``, ``https://...``           a server, see `HttpTarget`                     its own
    ``package.module:name``                   a function or model in Python                  none
    ========================================  =============================================  =======================

    >>> load_model("cmd:python score.py --fast", timeout=5)
    <Command python score.py --fast>
    """
    check_path("source", source)
    text = os.fspath(source)
    if text.startswith(_COMMAND):
        return _call(Command, text.removeprefix(_COMMAND), options)
    if text.startswith(SCHEMES):
        return http(text, **options)
    if loader := SUFFIXES.get(Path(source).suffix.lower()):
        if not Path(source).is_file():
            raise ParameterError(f"source names a file that does not exist: {text!r}")
        return _call(loader, Path(source), options)
    if ADDRESS.fullmatch(text):
        return _call(_imported, text, options)
    raise ParameterError(
        f"source must be a file ({' '.join(SUFFIXES)}), package.module:function, https://ADDRESS or cmd:COMMAND; got "
        f"{text!r}"
    )


def from_model(model: Any, name: str | None = None) -> Model:
    """A target from a model in memory: a Booster, anything with ``predict``, or a callable."""
    library, kind = type(model).__module__.partition(".")[0], type(model).__name__
    if (library, kind) == ("xgboost", "Booster"):
        return XGBoostModel(model)
    if (library, kind) == ("lightgbm", "Booster"):
        return LightGBMModel(model)
    if hasattr(model, "predict") or not callable(model):
        return Estimator(model)
    return Function(model, name)


def _skops(path: Path, *, trusted: Sequence[str] = ()) -> Model:
    return from_model(read_skops(path, trusted))


def _pickle(path: Path, *, trust_pickle: bool = False) -> Model:
    return from_model(read_pickle(path, trust_pickle))


def _imported(address: str) -> Model | Remote:
    found = import_object(address)
    if terms_of(found) is None:
        return from_model(found, name=address)
    made = Remote(found) if not isinstance(found, Remote) else found
    made.name = address
    return made


SUFFIXES: dict[str, Callable[..., Model]] = {
    ".onnx": OnnxModel,
    ".json": XGBoostModel,
    ".ubj": XGBoostModel,
    ".model": XGBoostModel,
    ".txt": LightGBMModel,
    ".skops": _skops,
    ".pkl": _pickle,
    ".pickle": _pickle,
    ".joblib": _pickle,
}


def _call(loader: Callable[..., Loaded], source: str | Path, options: dict[str, Any]) -> Loaded:
    known = [name for name, p in inspect.signature(loader).parameters.items() if p.kind is p.KEYWORD_ONLY]
    if wrong := [name for name in options if name not in known]:
        raise ParameterError(f"options of {str(source)!r} are {', '.join(known) or 'none'}; got {', '.join(wrong)}")
    return loader(source, **options)
