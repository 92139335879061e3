"""The trace of a run: one record for each split, and what the observer hears of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fidelitree.asking.events import Observer, SplitMade, TreeJudged

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.region import Region
    from fidelitree.trees.growing import GrowingLeaf


@dataclass(frozen=True)
class SplitRecord:
    """One split: the leaf and the test with their score, then what the tree was like after it.

    ``error`` is the error of the tree after the split, exact or estimated; ``cost`` is the paper's potential, the
    sum of all leaves' scores over all features (NaN where the run ended before it was known); ``asked`` counts the
    labels used until then.
    """

    leaf: Region
    test: Test
    score: float
    size: int
    cost: float
    error: float
    asked: int

    @property
    def feature(self) -> int:
        """Position of the feature that was split."""
        return self.test.feature


class Trace:
    """Keeps one record per split, and tells the observer."""

    def __init__(self, counted: Counted, observer: Observer) -> None:
        self.records: list[SplitRecord] = []
        self._counted, self._observer = counted, observer
        self._pending: tuple[GrowingLeaf, Test, float] | None = None

    def split(self, leaf: GrowingLeaf, test: Test, score: float) -> None:
        """A split begins: what it leads to is not known yet."""
        self._pending = leaf, test, score

    def judged(self, size: int, cost: float, error: float, error_bound: float) -> None:
        """The tree after the split was judged."""
        asked = self._counted.asked
        if self._pending is not None:
            leaf, test, score = self._pending
            self.records.append(SplitRecord(leaf.region, test, score, size, cost, error, asked))
            self._pending = None
            feature = self._counted.space.features[test.feature]
            shown = test.text(feature.name, True, feature.values)
            self._observer(SplitMade(asked, size, str(leaf.region), shown, score))
        self._observer(TreeJudged(asked, size, error, error_bound))

    def close(self, size: int, error: float, error_bound: float) -> None:
        """The run is over: record a split whose tree was judged before its cost was known."""
        if size == len(self.records) + 2:
            self.judged(size, math.nan, error, error_bound)
