"""What a search has seen: the best tree for each number of leaves.

Pruning is exact: for each number of leaves, the pruning of a tree with the fewest errors. Labels come from the rows
that the tree was grown on. Which splits stay is decided by errors on those rows and on the held-out ones together: a
split that only fits noise gains nothing on rows it has not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.local.compiled import Compiled, compiled
from fidelitree.search.local.splits import SLACK
from fidelitree.trees.curve import min_plus

if TYPE_CHECKING:
    from fidelitree.search.local.coded import Coded, Floats
    from fidelitree.search.local.grown import Grown
    from fidelitree.trees.nested import Nested

Places = NDArray[np.intp]


class RowPrunings:
    """All best prunings of a tree, by dynamic programming over its nodes.

    Entry s - 1 belongs to the pruning with exactly s leaves: ``errors`` on the rows, ``missed`` on the held-out rows,
    ``both`` their sum, which is the least possible. Of prunings that are equally good, the one with the fewest leaves
    on the shorter side of a split is taken.
    """

    def __init__(self, tree: Grown, held: Held) -> None:
        self._tree = tree
        yes = tree.shape[2]
        self._leaves = np.ones(len(yes), np.intp)
        for node in np.flatnonzero(tree.shape[0] >= 0)[::-1]:
            self._leaves[node] = self._leaves[node + 1] + self._leaves[yes[node]]
        self._first = np.cumsum(self._leaves) - self._leaves
        """Where a node's part of the shares begins."""
        self._share, self.errors, self.missed, self.both = held.prune(tree)

    def with_leaves(self, leaves: int, node: int = 0) -> Nested:
        """The best pruning with exactly so many leaves."""
        inside = self._tree.below(node)
        if leaves == 1 or not isinstance(inside, tuple):
            return int(self._tree.code[node])
        test, no, yes = inside
        few, many = self._sides(node, leaves)
        return test, self.with_leaves(few, no), self.with_leaves(many, yes)

    def leaf_nodes(self, leaves: int, node: int = 0) -> list[int]:
        """The nodes that it makes leaves."""
        if leaves == 1:
            return [node]
        few, many = self._sides(node, leaves)
        return self.leaf_nodes(few, node + 1) + self.leaf_nodes(many, self._tree.shape[2][node])

    def _sides(self, node: int, leaves: int) -> tuple[int, int]:
        """The leaves of a node's no side and of its yes side, where it has more than one."""
        no, yes = node + 1, self._tree.shape[2][node]
        few = int(self._share[self._first[node] + leaves - 1])
        return (leaves - few, few) if self._leaves[yes] < self._leaves[no] else (few, leaves - few)


