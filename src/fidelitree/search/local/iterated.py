"""The smallest trees for labelled rows, by iterated local search on errors + price x leaves.

This cost is a sum over subtrees, so a proposal for a node is judged on the node's rows alone. The price of a leaf is
first the slope of the curve "fewest errors for each number of leaves" at the error that is wanted, and then follows the
error of the trees it leads to, so the search works where the answer will be taken from. CART's own tree with all its
prunings is on the curve from the beginning.

Proposals are other subtrees for the rows of one node. Which features matter is told from the labelled rows alone: every
feature gets a shadow, the same values in random order, which explain nothing. CART grows a tree on both; a feature that
explains less than the best of the shadows is noise, and a search that may use it only fits the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.local.archive import Archive, Point
from fidelitree.search.local.coded import Bools, Coded, Floats, Grouped
from fidelitree.search.local.node import (
    Grower,
    Leaf,
    Node,
    Shape,
    Split,
    best_first,
    inner,
    nested,
    paying,
    replace,
    split,
)
from fidelitree.search.local.polish import Polisher
from fidelitree.search.local.splits import IMPURITIES, Impurity, Splits, gini

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested

_PULLED = 0.5  # how often a test from further down is tried above
_ANY = 0.2  # how often a feature is drawn first, however little it explains alone: a selector explains nothing
_TOP, _FEW = 25, 3  # best tests that one is drawn from, of all features and of one
_POLISHED = 0.4  # polishing costs as much as two proposals, and fits noise where rows are few
_HOPE = 1.3  # a proposal that is dearer than this is not polished
_ROUND = 150  # proposals between two looks at the curve
_CART = 400  # leaves of CART's tree
_MOST = 300  # leaves beyond which no small tree is to be hoped for
_SHADOWED = 200  # leaves of the tree that tells which features matter
_CHEAPER, _DEARER = 0.87, 1.1  # how the price of a leaf follows the error of the tree that it led to
_SLACK = 1e-9


@dataclass(frozen=True)
class Moves:
    """Proposals at one price of a leaf, drawn from one stream of random numbers."""

    splits: Splits
    price: float
    random: np.random.Generator

    @property
    def polisher(self) -> Polisher:
        """Polishes at the same price."""
        return Polisher(self.splits.grouped, self.price)

    def propose(self, node: Split) -> Node:
        """Another test for a node; each side grown anew, or what the old tree becomes there, whichever is cheaper."""
        polisher = self.polisher
        impurity = IMPURITIES[int(self.random.integers(len(IMPURITIES)))]
        histogram = self.splits.grouped.histogram(node.rows)
        first = self._first(node, histogram, impurity)
        new = Grower(self.splits, self.price, impurity).divided(node, histogram, first)
        if isinstance(new, Split):
            no, yes = (
                min(side, polisher.refit(node, side.rows, side.counts), key=polisher.cost) for side in (new.no, new.yes)
            )
            new = paying(split(new.rows, new.counts, first[0], (no, yes)), self.price)
        hopeful = polisher.cost(new) < _HOPE * polisher.cost(node) + self.price
        return polisher.polish(new, 1) if hopeful and self.random.random() < _POLISHED else new

    def _first(self, node: Split, histogram: Floats, impurity: Impurity) -> tuple[Test, Bools]:
        """A test for the node, and which of its rows pass."""
        kind = self.random.random()
        menu = self.splits.look(histogram, node.counts)
        scores = menu.scores(impurity)
        if kind < _PULLED or scores.min(initial=np.inf) == np.inf:
            _, below = inner(node, int(self.random.integers(node.leaves - 1)))
            return below.test, self.splits.grouped.coded.says_yes(below.test, node.rows)
        most = _TOP
        if kind < _PULLED + _ANY:
            features = self.splits.features
            scores[features != self.random.choice(np.unique(features[scores < np.inf]))] = np.inf
            most = _FEW
        top = np.argpartition(scores, min(most, len(scores)) - 1)[:most]
        rough = menu.decode(int(self.random.choice(top[scores[top] < np.inf])))
        return self.splits.divide(rough, node.rows, impurity)

    def extend(self, node: Node) -> Node:
        """The tree with its leaves grown on where that pays."""
        if isinstance(node, Leaf):
            return Grower(self.splits, self.price, gini).grow(node.rows, node.counts)
        sides = self.extend(node.no), self.extend(node.yes)
        return paying(split(node.rows, node.counts, node.test, sides), self.price)


def relevant(coded: Coded, leaves: int, random: np.random.Generator, watch: Watch = go_on) -> list[int]:
    """The features that explain more than any shadow does in CART's tree with so many leaves; all, if none does."""
    features = len(coded.sizes)
    shadows = random.permuted(coded.bins, axis=1)
    both = Coded(
        np.concatenate([coded.bins, shadows]),
        [*coded.ordered, *coded.ordered],
        [*coded.sizes, *coded.sizes],
        coded.codes,
        coded.weights,
    )
    explained = np.zeros(2 * features)
    _explain(best_first(Splits(Grouped(both, watch=watch)), leaves, gini), explained)
    found: list[int] = np.flatnonzero(explained[:features] > explained[features:].max()).tolist()
    return found or list(range(features))


def _explain(node: Node, explained: Floats) -> None:
    if isinstance(node, Leaf):
        return
    sides = np.stack([node.counts, node.no.counts, node.yes.counts], axis=1)
    whole, no, yes = gini(sides)
    explained[node.test.feature] += whole - no - yes
    _explain(node.no, explained)
    _explain(node.yes, explained)


