"""Targets that ship: models, circuits, textbook functions, random trees and truth tables.

Any callable from a batch of inputs to labels is a target already. `Counted` and `Memory` are found here, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fidelitree.targets.circuits import Circuit, expression, read_circuit
from fidelitree.targets.labels import Target
from fidelitree.targets.models import (
    Command,
    Estimator,
    Function,
    HttpTarget,
    LightGBMModel,
    Model,
    OnnxModel,
    Remote,
    TorchModel,
    XGBoostModel,
    from_model,
    http,
    load_model,
    torch,
)
from fidelitree.targets.random_trees import balanced, chain
from fidelitree.targets.table import TruthTable
from fidelitree.targets.textbook import (
    Textbook,
    complete,
    cycle,
    exactly,
    hidden_weighted_bit,
    is_edge,
    is_edge_marked,
    majority,
    mod,
    multiplexer,
    nand_tree,
    parity,
    recursive_majority,
    selector_parity,
    sort4,
    star,
    threshold,
    tribes,
)

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted, Queries
    from fidelitree.asking.memory import Memory

__all__ = [
    "Circuit",
    "Command",
    "Counted",
    "Estimator",
    "Function",
    "HttpTarget",
    "LightGBMModel",
    "Memory",
    "Model",
    "OnnxModel",
    "Queries",
    "Remote",
    "Target",
    "Textbook",
    "TorchModel",
    "TruthTable",
    "XGBoostModel",
    "balanced",
    "chain",
    "complete",
    "cycle",
    "exactly",
    "expression",
    "from_model",
    "hidden_weighted_bit",
    "http",
    "is_edge",
    "is_edge_marked",
    "load_model",
    "majority",
    "mod",
    "multiplexer",
    "nand_tree",
    "parity",
    "read_circuit",
    "recursive_majority",
    "selector_parity",
    "sort4",
    "star",
    "threshold",
    "torch",
    "tribes",
]

_ASKING = {"Counted": "counted", "Memory": "memory", "Queries": "counted"}  # what asks stands above what answers


def __getattr__(name: str) -> Any:
    if name in _ASKING:
        return getattr(import_module(f"fidelitree.asking.{_ASKING[name]}"), name)
    raise AttributeError(f"module 'fidelitree.targets' has no attribute {name!r}")