class Held:
    """Held-out rows that judge prunings, compiled where they allow it.

    Where nothing is held out one row judges, with a label that no tree gives: what it counts is taken off again.
    """

    def __init__(self, coded: Coded | None, rows: Coded, watch: Watch) -> None:
        """``rows`` are those of the trees."""
        self._too_many = 0.0
        if coded is None:
            self._too_many = float(compiled(rows))  # in C every row counts 1, here one may count nothing
            codes, weights = np.array([rows.classes]), np.array([self._too_many])
            coded = replace(rows, bins=rows.bins[:, :1], codes=codes, weights=weights)
        self._coded = coded
        self._compiled = Compiled(coded, (), watch) if compiled(coded) else None

    def prune(self, tree: Grown) -> tuple[Any, ...]:
        """For every node and number of leaves those of its shorter side; errors, missed and both of the whole tree."""
        if self._compiled is None:
            shares: list[NDArray[np.int32]] = []
            errors, missed, both = self._lines(tree, 0, np.arange(len(self._coded.codes)), shares)
            share = np.concatenate(shares)
        else:
            share, errors, missed, both = self._compiled.prune(tree)
        return share, errors, missed - self._too_many, both - self._too_many

    def _lines(self, tree: Grown, node: int, reached: Places, shares: list[NDArray[np.int32]]) -> list[Floats]:
        """Errors, missed and both of all prunings below a node: the twin in Python of what is compiled."""
        wrong = self._coded.codes.take(reached) != tree.code[node]
        errors, missed = float(tree.alone[node]), float(self._coded.weights.take(reached)[wrong].sum())
        inside, place = tree.below(node), len(shares)
        shares.append(np.zeros(1, np.int32))
        if not isinstance(inside, tuple):
            return [np.array([value]) for value in (errors, missed, errors + missed)]
        test, no, yes = inside
        passed = self._coded.says_yes(test, reached)
        sides = self._lines(tree, no, reached[~passed], shares), self._lines(tree, yes, reached[passed], shares)
        short, long = sides if len(sides[0][0]) <= len(sides[1][0]) else sides[::-1]
        leaves = len(short[0]) + len(long[0])
        both, few = np.full(leaves, np.inf), np.zeros(leaves, np.intp)
        both[0] = errors + missed
        min_plus(both, short[2], long[2], few)
        many = np.arange(1, leaves + 1) - few
        shares[place] = few.astype(np.int32)
        summed = [one[few[1:] - 1] + two[many[1:] - 1] for one, two in zip(short[:2], long[:2], strict=True)]
        return [np.concatenate([[errors], summed[0]]), np.concatenate([[missed], summed[1]]), both]


@dataclass(eq=False)
class Point:
    """A tree on the curve, built when somebody asks for it.

    ``errors`` are those on the rows, ``both`` those on the held-out rows too, ``share`` the share of the held-out
    weight that it gets wrong (of the rows' weight where nothing is held out).
    """

    leaves: int
    errors: float
    both: float
    share: float
    _build: Callable[[int], Nested]

    @cached_property
    def tree(self) -> Nested:
        """The tree."""
        return self._build(self.leaves)


class BestByLeaves:
    """Points by leaves; a larger tree stays only while it has fewer errors, rows and held-out rows together."""

    def __init__(self, rows: Coded, held: Coded | None, watch: Watch = go_on) -> None:
        self._nobody, self._total = held is None, (rows if held is None else held).total
        self._held = Held(held, rows, watch)
        self._best: dict[int, Point] = {}

    def add(self, tree: Grown) -> float:
        """Take over every pruning of a tree that beats what is known for its leaves; the tree's own share of errors."""
        prunings = RowPrunings(tree, self._held)
        shares = (prunings.errors if self._nobody else prunings.missed) / self._total
        for leaves in range(1, tree.leaves + 1):
            both = float(prunings.both[leaves - 1])
            known = self._best.get(leaves)
            if known is None or both < known.both - SLACK:
                errors, share = float(prunings.errors[leaves - 1]), float(shares[leaves - 1])
                self._best[leaves] = Point(leaves, errors, both, share, prunings.with_leaves)
        return float(shares[-1])

    def points(self) -> list[Point]:
        """From one leaf up."""
        points: list[Point] = []
        for leaves in sorted(self._best):
            point = self._best[leaves]
            if not points or point.both < points[-1].both - SLACK:
                points.append(point)
        return points

    def smallest(self, error: float) -> Point:
        """The first point whose share of errors is at most this; the last one where there is none."""
        points = self.points()
        return next((point for point in points if point.share <= error + SLACK), points[-1])

    def slope(self, point: Point) -> float:
        """How many errors on the rows a leaf is worth near a point: the mean of the hull's slopes on both sides."""
        slopes = {
            other.leaves: (other.errors - point.errors) / (point.leaves - other.leaves)
            for other in self.points()
            if other is not point
        }
        left = [slope for leaves, slope in slopes.items() if leaves < point.leaves]
        right = max((slope for leaves, slope in slopes.items() if leaves > point.leaves), default=0.0)
        return (min(left) + right) / 2 if left else right
