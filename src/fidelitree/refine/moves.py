"""Proposals of the local search: other subtrees for the rows of one node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fidelitree.refine.coded import Floats, Test
from fidelitree.refine.growth import Grower, paying
from fidelitree.refine.impurity import IMPURITIES, Impurity, gini
from fidelitree.refine.node import Leaf, Node, Split, inner, split
from fidelitree.refine.polish import Polisher
from fidelitree.refine.splits import Splits

_TOP = 25  # tests of a node that a proposal starts with
_PULL, _ANY = 0.3, 0.3
_HOPE = 1.3  # a proposal dearer than this, before it is polished, is given up


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
        impurity = IMPURITIES[int(self.random.integers(len(IMPURITIES)))]
        histogram = self.splits.grouped.histogram(node.rows)
        kind = self.random.random()
        if kind < _PULL:
            _, below = inner(node, int(self.random.integers(node.leaves - 1)))
            feature, test = below.feature, below.test
            passed = self.splits.grouped.coded.says_yes(feature, test, node.rows)
        else:
            first = self._choose(histogram, node, impurity, kind < _PULL + _ANY)
            feature, test = first[0], first[1]
            test, passed = self.splits.divide(feature, test, node.rows, impurity)
        grower, polisher = Grower(self.splits, self.price, impurity), self.polisher
        new = grower.divided(node, histogram, (feature, test), passed)
        if isinstance(new, Split):
            sides = [
                min(side, polisher.refit(node, side.rows, side.counts), key=polisher.cost) for side in (new.no, new.yes)
            ]
            new = paying(split(new.rows, new.counts, (feature, test), (sides[0], sides[1])), self.price)
        hopeful = polisher.cost(new) < _HOPE * polisher.cost(node) + self.price
        return polisher.polish(new, 1) if hopeful else new

    def _choose(self, histogram: Floats, node: Split, impurity: Impurity, any_feature: bool) -> tuple[int, Test]:
        menu = self.splits.look(histogram, node.counts)
        scores = menu.scores(impurity)
        if any_feature:
            allowed = np.unique(self.splits.features[scores < np.inf])
            scores[self.splits.features != self.random.choice(allowed)] = np.inf
        most = _TOP if not any_feature else 3
        top = np.argpartition(scores, min(most, len(scores)) - 1)[:most]
        return menu.decode(int(self.random.choice(top[scores[top] < np.inf])))

    def extend(self, node: Node) -> Node:
        """The tree with its leaves grown on where that pays."""
        if isinstance(node, Leaf):
            return Grower(self.splits, self.price, gini).grow(node.rows, node.counts)
        sides = self.extend(node.no), self.extend(node.yes)
        return paying(split(node.rows, node.counts, (node.feature, node.test), sides), self.price)
