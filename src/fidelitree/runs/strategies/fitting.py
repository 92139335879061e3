"""Trees for the labels at hand: a search on most of them, and the others held out to choose a size by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.local.iterated import Refiner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fidelitree.asking.limits import Watch
    from fidelitree.runs.input_source import Inner
    from fidelitree.search.local.archive import Point
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

Codes = NDArray[np.intp]


class Fitting:
    """A search over labelled inputs.

    ``most`` is the number of leaves that a tree may have; None is no limit. ``watch`` is called on the way, and may end
    a search by what it raises.
    """

    def __init__(
        self, product: ProductSpace, inner: Inner, codes: Codes, seed: int, most: int | None, watch: Watch
    ) -> None:
        self.binning = Binning.of(product, inner)
        held = np.arange(len(codes)) % HELD == HELD - 1
        self._codes, self._seed, self._most = codes, seed, most
        self._some = self.binning.coded(codes[~held], ~held)
        # Where there are too few to hold any out, all judge.
        self._others = self.binning.coded(codes[held], held) if held.any() else self._some
        self._refiner, self._watch = Refiner(self._some, self._others, seed, watch), watch
        self._everything: Refiner | None = None

    def tree(self, sketch: Nested, book: LabelBook) -> Tree:
        """A tree of inputs."""
        return self.binning.tree(sketch, book.ranks(), book.sorted())

    def improve(self, aim: float, steps: int) -> None:
        """Look for trees whose error is near this."""
        self._refiner.improve(aim, steps)

    def reaching(self, aim: float) -> Nested | None:
        """The smallest tree with at most this share of held-out errors, if one of them may be as large."""
        first = next((point for point in self._points() if point.share <= aim), None)
        return None if first is None else first.tree

    def most_faithful(self) -> Nested:
        """The tree with the fewest held-out errors; of the larger ones only some are looked at."""
        points = self._points()
        some = sorted({round(len(points) * 0.8**k) for k in range(20)} & set(range(len(points)))) or [0]
        return min((points[k] for k in {*some, len(points) - 1}), key=lambda point: (point.share, point.leaves)).tree

    def share(self, candidate: Nested) -> float:
        """The share of held-out labels that a tree gets wrong."""
        return self._others.errors(candidate) / self._others.total

    def fitted(self, most: int) -> float:
        """The share of wrong labels, among those that the trees of at most so many leaves were fitted to."""
        return self._points(most)[-1].errors / self._some.total

    def held(self) -> float:
        """The smallest share of held-out errors."""
        return min(point.share for point in self._points())

    def on_all(self, sizes: Sequence[int], aim: float, steps: int) -> list[Nested]:
        """Trees of these sizes fitted to all labels: they may be too few for some to be left out."""
        if self._everything is None:
            self._everything = Refiner(self.binning.coded(self._codes), None, self._seed, self._watch)
            self._everything.improve(aim, steps)
        return [self._everything.with_leaves(min(leaves, self._most or leaves)).tree for leaves in sizes]

    def carried_on(self, sizes: Sequence[int], steps: int) -> list[Nested]:
        """The same from where the search has come to, for as many steps again; sizes that may not be are left out."""
        everything = self._refiner.carried_on(self.binning.coded(self._codes), steps)
        return [everything.with_leaves(leaves).tree for leaves in sizes if self._most is None or leaves <= self._most]

    def _points(self, most: int | None = None) -> list[Point]:
        """The curve, up to so many leaves."""
        limit = min((leaves for leaves in (most, self._most) if leaves is not None), default=None)
        return [point for point in self._refiner.points() if limit is None or point.leaves <= limit]
