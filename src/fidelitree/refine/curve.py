"""The best tree known for each number of leaves, over everything the search has seen."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fidelitree.refine.coded import Coded, Sketch
from fidelitree.refine.node import Node
from fidelitree.refine.pruning import Prunings

_SLACK = 1e-9
_BACK = 4  # smaller trees looked at, because held-out errors do not fall as steadily as errors on the rows


@dataclass(eq=False)
class Point:
    """A tree on the curve; it is built, and judged on the held-out rows, when somebody asks."""

    leaves: int
    errors: float
    _build: Callable[[], Sketch]
    _judge: Callable[[Sketch], float]

    @cached_property
    def tree(self) -> Sketch:
        """The tree."""
        return self._build()

    @cached_property
    def share(self) -> float:
        """The share of the held-out weight that it gets wrong; of the rows' weight where nothing is held out."""
        return self._judge(self.tree)


class Curve:
    """Points by leaves; a larger tree stays only while it has fewer errors on the rows."""

    def __init__(self, rows: Coded, held: Coded | None) -> None:
        self._judged = rows if held is None else held
        self._best: dict[int, Point] = {}

    def add(self, node: Node) -> None:
        """Take over every pruning of a tree that beats what is known for its number of leaves."""
        prunings = Prunings(node)
        least = np.inf
        for leaves, errors in enumerate(prunings.errors.tolist(), 1):
            if errors >= least - _SLACK:
                continue
            least = errors
            known = self._best.get(leaves)
            if known is None or errors < known.errors - _SLACK:
                self._best[leaves] = Point(leaves, errors, _later(prunings, leaves), self._share)

    def _share(self, tree: Sketch) -> float:
        return self._judged.errors(tree) / self._judged.total

    def points(self) -> list[Point]:
        """From one leaf up, with falling errors on the rows."""
        points: list[Point] = []
        for leaves in sorted(self._best):
            point = self._best[leaves]
            if not points or point.errors < points[-1].errors - _SLACK:
                points.append(point)
        return points

    def smallest(self, error: float) -> Point:
        """The first point whose share of errors is at most this; the last one where there is none."""
        points = self.points()
        place = bisect.bisect_left(points, True, key=lambda point: point.share <= error + _SLACK)
        for point in points[max(place - _BACK, 0) : place + 1]:
            if point.share <= error + _SLACK:
                return point
        return points[-1]

    def slope(self, point: Point) -> float:
        """How many errors a leaf is worth near this point: the mean of the slopes of the hull on both sides."""
        slopes = {
            other.leaves: (other.errors - point.errors) / (point.leaves - other.leaves)
            for other in self.points()
            if other.leaves != point.leaves
        }
        left = [slope for leaves, slope in slopes.items() if leaves < point.leaves]
        right = max((slope for leaves, slope in slopes.items() if leaves > point.leaves), default=0.0)
        return (min(left) + right) / 2 if left else right


def _later(prunings: Prunings, leaves: int) -> Callable[[], Sketch]:
    return lambda: prunings.sketch(leaves)
