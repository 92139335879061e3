"""The smallest trees for labelled rows, by iterated local search on errors + price x leaves.

This cost is a sum over subtrees, so a proposal for a node is judged on the node's rows alone. The price of a leaf is
the slope of the curve "fewest errors for each number of leaves" at the error that is wanted, so the search works where
the answer will be taken from. CART's own tree is among the starts: nothing that comes out is worse on the rows.
"""

from __future__ import annotations

import time

import numpy as np

from fidelitree.refine.coded import Coded, Sketch
from fidelitree.refine.curve import Curve, Point
from fidelitree.refine.grouped import Grouped
from fidelitree.refine.growth import best_first
from fidelitree.refine.impurity import gini
from fidelitree.refine.moves import Moves
from fidelitree.refine.node import Node, inner, replace
from fidelitree.refine.splits import Splits

_ROUND = 150  # proposals between two looks at the curve
_CART = 400  # leaves of CART's tree
_SLACK = 1e-9


class Refiner:
    """Looks for small trees; stop it when you like, ask it what it knows, let it go on.

    ``held`` are rows for choosing the size; None where the rows are everything there is. The same seed and the same
    steps give the same trees.
    """

    def __init__(self, rows: Coded, held: Coded | None, seed: int) -> None:
        self._rows = rows
        self._held = held
        self._random = np.random.default_rng(seed)
        self._splits = Splits(Grouped(rows))
        self._curve = Curve(rows, held)
        self._curve.add(best_first(self._splits, _CART, gini))
        self.steps = 0

    def curve(self) -> list[tuple[int, float, float, Sketch]]:
        """Leaves, errors on the rows, share of held-out errors, tree; errors on the rows fall."""
        return [(point.leaves, point.errors, point.share, point.tree) for point in self._curve.points()]

    def points(self) -> list[Point]:
        """The same as points that build their tree, and judge it, when they are asked."""
        return self._curve.points()

    def smallest(self, error: float) -> Sketch:
        """The tree with the fewest leaves whose share of errors is at most this; the best one where none is."""
        return self._curve.smallest(error).tree

    def improve(self, error: float, steps: int, seconds: float = np.inf) -> None:
        """Make so many proposals to trees whose error is near this; a clock may end it earlier."""
        end = time.monotonic() + seconds
        while steps > 0 and time.monotonic() < end:
            point = self._curve.smallest(error)
            moves = Moves(self._splits, self._price(point, error), self._random)
            tree = moves.extend(moves.polisher.fit(point.tree))
            tree = self._descend(moves.polisher.polish(tree, 2), moves, min(_ROUND, steps), end)
            self._curve.add(tree)
            steps -= _ROUND

    def _price(self, point: Point, error: float) -> float:
        least = float(self._rows.weights.min())
        exact = least / (2 * point.leaves)
        """So little that no number of leaves is worth an error."""
        if error * self._rows.total < least:
            return exact
        return max(self._curve.slope(point), exact)

    def _descend(self, tree: Node, moves: Moves, steps: int, end: float) -> Node:
        cost = moves.polisher.cost
        for _ in range(steps):
            if tree.leaves == 1 or time.monotonic() >= end:
                break
            self.steps += 1
            path, node = inner(tree, int(self._random.integers(tree.leaves - 1)))
            new = moves.propose(node)
            if cost(new) <= cost(node) + _SLACK:
                tree = replace(tree, path, new)
        return tree
