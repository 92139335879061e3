"""The textbook functions by the names of TEXTBOOK.md, which stands beside the table of their smallest trees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fidelitree import targets
from fidelitree.targets import Textbook

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES: dict[str, Callable[..., Textbook]] = {
    r"parity_(\d+)": targets.parity,
    r"majority_(\d+)": targets.majority,
    r"threshold_(\d+)_(\d+)": targets.threshold,
    r"exactly_(\d+)_(\d+)": targets.exactly,
    r"address_(\d+)": targets.multiplexer,
    r"tribes_(\d+)x(\d+)": targets.tribes,
    r"nand_tree_(\d+)": targets.nand_tree,
    r"xor2_junk_(\d+)": lambda n: targets.parity(n, 2),
    r"hwb_(\d+)": targets.hidden_weighted_bit,
    r"sel_parity_(\d+)x(\d+)_k(\d+)": targets.selector_parity,
    r"is_edge_star(\d+)": lambda n: targets.is_edge(n, targets.star(n)),
    r"is_edge_cycle(\d+)": lambda n: targets.is_edge(n, targets.cycle(n)),
    r"is_edge_K(\d+)": lambda n: targets.is_edge(n, targets.complete(n)),
    r"is_edge1_star(\d+)": lambda n: targets.is_edge_marked(n, targets.star(n)),
}


def function(name: str) -> Textbook:
    for pattern, make in NAMES.items():
        if match := re.fullmatch(pattern, name):
            return make(*map(int, match.groups()))
    raise AssertionError(f"no definition of {name}")
