"""What a search has seen: the best tree for each number of leaves.

Pruning is exact: for each number of leaves, the pruning of a tree with the fewest errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.splits import SLACK

if TYPE_CHECKING:
    from fidelitree.search.local.grown import Grown
    from fidelitree.search.local.moves import Engine
    from fidelitree.trees.nested import Nested


class RowPrunings:
    """All best prunings of a tree, by dynamic programming over its nodes.

    Entry s - 1 of ``errors`` belongs to the pruning with exactly s leaves. Of prunings that are equally good, the one
    with the fewest leaves on the shorter side of a split is taken.
    """

    def __init__(self, tree: Grown, engine: Engine) -> None:
        self._tree = tree
        yes = tree.shape[2]
        self._leaves = np.ones(len(yes), np.intp)
        for node in np.flatnonzero(tree.shape[0] >= 0)[::-1]:
            self._leaves[node] = self._leaves[node + 1] + self._leaves[yes[node]]
        self._first = np.cumsum(self._leaves) - self._leaves
        """Where a node's part of the shares begins."""
        self._share, self.errors = engine.prune(tree)

    def with_leaves(self, leaves: int, node: int = 0) -> Nested:
        """The best pruning with exactly so many leaves."""
        inside = self._tree.below(node)
        if leaves == 1 or not isinstance(inside, tuple):
            return int(self._tree.code[node])
        test, no, yes = inside
        few = int(self._share[self._first[node] + leaves - 1])
        few, many = (leaves - few, few) if self._leaves[yes] < self._leaves[no] else (few, leaves - few)
        return test, self.with_leaves(few, no), self.with_leaves(many, yes)


@dataclass(eq=False)
class Point:
    """A tree on the curve, built when somebody asks for it; ``share`` is what share of the rows it gets wrong."""

    leaves: int
    errors: float
    share: float
    _build: Callable[[int], Nested]

    @cached_property
    def tree(self) -> Nested:
        """The tree."""
        return self._build(self.leaves)


class BestByLeaves:
    """Points by leaves; a larger tree stays only while it has fewer errors."""

    def __init__(self, engine: Engine, total: float) -> None:
        self._engine, self._total = engine, total
        self._best: dict[int, Point] = {}

    def add(self, tree: Grown) -> None:
        """Take over every pruning of a tree that beats what is known for its leaves."""
        prunings = RowPrunings(tree, self._engine)
        for leaves, errors in enumerate(prunings.errors.tolist(), start=1):
            known = self._best.get(leaves)
            if known is None or errors < known.errors - SLACK:
                self._best[leaves] = Point(leaves, errors, errors / self._total, prunings.with_leaves)

    def points(self) -> list[Point]:
        """From one leaf up."""
        points: list[Point] = []
        for leaves in sorted(self._best):
            point = self._best[leaves]
            if not points or point.errors < points[-1].errors - SLACK:
                points.append(point)
        return points

    def smallest(self, error: float) -> Point:
        """The first point whose share of errors is at most this; the last one where there is none."""
        points = self.points()
        return next((point for point in points if point.share <= error + SLACK), points[-1])

    def slope(self, point: Point) -> float:
        """How many errors a leaf is worth near a point: the mean of the hull's slopes on both sides."""
        slopes = {
            other.leaves: (other.errors - point.errors) / (point.leaves - other.leaves)
            for other in self.points()
            if other is not point
        }
        left = [slope for leaves, slope in slopes.items() if leaves < point.leaves]
        right = max((slope for leaves, slope in slopes.items() if leaves > point.leaves), default=0.0)
        return (min(left) + right) / 2 if left else right
