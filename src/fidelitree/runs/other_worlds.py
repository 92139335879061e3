"""A hint for runs over independent columns of a table that found no small tree: what other inputs would have given.

The tree at hand stands in for the target, so nobody is asked: how many of its leaves are needed to say the same as all
of them, where inputs are rows of that table, their neighbours, or draws of a mixture?
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fidelitree.certificates.confusion import FEW
from fidelitree.display.wording import at_least, leaves
from fidelitree.runs.size_grid import LARGEST
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.spaces.blends import Blend, check_blend
from fidelitree.spaces.mixture import Mixture

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import Weighed


def hint(found: Distillation) -> str:
    """What to try next, in one sentence; empty where the tree is small and certified, or no table is behind it."""
    space, epsilon = found.space, found.certificate.epsilon
    if epsilon is None or found.tree.defers or space.independent is None:
        return ""
    seen = space.independent.seen
    content = found.certificate.holds and found.leaves <= LARGEST
    if content or seen is None or len(seen) < FEW or found.leaves == 1:
        return ""
    product = space.product
    worlds: dict[str, Weighed] = {
        "rows of the table (ft.Rows(table))": Blend(product, seen, 0.0, ""),
        'their neighbours (ft.Rows(table, blend="auto"))': Blend(product, seen, check_blend("auto", len(product)), ""),
        "a mixture (ft.Mixture.from_data(table))": Mixture.fitted_to(product, seen),
    }
    needed = {name: _leaves(found, world, epsilon) for name, world in worlds.items()}
    least = min(needed.values())
    if least > found.leaves / 2:
        return ""
    each = ", ".join(f"{count} over {name}" for name, count in needed.items())
    return (
        f"Hint: columns of the table were drawn independently, which makes inputs that no row is like. Of this tree's "
        f"{leaves(found.leaves)}, {each} say the same as all of them on {at_least(epsilon)} of inputs."
    )


def _leaves(found: Distillation, world: Weighed, epsilon: float) -> int:
    return int(np.argmax(Prunings(found.tree, world).disagreements <= epsilon)) + 1
