"""Proposals for a tree, and the search that makes them one after the other: the twin in Python of the compiled one.

Proposals are other subtrees for the rows of one node: another test for it, and below it each side grown anew, or what
the old tree becomes there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.coded import Bools, Coded, Floats, Grouped
from fidelitree.search.local.compiled import Compiled, compiled
from fidelitree.search.local.grown import Grown, Places, flat, words_of
from fidelitree.search.local.node import Grower, Leaf, Node, Split, cart, inner, nested, paying, replace, split
from fidelitree.search.local.polish import Polisher
from fidelitree.search.local.splits import IMPURITIES, SLACK, Impurity, Splits, entropy, greedy_impurity
from fidelitree.trees.curve import min_plus

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Rows
    from fidelitree.search.local.splitmix import Splitmix
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested

_WAYS = ("pulled", "any feature", "best")
"""To a first test, all equally often."""
_TOP = 3  # best tests that one is drawn from


class Reference:
    """Searches some rows; tests are looked for on some features only. See `compiled.Compiled` for what it does."""

    def __init__(self, coded: Coded, features: Sequence[int], watch: Watch) -> None:
        self._splits, self._words = Splits(Grouped(coded, features, watch)), words_of(coded.sizes)
        self._impurity = greedy_impurity(coded.classes)

    def cart(self, most: int) -> Grown:
        """CART's tree with at most so many leaves."""
        return grown(cart(self._splits, most, self._impurity), self._words)

    def fit(self, tree: Nested, price: float) -> Grown:
        """A tree fitted to all rows, its leaves grown on, both as far as it pays at this price of a leaf."""
        grower = Grower(self._splits, price, self._impurity)
        return grown(_extended(Polisher(self._splits.grouped, price).fit(tree), grower), self._words)

    def descend(self, tree: Grown, price: float, steps: int, stream: Splitmix, polished: bool) -> tuple[Grown, int]:
        """The tree, polished first if so wished, after at most so many proposals; and how many were made."""
        polisher = Polisher(self._splits.grouped, price)
        moves, made = Moves(self._splits, polisher, stream), 0
        node = self._loaded(tree, 0, self._splits.grouped.all_rows)
        node = polisher.polish(node) if polished else node
        while made < steps and node.leaves > 1:
            made += 1
            path, old = inner(node, stream.below(node.leaves - 1))
            new = moves.propose(old)
            if polisher.cost(new) <= polisher.cost(old) + SLACK:
                node = replace(node, path, new)
        return grown(node, self._words), made

    def prune(self, tree: Grown) -> tuple[Places, Floats]:
        """Of every node and number of leaves those of the shorter side; errors of the whole tree's best prunings."""
        shares: list[Places] = []
        errors = _pruned(tree, 0, shares)
        return np.concatenate(shares), errors

    def _loaded(self, tree: Grown, place: int, rows: Rows) -> Node:
        """The part of a tree below a node, with its rows."""
        counts, inside = np.asarray(tree.counts[place], np.float64), tree.below(place)
        if isinstance(inside, int):
            return Leaf(rows, counts, float(tree.alone[place]))
        test, no, yes = inside
        passed = self._splits.grouped.coded.says_yes(test, rows)
        sides = self._loaded(tree, no, rows[~passed]), self._loaded(tree, yes, rows[passed])
        return split(rows, counts, test, sides)


Engine = Compiled | Reference
"""What does the work on some rows: compiled, or its twin in Python."""


def engine(coded: Coded, features: Sequence[int] | None, watch: Watch) -> Engine:
    """The faster engine of those that can search these rows; which one it is cannot be seen from the trees."""
    kind = Compiled if compiled(coded) else Reference
    return kind(coded, range(len(coded.sizes)) if features is None else features, watch)


def greedy(coded: Coded) -> Nested:
    """The greedy tree for all rows, by entropy, split until the labels of each leaf agree: ID3's."""
    grouped = Grouped(coded)
    rows = grouped.all_rows
    return nested(Grower(Splits(grouped), 0.0, entropy).grow(rows, grouped.counts(rows)))


def grown(node: Node, words: int) -> Grown:
    """A tree with rows as arrays."""
    counts: list[Floats] = []

    def gather(part: Node) -> None:
        counts.append(part.counts)
        if isinstance(part, Split):
            gather(part.no)
            gather(part.yes)

    gather(node)
    return Grown(flat(nested(node), words), np.array(counts))


def _pruned(tree: Grown, node: int, shares: list[Places]) -> Floats:
    """The errors of all best prunings below a node."""
    alone, inside, place = float(tree.alone[node]), tree.below(node), len(shares)
    shares.append(np.zeros(1, np.int32))
    if not isinstance(inside, tuple):
        return np.array([alone])
    sides = [_pruned(tree, side, shares) for side in inside[1:]]
    short, long = sides if len(sides[0]) <= len(sides[1]) else sides[::-1]
    errors, few = np.full(len(short) + len(long), np.inf), np.zeros(len(short) + len(long), np.intp)
    errors[0] = alone
    min_plus(errors, short, long, few)
    shares[place] = few.astype(np.int32)
    return errors


def _extended(node: Node, grower: Grower) -> Node:
    """The tree with its leaves grown on where that pays."""
    if isinstance(node, Leaf):
        return grower.grow(node.rows, node.counts)
    sides = _extended(node.no, grower), _extended(node.yes, grower)
    return paying(split(node.rows, node.counts, node.test, sides), grower.price)


@dataclass(frozen=True)
class Moves:
    """Proposals at one price of a leaf, drawn from one stream of random numbers."""

    splits: Splits
    polisher: Polisher
    stream: Splitmix

    def propose(self, node: Split) -> Node:
        """Another test for a node; each side grown anew, or what the old tree becomes there, whichever is cheaper."""
        polisher, price = self.polisher, self.polisher.price
        impurity = IMPURITIES[self.stream.below(len(IMPURITIES))]
        histogram = self.splits.grouped.histogram(node.rows)
        first = self._first(node, histogram, impurity)
        new = Grower(self.splits, price, impurity).divided(node, histogram, first)
        if isinstance(new, Split):
            no, yes = (
                min(side, polisher.refit(node, side.rows, side.counts), key=polisher.cost) for side in (new.no, new.yes)
            )
            new = paying(split(new.rows, new.counts, first[0], (no, yes)), price)
        return polisher.polish(new) if polisher.cost(new) < polisher.cost(node) + price else new

    def _first(self, node: Split, histogram: Floats, impurity: Impurity) -> tuple[Test, Bools]:
        """A test for the node, and which of its rows pass: one from further down, or one of the best.

        Of the best of all features, or of one feature that is drawn, however little it explains alone: a selector
        explains nothing.
        """
        way = _WAYS[self.stream.below(len(_WAYS))]
        menu = self.splits.look(histogram, node.counts)
        scores = menu.scores(impurity)
        if way == "pulled" or scores.min(initial=np.inf) == np.inf:
            _, below = inner(node, self.stream.below(node.leaves - 1))
            return below.test, self.splits.grouped.coded.says_yes(below.test, node.rows)
        if way == "any feature":
            features = self.splits.features
            some = np.unique(features[scores < np.inf])
            scores[features != some[self.stream.below(len(some))]] = np.inf
        finite = np.flatnonzero(scores < np.inf)
        top = finite[np.argsort(scores[finite], kind="stable")[:_TOP]]
        rough = menu.decode(int(top[self.stream.below(len(top))]))
        return self.splits.divide(rough, node.rows, impurity)