class Refiner:
    """Looks for small trees; stop it when you like, ask it what it knows, let it go on.

    ``held`` are rows for choosing the size; None where the rows are everything there is: then all features count, else
    those that explain more than chance does. The same seed and the same steps give the same trees.
    """

    def __init__(self, rows: Coded, held: Coded | None, seed: int, watch: Watch = go_on) -> None:
        self._rows, self._watch = rows, watch
        self._held = held
        self._random = np.random.default_rng(seed)
        self._splits = Splits(Grouped(rows, watch=watch))
        self._curve = Archive(rows, held)
        self._curve.add(best_first(self._splits, _CART, gini))
        if held is not None:
            self._splits = Splits(Grouped(rows, relevant(rows, _SHADOWED, self._random, watch), watch))
        self._tree: Node | None = None
        self._paid = 0.0  # the price of a leaf in the last round
        self.steps = 0

    def points(self) -> list[Point]:
        """The best trees known, each larger one with fewer errors; they are built when they are asked for."""
        return self._curve.points()

    def smallest(self, error: float) -> Nested:
        """The tree with the fewest leaves whose share of errors is at most this; the best one where none is."""
        return self._curve.smallest(error).tree

    def improve(self, error: float, steps: int) -> None:
        """Make so many proposals to trees whose error is near this; where it is ended, what was found is known."""
        price = self._price(error)
        while steps > 0:
            moves = Moves(self._splits, price, self._random)
            self._tree = self._descend(self._start(moves, error), moves, min(_ROUND, steps))
            share = self._curve.add(self._tree)
            self._paid = price
            steps -= _ROUND
            if not self._exactly(error):
                # A tree with too many leaves to be read is no reason to pay for still more of them.
                price *= _CHEAPER if share > error and self._tree.leaves < _MOST else _DEARER

    def improve_at(self, leaves: int, steps: int) -> None:
        """Make so many proposals to trees with about so many leaves, at the price that a leaf has there."""
        least = float(self._rows.weights.min()) / 2
        while steps > 0:
            point = self.with_leaves(leaves)
            moves = Moves(self._splits, max(self._curve.slope(point), least), self._random)
            start = moves.polisher.polish(moves.extend(moves.polisher.fit(point.tree)), 1)
            self._curve.add(self._descend(start, moves, min(_ROUND, steps)))
            steps -= _ROUND

    def cheapest(self, shape: Shape, price: float, steps: int) -> Nested:
        """A tree for a price of a leaf, in errors: from this one or from CART's, whichever is cheaper, by proposals."""
        moves = Moves(self._splits, price, self._random)
        starts = [moves.extend(moves.polisher.fit(start)) for start in (shape, self.points()[-1].tree)]
        start = moves.polisher.polish(min(starts, key=moves.polisher.cost), 1)
        tree = self._descend(start, moves, steps)
        self._curve.add(tree)
        return nested(tree)

    def with_leaves(self, most: int) -> Point:
        """The tree with the fewest errors that has at most so many leaves."""
        return [point for point in self.points() if point.leaves <= most][-1]

    def carried_on(self, rows: Coded, steps: int) -> Refiner:
        """So many proposals more, on other rows, the held-out ones among them: nothing is left to choose a size by.

        Features and price are those that this search has come to, and it begins with its last tree.
        """
        other = Refiner(rows, None, int(self._random.integers(2**32)), self._watch)
        if self._tree is None or not len(self._splits.features):  # or there is nothing to ask about
            return other
        other._splits = Splits(Grouped(rows, np.unique(self._splits.features).tolist(), self._watch))
        moves = Moves(other._splits, self._paid * rows.total / self._rows.total, other._random)
        tree = moves.extend(moves.polisher.fit(self._tree))
        while other.steps < steps and tree.leaves > 1:
            tree = other._descend(moves.polisher.polish(tree, 1), moves, min(_ROUND, steps - other.steps))
            other._curve.add(tree)
        return other

    def _exactly(self, error: float) -> bool:
        """Whether no row at all may be wrong."""
        return error * self._rows.total < float(self._rows.weights.min())

    def _price(self, error: float) -> float:
        """What a leaf is worth where the curve reaches the error; so little, if no row may be wrong, that none is."""
        exact = float(self._rows.weights.min()) / (2 * self._rows.total)
        return exact if self._exactly(error) else max(self._curve.slope(self._curve.smallest(error)), exact)

    def _start(self, moves: Moves, error: float) -> Node:
        """The tree of the last round or the best one known, whichever is cheaper now; polished, unless it is huge."""
        shapes: list[Shape] = [self._curve.smallest(error).tree]
        if self._tree is not None:
            shapes.append(self._tree)
        starts = [moves.extend(moves.polisher.fit(shape)) for shape in shapes]
        start = min(starts, key=moves.polisher.cost)
        return moves.polisher.polish(start, 1) if start.leaves <= _CART else start

    def _descend(self, tree: Node, moves: Moves, steps: int) -> Node:
        cost = moves.polisher.cost
        for _ in range(steps):
            if tree.leaves == 1:
                break
            self.steps += 1
            path, node = inner(tree, int(self._random.integers(tree.leaves - 1)))
            new = moves.propose(node)
            if cost(new) <= cost(node) + _SLACK:
                tree = replace(tree, path, new)
        return tree
