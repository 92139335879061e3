"""Trees while they are searched: each node keeps its rows, so a change is judged where it happens.

Nodes are never changed: a new subtree means new nodes on the path to the root and nowhere else, so a tree that was
good once can be kept for nothing. Trees grow greedily: below a node until no split can pay, or best-first as CART does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.best_first import best_first
from fidelitree.spaces.features import Test

if TYPE_CHECKING:
    from fidelitree.search.local.coded import Bools, Floats, Rows
    from fidelitree.search.local.splits import Impurity, Splits
    from fidelitree.trees.nested import Nested

_DEEPEST = 100  # greedy growth that only peels off single values would outgrow Python's stack


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """Rows that get one label."""

    rows: Rows
    counts: Floats
    errors: float
    leaves: int = 1

    @property
    def code(self) -> int:
        """The label: the heaviest, the first among equals."""
        return int(self.counts.argmax())


@dataclass(frozen=True, eq=False, slots=True)
class Split:
    """Rows divided by a test."""

    rows: Rows
    counts: Floats
    errors: float
    leaves: int
    test: Test
    no: Node
    yes: Node


Node = Leaf | Split
Shape = Node | int | tuple[Test, "Shape", "Shape"]
"""A tree with its rows, without them, or a test above such trees."""


def leaf(rows: Rows, counts: Floats) -> Leaf:
    """A leaf for these rows."""
    return Leaf(rows, counts, float(counts.sum() - counts.max()))


def split(rows: Rows, counts: Floats, test: Test, sides: tuple[Node, Node]) -> Split:
    """A node with these sides."""
    no, yes = sides
    return Split(rows, counts, no.errors + yes.errors, no.leaves + yes.leaves, test, no, yes)


def nested(node: Node) -> Nested:
    """The tree without its rows."""
    return node.code if isinstance(node, Leaf) else (node.test, nested(node.no), nested(node.yes))


def below(tree: Shape) -> tuple[Test, Shape, Shape] | int:
    """Test and both sides of a tree with or without rows; the code of a leaf."""
    if isinstance(tree, Split):
        return tree.test, tree.no, tree.yes
    return tree.code if isinstance(tree, Leaf) else tree


def replace(node: Node, path: list[bool], new: Node) -> Node:
    """The tree with another subtree at the end of a path (True is yes)."""
    if not path:
        return new
    assert isinstance(node, Split)
    no, yes = node.no, node.yes
    sides = (no, replace(yes, path[1:], new)) if path[0] else (replace(no, path[1:], new), yes)
    return split(node.rows, node.counts, node.test, sides)


def inner(node: Node, number: int) -> tuple[list[bool], Split]:
    """The path to an inner node, numbered from 0 in preorder, and the node."""
    path: list[bool] = []
    while True:
        assert isinstance(node, Split)
        if number == 0:
            return path, node
        number -= 1
        here = node.no.leaves - 1
        path.append(number >= here)
        node, number = (node.yes, number - here) if number >= here else (node.no, number)


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
    """The node, or a leaf in its place where that costs no more."""
    alone = leaf(node.rows, node.counts)
    return node if node.errors + price * node.leaves < alone.errors + price else alone


def cart(splits: Splits, most: int, impurity: Impurity) -> Node:
    """The tree with at most so many leaves that splits where the impurity falls most: CART's own growth."""
    leaves, tests = list[Leaf](), dict[int, tuple[Test, int]]()

    def look(made: Sequence[Rows]) -> Iterator[tuple[int, float, Test]]:
        for rows in made:
            found = leaf(rows, splits.grouped.counts(rows))
            leaves.append(found)
            if found.errors > 0:
                menu = splits.look(splits.grouped.histogram(rows), found.counts)
                scores = menu.scores(impurity)
                if scores.size and scores.min() < np.inf:
                    gain = float(impurity(found.counts[:, None])[0] - scores.min())
                    yield len(leaves) - 1, gain, menu.decode(int(scores.argmin()))

    def divide(number: int, rough: Test) -> tuple[Rows, Rows]:
        rows = leaves[number].rows
        test, passed = splits.divide(rough, rows, impurity)
        tests[number] = test, len(leaves)
        return rows[~passed], rows[passed]

    def build(number: int) -> Node:
        here = leaves[number]
        if number not in tests:
            return here
        test, no = tests[number]
        return split(here.rows, here.counts, test, (build(no), build(no + 1)))

    for size, _ in enumerate(best_first([splits.grouped.all_rows], look, divide), start=1):
        if size >= most:
            break
    return build(0)
