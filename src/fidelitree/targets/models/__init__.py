"""Targets from models: each file turns one kind of model into a callable from a batch to labels."""

from fidelitree.targets.models.command import Command
from fidelitree.targets.models.estimator import Estimator
from fidelitree.targets.models.function import Function
from fidelitree.targets.models.http import HttpTarget, http
from fidelitree.targets.models.lightgbm import LightGBMModel
from fidelitree.targets.models.loading import from_model, load_model
from fidelitree.targets.models.model import Model, ModelColumns
from fidelitree.targets.models.onnx import OnnxModel
from fidelitree.targets.models.remote import Remote
from fidelitree.targets.models.torch import TorchModel, torch
from fidelitree.targets.models.xgboost import XGBoostModel

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
