"""How much each feature matters to the tree itself: no query is needed to know it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.paths import PathSubfunction
from fidelitree.spaces.draw import Stream, draw, redraw
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree

_PAIRS = 4_000_000  # pairs of leaves, for each feature: about a second
_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Influences:
    """For each feature the probability that drawing it again changes the tree's answer.

    ``rows`` is the number of inputs that were drawn to estimate them, 0 where they are exact.
    """

    values: NDArray[np.float64]
    rows: int = 0


def influences(tree: Tree, space: ProductSpace) -> Influences:
    """Exact, or estimated where a large tree would make the reader wait."""
    if tree.size**2 * len(space) <= _PAIRS:
        return Influences(PathSubfunction(tree, Region.whole(space)).influences())
    return Influences(_estimated(tree, space), _ROWS)


def _estimated(tree: Tree, space: ProductSpace) -> NDArray[np.float64]:
    """The same inputs with each tested feature drawn again; what is not tested changes nothing."""
    whole, stream = Region.whole(space), Stream.named(0, "report")
    inputs = draw(whole, stream, 0, _ROWS)
    before, found = tree.predict_inner(inputs.T), np.zeros(len(space))
    for i in sorted(set(tree.feature.tolist()) - {-1}):
        kept = inputs[i].copy()
        inputs[i] = redraw(whole, stream, 0, _ROWS, i)
        found[i] = (tree.predict_inner(inputs.T) != before).mean()
        inputs[i] = kept
    return found
