"""The best-first loop: always split the leaf and the feature with the largest score."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from fidelitree.asking.limits import Budget
from fidelitree.search.probes.evidence import NEAR_TIE, Evidence, Probe
from fidelitree.spaces.features import Test
from fidelitree.trees.bare import BareTree, Leaf

GOOD_ENOUGH = "good enough"
NOTHING_LEFT = "no split changes a label"


class Judge(Protocol):
    """Decides when a bare tree is good enough."""

    def hear(self, bare: BareTree, made: Sequence[Leaf]) -> None:
        """These leaves were made: the root at first, then the two leaves of every split."""

    def enough(self, bare: BareTree, evidence: Mapping[int, Evidence]) -> bool:
        """Whether growing may stop; ``evidence`` is what the probe has learnt since the last call."""


class Tracer(Protocol):
    """Hears of every split."""

    def split(self, leaf: Leaf, test: Test, score: float) -> None:
        """The leaf is about to be split."""


def grow(bare: BareTree, probe: Probe, judge: Judge, tracer: Tracer, budget: Budget) -> str:
    """Grow until the judge has enough, no split has a score, or the tree may not be larger; say which."""
    frontier, known = Frontier(), dict[int, Evidence]()
    made = list(bare.leaves.values())
    while True:
        judge.hear(bare, made)
        evidence = probe.look(bare, made)
        if judge.enough(bare, evidence):
            return GOOD_ENOUGH
        known.update(evidence)
        for number, what in evidence.items():
            frontier.put(number, what)
        best = frontier.best()
        if best is None:
            return NOTHING_LEFT
        if not budget.allows(bare.size + 1):
            return f"max_leaves = {budget.max_leaves}"
        number, feature, score = best
        test = known.pop(number).test(feature)
        tracer.split(bare.leaves[number], test, score)
        frontier.drop(number)
        made = list(bare.split(number, test))


class Frontier:
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
