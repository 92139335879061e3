"""Improving a tree without changing its shape: each test is chosen anew, given what is below it.

With both sides of a node fixed, only the rows that exactly one side gets right care which way they go; the best
threshold of every feature comes from one pass over those rows, and the best set of values takes each value to the side
that serves its rows better. Such a step never makes the tree worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fidelitree.search.local.coded import Bools, Codes, Floats, Test
from fidelitree.search.local.grouped import Grouped, Rows
from fidelitree.search.local.growth import paying
from fidelitree.search.local.node import Leaf, Node, Shape, Split, leaf, parts, split

_SLACK = 1e-9


@dataclass(frozen=True)
class Polisher:
    """Polishes trees when a leaf has this price."""

    grouped: Grouped
    price: float

    def cost(self, node: Node) -> float:
        """Errors and the price of the leaves."""
        return node.errors + self.price * node.leaves

    def polish(self, node: Node, passes: int) -> Node:
        """The tree with better tests, by passes from the leaves up."""
        for _ in range(passes):
            better = self._once(node)
            if self.cost(better) > self.cost(node) - _SLACK:
                return better
            node = better
        return node

    def _once(self, node: Node) -> Node:
        if isinstance(node, Leaf):
            return node
        sides = self._once(node.no), self._once(node.yes)
        if sides != (node.no, node.yes):
            changed = paying(split(node.rows, node.counts, (node.feature, node.test), sides), self.price)
            if isinstance(changed, Leaf):
                return changed
            node = changed
        return self._retest(node)

    def _retest(self, node: Split) -> Node:
        """The node with its best test, given its sides."""
        right = [self._right(side, node.rows) for side in (node.no, node.yes)]
        care = np.flatnonzero(right[0] != right[1])
        if not len(care):
            return self.refit(min(node.no, node.yes, key=lambda side: side.leaves), node.rows, node.counts)
        coded = self.grouped.coded
        rows = node.rows[care]
        gain = np.where(right[1][care], 1.0, -1.0) * coded.weights.take(rows)
        now = float(gain[coded.says_yes(node.feature, node.test, rows)].sum())
        value, feature, test = self._best(rows, gain)
        if value <= now + _SLACK:
            return node
        test = self.grouped.centred(feature, test, rows, coded.says_yes(feature, test, rows))
        return self.refit((feature, test, node.no, node.yes), node.rows, node.counts)

    def _right(self, node: Node, rows: Rows) -> Bools:
        """Which rows a tree gets right."""
        coded = self.grouped.coded
        codes = np.empty(len(rows), np.intp)
        waiting: list[tuple[Node, Codes]] = [(node, np.arange(len(rows)))]
        while waiting:
            node, places = waiting.pop()
            if isinstance(node, Leaf):
                codes[places] = node.code
            else:
                passed = coded.says_yes(node.feature, node.test, rows[places])
                waiting += [(node.no, places[~passed]), (node.yes, places[passed])]
        return np.asarray(codes == coded.codes.take(rows))

    def _best(self, rows: Rows, gain: Floats) -> tuple[float, int, Test]:
        """The test whose yes side gains most, with its gain."""
        grouped = self.grouped
        coded, starts = grouped.coded, grouped.starts
        table = grouped.weigh(rows, gain).sum(axis=0)
        running = np.where(grouped.ordered, np.cumsum(table) - gain.sum() * grouped.before, -np.inf)
        best = int(running.argmax())
        taken = np.bincount(grouped.owner, np.where(grouped.ordered, 0.0, np.maximum(table, 0)))
        other = int(taken.argmax())
        if taken[other] > running[best]:
            chosen = np.flatnonzero(table[starts[other] : starts[other + 1]] > 0)
            return float(taken[other]), other, frozenset(chosen.tolist())
        feature = int(grouped.owner[best])
        exact = np.cumsum(np.bincount(coded.bins[feature].take(rows), gain))
        threshold = int(exact.argmax())
        return float(exact[threshold]), feature, threshold

    def fit(self, tree: Shape) -> Node:
        """A tree over all rows, without the splits that do not pay."""
        rows = self.grouped.everything
        return self.refit(tree, rows, self.grouped.counts(rows))

    def refit(self, tree: Shape, rows: Rows, counts: Floats) -> Node:
        """The same tests for these rows: labels anew; branches without rows and splits that do not pay are gone."""
        below = parts(tree)
        if below is None or counts.sum() - counts.max() <= self.price:
            return leaf(rows, counts)
        feature, test, no, yes = below
        passed = self.grouped.coded.says_yes(feature, test, rows)
        if passed.all() or not passed.any():
            return self.refit(yes if passed.all() else no, rows, counts)
        mass = self.grouped.counts(rows[passed])
        sides = self.refit(no, rows[~passed], counts - mass), self.refit(yes, rows[passed], mass)
        return paying(split(rows, counts, (feature, test), sides), self.price)
