"""The archive of a search: the best tree for each number of leaves, over everything that it has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fidelitree.search.local.coded import Coded
from fidelitree.search.local.node import Node
from fidelitree.search.local.pruning import Prunings
from fidelitree.trees.nested import Nested

_SLACK = 1e-9


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
        prunings = Prunings(node, self._judged, self._reached)
        judged = prunings.errors if self._held is None else prunings.missed
        shares = judged / self._judged.total
        for leaves in range(1, node.leaves + 1):
            both = float(prunings.both[leaves - 1])
            known = self._best.get(leaves)
            if known is None or both < known.both - _SLACK:
                errors, share = float(prunings.errors[leaves - 1]), float(shares[leaves - 1])
                self._best[leaves] = Point(leaves, errors, both, share, prunings.sketch)
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
