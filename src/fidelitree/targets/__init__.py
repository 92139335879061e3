"""Targets: textbook functions, random trees, truth tables, and the wrapper that counts queries.

Any callable from a batch of inputs to labels is a target already; these are the ones that ship.
"""

from fidelitree.targets.counting import Counted, Queries, Target
from fidelitree.targets.memory import Memory
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
    "Counted",
    "Memory",
    "Queries",
    "Target",
    "Textbook",
    "TruthTable",
    "balanced",
    "chain",
    "complete",
    "cycle",
    "exactly",
    "hidden_weighted_bit",
    "is_edge",
    "is_edge_marked",
    "majority",
    "mod",
    "multiplexer",
    "nand_tree",
    "parity",
    "recursive_majority",
    "selector_parity",
    "sort4",
    "star",
    "threshold",
    "tribes",
]
