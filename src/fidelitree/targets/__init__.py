"""Targets: models, circuits, textbook functions, random trees, truth tables, and the wrapper that counts queries.

Any callable from a batch of inputs to labels is a target already; these are the ones that ship.
"""

from fidelitree.targets.circuits import Circuit, expression, read_circuit
from fidelitree.targets.counting import Counted, Queries, Target
from fidelitree.targets.memory import Memory
from fidelitree.targets.models import (
    Command,
    Estimator,
    Function,
    LightGBMModel,
    Model,
    OnnxModel,
    XGBoostModel,
    from_model,
    load_model,
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

__all__ = [
    "Circuit",
    "Command",
    "Counted",
    "Estimator",
    "Function",
    "LightGBMModel",
    "Memory",
    "Model",
    "OnnxModel",
    "Queries",
    "Target",
    "Textbook",
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
    "tribes",
]
