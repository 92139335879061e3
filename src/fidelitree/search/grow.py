"""The best-first loop: always split the leaf and the feature with the largest score; and the contract of its probes."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import IsOne, Test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fidelitree.asking.limits import Budget
    from fidelitree.trees.growing import GrowingLeaf, GrowingTree

Floats = NDArray[np.float64]

NEAR_TIE = 1e-12
"""Relative difference below which two scores, or two masses, are the same: rounding must not decide."""
GOOD_ENOUGH = "good enough"
NOTHING_LEFT = "no split changes a label"


@dataclass(frozen=True)
class Evidence:
    """What a probe knows about one leaf.

    ``scores[i]`` is the probability of reaching the leaf times the influence of feature i there, exact or
    estimated; it is 0 for a feature that cannot split the leaf. ``label_masses`` are the probabilities of
    reaching the leaf with each label, where the probe knows them. Where not all features are bits, a score is what the
    best of the feature's tests, ``tests[i]``, takes off the cost, and ``cost`` is the leaf's share of it.
    """

    scores: Floats
    label_masses: Floats | None = None
    tests: Sequence[Test] = ()
    leaf_cost: float | None = None

    def test(self, feature: int) -> Test:
        """The best test of a feature."""
        return self.tests[feature] if self.tests else IsOne(feature)

    @property
    def cost(self) -> float:
        """Probability of reaching the leaf times the total influence there."""
        return float(self.scores.sum()) if self.leaf_cost is None else self.leaf_cost

    @property
    def best(self) -> int:
        """The label with the largest mass; near ties go to the first."""
        assert self.label_masses is not None, "this probe does not know labels"
        return int(np.argmax(self.label_masses >= self.label_masses.max() * (1 - NEAR_TIE)))

    @property
    def error(self) -> float:
        """What the leaf's best label still gets wrong."""
        assert self.label_masses is not None, "this probe does not know labels"
        return float(np.delete(self.label_masses, self.best).sum())


class Probe(Protocol):
    """Region in, evidence out."""

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Evidence by leaf number: about the leaves just made, and about every other leaf that it has new evidence on.

        ``made`` is the root alone at first, then the two leaves of the last split, no before yes.
        """


class Judge(Protocol):
    """Decides when a bare tree is good enough."""

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        """These leaves were made: the root at first, then the two leaves of every split."""

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        """Whether growing may stop; ``evidence`` is what the probe has learnt since the last call."""


class Tracer(Protocol):
    """Hears of every split."""

    def split(self, leaf: GrowingLeaf, test: Test, score: float) -> None:
        """The leaf is about to be split."""


def grow(bare: GrowingTree, probe: Probe, judge: Judge, tracer: Tracer, budget: Budget) -> str:
    """Grow until the judge has enough, no split has a score, or the tree may not be larger; say which."""
    queue, known = LeafQueue(), dict[int, Evidence]()
    made = list(bare.leaves.values())
    while True:
        judge.hear(bare, made)
        evidence = probe.look(bare, made)
        if judge.enough(bare, evidence):
            return GOOD_ENOUGH
        known.update(evidence)
        for number, what in evidence.items():
            queue.put(number, what)
        best = queue.best()
        if best is None:
            return NOTHING_LEFT
        if not budget.allows(bare.size + 1):
            return f"max_leaves = {budget.max_leaves}"
        number, feature, score = best
        test = known.pop(number).test(feature)
        tracer.split(bare.leaves[number], test, score)
        queue.drop(number)
        made = list(bare.split(number, test))


class LeafQueue:
    """The leaves by their best score; near ties go to the leaf made first, then to the lowest feature.

    Leaves with one and the same score share a bucket, so a tie of thousands costs no more than one of two.
    """

    def __init__(self) -> None:
        self._best: dict[int, tuple[float, int]] = {}
        self._buckets: dict[float, list[int]] = {}
        self._scores: list[float] = []

    def put(self, number: int, evidence: Evidence) -> None:
        """Replace what is known about a leaf."""
        scores = evidence.scores
        top = float(scores.max())
        if self._best.pop(number, (0.0, 0))[0] == top > 0:
            self._best[number] = top, _lowest(scores, top)
            return
        if top > 0:
            self._best[number] = top, _lowest(scores, top)
            if top not in self._buckets:
                self._buckets[top] = []
                heapq.heappush(self._scores, -top)
            heapq.heappush(self._buckets[top], number)

    def drop(self, number: int) -> None:
        """Forget a leaf."""
        self._best.pop(number, None)

    def best(self) -> tuple[int, int, float] | None:
        """Leaf, feature and score of the best split; None when no split has a score."""
        aside, chosen, limit = [], None, 0.0
        while self._scores and -self._scores[0] >= limit:
            score = -self._scores[0]
            bucket = self._buckets[score]
            while bucket and self._best.get(bucket[0], (0.0, 0))[0] != score:
                heapq.heappop(bucket)
            heapq.heappop(self._scores)
            if not bucket:
                del self._buckets[score]
                continue
            aside.append(score)
            limit = limit or score * (1 - NEAR_TIE)
            chosen = bucket[0] if chosen is None else min(chosen, bucket[0])
        for score in aside:
            heapq.heappush(self._scores, -score)
        if chosen is None:
            return None
        score, feature = self._best[chosen]
        return chosen, feature, score


def _lowest(scores: np.ndarray[tuple[int], np.dtype[np.float64]], top: float) -> int:
    return int(np.argmax(scores >= top * (1 - NEAR_TIE)))
