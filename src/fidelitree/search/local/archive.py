"""The archive of a search: the best tree for each number of leaves, over everything that it has seen.

Pruning is exact: for each number of leaves, the pruning of a tree with the fewest errors. Labels come from the rows
that the tree was grown on. Which splits stay is decided by errors on those rows and on the held-out ones together: a
split that only fits noise gains nothing on rows it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.node import Leaf, Node
from fidelitree.trees.curve import min_plus

if TYPE_CHECKING:
    from collections.abc import Callable

    from fidelitree.search.local.coded import Coded, Rows
    from fidelitree.trees.nested import Nested

_SLACK = 1e-9


class RowPrunings:
    """All best prunings of a tree, by dynamic programming over its nodes; the tree's rows are not kept.

    Entry s - 1 belongs to the pruning with exactly s leaves: ``errors`` on the rows, ``missed`` on the held-out rows,
    ``both`` their sum, which is the least possible. Of prunings that are equally good, the one with the fewest leaves
    on the shorter side of a split is taken.
    """

    def __init__(self, node: Node, held: Coded, reached: Rows) -> None:
        self._code = int(node.counts.argmax())
        self.errors = np.full(node.leaves, float(node.counts.sum() - node.counts.max()))
        wrong = held.codes.take(reached) != self._code
        self.missed = np.full(node.leaves, float(held.weights.take(reached)[wrong].sum()))
        self.both = self.errors + self.missed
        if not isinstance(node, Leaf):
            passed = held.says_yes(node.test, reached)
            no, yes = RowPrunings(node.no, held, reached[~passed]), RowPrunings(node.yes, held, reached[passed])
            self._test, self._sides, self._mirrored = node.test, (no, yes), yes.most < no.most
            short, long = (yes, no) if self._mirrored else (no, yes)
            self.both[1:] = np.inf
            self._share = np.zeros(node.leaves, np.intp)  # leaves of the shorter side
            min_plus(self.both, short.both, long.both, self._share)
            few = self._share[1:]
            many = np.arange(2, node.leaves + 1) - few
            self.errors[1:] = short.errors[few - 1] + long.errors[many - 1]
            self.missed[1:] = short.missed[few - 1] + long.missed[many - 1]

    @property
    def most(self) -> int:
        """Leaves of the whole tree."""
        return len(self.both)

    def with_leaves(self, leaves: int) -> Nested:
        """The best pruning with exactly so many leaves."""
        if leaves == 1:
            return self._code
        few = int(self._share[leaves - 1])
        shares = (leaves - few, few) if self._mirrored else (few, leaves - few)
        no, yes = (side.with_leaves(share) for side, share in zip(self._sides, shares, strict=True))
        return self._test, no, yes


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


class Archive:
    """Points by leaves; a larger tree stays only while it has fewer errors, rows and held-out rows together."""

    def __init__(self, rows: Coded, held: Coded | None) -> None:
        self._rows, self._held = rows, held
        self._judged = rows if held is None else held
        self._reached = np.arange(0 if held is None else len(held.codes), dtype=np.int32)
        self._best: dict[int, Point] = {}

    def add(self, node: Node) -> float:
        """Take over every pruning of a tree that beats what is known for its leaves; the tree's own share of errors."""
        prunings = RowPrunings(node, self._judged, self._reached)
        judged = prunings.errors if self._held is None else prunings.missed
        shares = judged / self._judged.total
        for leaves in range(1, node.leaves + 1):
            both = float(prunings.both[leaves - 1])
            known = self._best.get(leaves)
            if known is None or both < known.both - _SLACK:
                errors, share = float(prunings.errors[leaves - 1]), float(shares[leaves - 1])
                self._best[leaves] = Point(leaves, errors, both, share, prunings.with_leaves)
        return float(shares[-1])

    def points(self) -> list[Point]:
        """From one leaf up."""
        points: list[Point] = []
        for leaves in sorted(self._best):
            point = self._best[leaves]
            if not points or point.both < points[-1].both - _SLACK:
                points.append(point)
        return points

    def smallest(self, error: float) -> Point:
        """The first point whose share of errors is at most this; the last one where there is none."""
        points = self.points()
        return next((point for point in points if point.share <= error + _SLACK), points[-1])

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
