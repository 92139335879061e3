"""Proposals of the local search: other subtrees for the rows of one node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fidelitree.search.local.coded import Bools, Floats
from fidelitree.search.local.growth import Grower, paying
from fidelitree.search.local.impurity import IMPURITIES, Impurity, gini
from fidelitree.search.local.node import Leaf, Node, Split, inner, split
from fidelitree.search.local.polish import Polisher
from fidelitree.search.local.splits import Splits
from fidelitree.spaces.features import Test

_PULLED = 0.5  # how often a test from further down is tried above
_ANY = 0.2  # how often a feature is drawn first, however little it explains alone: a selector explains nothing
_TOP, _FEW = 25, 3  # best tests that one is drawn from, of all features and of one
_POLISHED = 0.4  # polishing costs as much as two proposals, and fits noise where rows are few
_HOPE = 1.3  # a proposal that is dearer than this is not polished


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
