"""The smallest trees for labelled rows, by iterated local search on errors + price x leaves.

This cost is a sum over subtrees, so a proposal for a node is judged on the node's rows alone. The price of a leaf is
the slope of the curve "fewest errors for each number of leaves" at the error that is wanted, so the search works where
the answer will be taken from. CART's own tree with all its prunings is on the curve from the beginning.

Which features matter is told from the labelled rows alone: every
feature gets a shadow, the same values in random order, which explain nothing. CART grows a tree on both; a feature that
explains less than the best of the shadows is noise, and a search that may use it only fits the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.local.by_leaves import BestByLeaves, Point
from fidelitree.search.local.coded import Coded
from fidelitree.search.local.grown import CART
from fidelitree.search.local.moves import engine
from fidelitree.search.local.splitmix import Splitmix
from fidelitree.search.local.splits import gini

if TYPE_CHECKING:
    from fidelitree.search.local.grown import Grown
    from fidelitree.trees.nested import Nested

_ROUND = 150  # proposals between two looks at the curve


def relevant(coded: Coded, leaves: int, stream: Splitmix, watch: Watch = go_on) -> list[int]:
    """The features that explain more than any shadow does in CART's tree with so many leaves; all, if none does."""
    features = len(coded.sizes)
    shadows = np.random.default_rng(stream.draw()).permuted(coded.bins, axis=1)
    both = Coded(
        np.concatenate([coded.bins, shadows]),
        [*coded.ordered, *coded.ordered],
        [*coded.sizes, *coded.sizes],
        coded.codes,
        coded.weights,
    )
    tree = engine(both, None, watch).cart(leaves)
    feature, _, yes, _, _ = tree.shape
    left = gini(np.asarray(tree.counts, np.float64).T)
    parents = np.flatnonzero(feature >= 0)
    drops = left[parents] - left[parents + 1] - left[yes[parents]]
    explained = np.bincount(feature[parents], drops, 2 * features)
    found: list[int] = np.flatnonzero(explained[:features] > explained[features:].max()).tolist()
    return found or list(range(features))


class Refiner:
    """Looks for small trees; stop it when you like, ask it what it knows, let it go on.

    The same seed and the same steps give the same trees.
    """

    def __init__(self, rows: Coded, seed: int, watch: Watch = go_on) -> None:
        self._rows, self._watch = rows, watch
        self._stream = Splitmix(seed)
        self._engine = engine(rows, None, watch)
        self._curve = BestByLeaves(self._engine, rows.total)
        self._curve.add(self._engine.cart(max(CART, 2 * rows.classes)))
        self._tree: Grown | None = None
        self.steps = 0

    def leave_out_noise(self) -> None:
        """From now on look at `relevant` features only; what is known stays known."""
        features = relevant(self._rows, CART, self._stream, self._watch)
        self._engine = engine(self._rows, features, self._watch)

    def points(self) -> list[Point]:
        """The best trees known, each larger one with fewer errors; they are built when they are asked for."""
        return self._curve.points()

    def smallest(self, error: float) -> Nested:
        """The tree with the fewest leaves whose share of errors is at most this; the best one where none is."""
        return self._curve.smallest(error).tree

    def improve(self, error: float, steps: int) -> None:
        """Make so many proposals to trees whose error is near this; where it is ended, what was found is known."""
        while steps > 0:
            price = self._price(error)
            self._tree = self._descend(self._start(price, error), price, min(_ROUND, steps))
            self._curve.add(self._tree)
            steps -= _ROUND

    def improve_at(self, leaves: int, steps: int) -> None:
        """Make so many proposals to trees with about so many leaves, at the price that a leaf has there."""
        while steps > 0:
            point, price = self.with_leaves(leaves), self._price_at(leaves)
            self._curve.add(self._descend(self._engine.fit(point.tree, price), price, min(_ROUND, steps)))
            steps -= _ROUND

    def know(self, tree: Nested) -> None:
        """Begin with a tree that was found elsewhere, too."""
        least = self._least_weight / 2  # at this price all its splits stay
        self._curve.add(self._engine.fit(tree, least))

    def with_leaves(self, most: int) -> Point:
        """The tree with the fewest errors that has at most so many leaves."""
        return [point for point in self.points() if point.leaves <= most][-1]

    def _price_at(self, leaves: int) -> float:
        """What a leaf is worth where trees have about so many of them."""
        return max(self._curve.slope(self.with_leaves(leaves)), self._least_weight / 2)

    def _price(self, error: float) -> float:
        """What a leaf is worth where the curve reaches the error; so little, if no row may be wrong, that none is."""
        exact = self._least_weight / (2 * self._rows.total)
        if error * self._rows.total < self._least_weight:
            return exact
        return max(self._curve.slope(self._curve.smallest(error)), exact)

    @property
    def _least_weight(self) -> float:
        return float(self._rows.weights.min())

    def _start(self, price: float, error: float) -> Grown:
        """The tree of the last round or the best one known, whichever is cheaper now."""
        known = [self._curve.smallest(error).tree, *([] if self._tree is None else [self._tree.nested()])]
        starts = [self._engine.fit(tree, price) for tree in known]
        return min(starts, key=lambda tree: tree.errors + price * tree.leaves)

    def _descend(self, tree: Grown, price: float, steps: int) -> Grown:
        """Polished, unless it is huge, and then proposals."""
        tree, made = self._engine.descend(tree, price, steps, self._stream, tree.leaves <= CART)
        self.steps += made
        return tree
