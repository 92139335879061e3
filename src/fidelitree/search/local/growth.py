"""Growing trees greedily: below a node until no split can pay, or best-first as CART does."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass

import numpy as np

from fidelitree.search.local.coded import Bools, Floats
from fidelitree.search.local.grouped import Rows
from fidelitree.search.local.impurity import Impurity, errors
from fidelitree.search.local.node import Node, leaf, split
from fidelitree.search.local.splits import Splits
from fidelitree.spaces.features import Test

_DEEPEST = 100  # greedy growth that only peels off single values would outgrow Python's stack


@dataclass(frozen=True)
class Grower:
    """Grows below a node while its errors exceed the price of a leaf, then takes back what does not pay."""

    splits: Splits
    price: float
    impurity: Impurity

    def grow(self, rows: Rows, counts: Floats, histogram: Floats | None = None, depth: int = 0) -> Node:
        """The greedy tree for these rows, whose counts are known and perhaps their histogram."""
        alone = leaf(rows, counts)
        if alone.errors <= self.price or depth == _DEEPEST:
            return alone
        if histogram is None:
            histogram = self.splits.grouped.histogram(rows)
        menu = self.splits.look(histogram, counts)
        scores = menu.scores(self.impurity)
        if scores.min(initial=np.inf) == np.inf:
            return alone
        first = self.splits.divide(menu.decode(int(scores.argmin())), rows, self.impurity)
        return self.divided(alone, histogram, first, depth)

    def divided(self, node: Node, histogram: Floats, first: tuple[Test, Bools], depth: int = 0) -> Node:
        """The greedy tree for the rows of a node, when its first test is given with the rows that pass it."""
        rows, counts = node.rows, node.counts
        test, passed = first
        sides = rows[~passed], rows[passed]
        mass = self.splits.grouped.counts(sides[1])
        masses = counts - mass, mass
        tables = self._tables(sides, masses, histogram)
        no = self.grow(sides[0], masses[0], tables[0], depth + 1)
        yes = self.grow(sides[1], masses[1], tables[1], depth + 1)
        return paying(split(rows, counts, test, (no, yes)), self.price)

    def _tables(
        self, sides: tuple[Rows, Rows], masses: tuple[Floats, Floats], histogram: Floats
    ) -> tuple[Floats | None, Floats | None]:
        """Histograms of both sides, the larger by subtraction; none where the larger side will not be divided."""
        small = int(len(sides[1]) < len(sides[0]))
        large = masses[1 - small]
        if large.sum() - large.max() <= self.price:
            return None, None
        table = self.splits.grouped.histogram(sides[small])
        return (histogram - table, table) if small else (table, histogram - table)


def paying(node: Node, price: float) -> Node:
    """The node, or a leaf in its place where that is not dearer."""
    alone = leaf(node.rows, node.counts)
    return node if node.errors + price * node.leaves < alone.errors + price else alone


def best_first(splits: Splits, most: int, impurity: Impurity) -> Node:
    """The tree with at most so many leaves that splits where the impurity falls most: CART's own growth."""
    rows = splits.grouped.everything
    counts = splits.grouped.counts(rows)
    found: dict[int, tuple[Rows, Floats, Test | None, int]] = {}
    heap: list[tuple[float, int, Test]] = []

    def add(rows: Rows, counts: Floats) -> int:
        number = len(found)
        found[number] = rows, counts, None, 0
        if errors(counts[:, None])[0] > 0:
            menu = splits.look(splits.grouped.histogram(rows), counts)
            scores = menu.scores(impurity)
            if scores.size and scores.min() < np.inf:
                gain = float(impurity(counts[:, None])[0] - scores.min())
                heapq.heappush(heap, (-gain, number, menu.decode(int(scores.argmin()))))
        return number

    add(rows, counts)
    for _ in itertools.takewhile(lambda leaves: heap and leaves < most, itertools.count(1)):
        _, number, rough = heapq.heappop(heap)
        rows, counts, _, _ = found[number]
        test, passed = splits.divide(rough, rows, impurity)
        no = add(rows[~passed], splits.grouped.counts(rows[~passed]))
        add(rows[passed], splits.grouped.counts(rows[passed]))
        found[number] = rows, counts, test, no

    def build(number: int) -> Node:
        rows, counts, test, no = found[number]
        return leaf(rows, counts) if test is None else split(rows, counts, test, (build(no), build(no + 1)))

    return build(0)
