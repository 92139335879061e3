"""Improving a tree without changing its shape: each test is chosen anew, given what is below it.

With both sides of a node fixed, only the rows that exactly one side gets right care which way they go; the best
threshold of every feature comes from one pass over those rows, and the best set of values takes each value to the side
that serves its rows better. Such a step never makes the tree worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.node import Leaf, Node, Shape, Split, below, leaf, paying, split
from fidelitree.search.local.splits import SLACK
from fidelitree.spaces.features import AtMost, IsIn, Test
from fidelitree.trees.predict import leaf_values

if TYPE_CHECKING:
    from fidelitree.search.local.coded import Bools, Floats, Grouped, Rows


@dataclass(frozen=True)
class Polisher:
    """Polishes trees when a leaf has this price."""

    grouped: Grouped
    price: float

    def cost(self, node: Node) -> float:
        """Errors and the price of the leaves."""
        return node.errors + self.price * node.leaves

    def polish(self, node: Node) -> Node:
        """The tree with better tests, from the leaves up."""
        if isinstance(node, Leaf):
            return node
        sides = self.polish(node.no), self.polish(node.yes)
        changed = paying(split(node.rows, node.counts, node.test, sides), self.price)
        return changed if isinstance(changed, Leaf) else self._retest(changed)

    def _retest(self, node: Split) -> Node:
        """The node with its best test, given its sides."""
        right = [self._right(side, node.rows) for side in (node.no, node.yes)]
        care = np.flatnonzero(right[0] != right[1])
        if not len(care):
            return self.refit(min(node.no, node.yes, key=lambda side: side.leaves), node.rows, node.counts)
        coded = self.grouped.coded
        rows = node.rows[care]
        gain = np.where(right[1][care], 1.0, -1.0) * coded.weights.take(rows)
        now = float(gain[coded.says_yes(node.test, rows)].sum())
        value, test = self._best(rows, gain)
        if value <= now + SLACK:
            return node
        test = self.grouped.centred(test, rows, coded.says_yes(test, rows))
        return self.refit((test, node.no, node.yes), node.rows, node.counts)

    def _right(self, tree: Shape, rows: Rows) -> Bools:
        """Which rows a tree gets right."""
        coded = self.grouped.coded
        codes = leaf_values(tree, below, lambda test, here: coded.says_yes(test, rows[here]), len(rows))
        return np.asarray(codes == coded.codes.take(rows))

    def _best(self, rows: Rows, gain: Floats) -> tuple[float, Test]:
        """The test whose yes side gains most, with its gain."""
        grouped = self.grouped
        coded, starts = grouped.coded, grouped.starts
        table = grouped.weigh(rows, gain).sum(axis=0)
        running = np.where(grouped.ordered, np.cumsum(table) - gain.sum() * grouped.before, -np.inf)
        best = int(running.argmax())
        taken = np.bincount(grouped.owner, np.where(grouped.ordered, 0.0, np.maximum(table, 0)))
        other = int(taken.argmax())
        if taken[other] > max(running[best], 0.0):
            chosen = np.flatnonzero(table[starts[other] : starts[other + 1]] > 0)
            return float(taken[other]), IsIn(other, frozenset(chosen.tolist()))
        feature = int(grouped.owner[best])
        if not coded.ordered[feature]:  # then no feature is, and no set gains
            return -np.inf, AtMost(feature, 0)
        exact = np.cumsum(np.bincount(coded.bins[feature].take(rows), gain))
        threshold = int(exact.argmax())
        return float(exact[threshold]), AtMost(feature, threshold)

    def fit(self, tree: Shape) -> Node:
        """A tree over all rows, without the splits that do not pay."""
        rows = self.grouped.all_rows
        return self.refit(tree, rows, self.grouped.counts(rows))

    def refit(self, tree: Shape, rows: Rows, counts: Floats) -> Node:
        """The same tests for these rows: labels anew; branches without rows and splits that do not pay are gone."""
        inside = tree if isinstance(tree, Leaf) else below(tree)
        if not isinstance(inside, tuple) or counts.sum() - counts.max() <= self.price:
            return leaf(rows, counts)
        test, no, yes = inside
        passed = self.grouped.coded.says_yes(test, rows)
        if passed.all() or not passed.any():
            return self.refit(yes if passed.all() else no, rows, counts)
        mass = self.grouped.counts(rows[passed])
        sides = self.refit(no, rows[~passed], counts - mass), self.refit(yes, rows[passed], mass)
        return paying(split(rows, counts, test, sides), self.price)
