"""The best-first loop: always split the leaf that gains most, and look at what was made."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

NEAR_TIE = 1e-12
"""Relative difference below which two scores, or two masses, are the same: rounding must not decide."""
N = TypeVar("N")
S = TypeVar("S")


def best_first(
    made: Sequence[N],
    look: Callable[[Sequence[N]], Iterable[tuple[int, float, S | None]]],
    split: Callable[[int, S], Sequence[N]],
    tie: float = 0.0,
) -> Iterator[tuple[int, float, S]]:
    """The leaf to be split next, what it gains, and how it is split; who listens no longer ends it there.

    ``look`` tells of the leaves just made, and of any other that there is news of: what its best split gains, and that
    split, or None. Leaves are numbered as they are made. Where gains are equal, but for a share of ``tie``, the leaf
    made first is split.
    """
    queue = LeafQueue[S](tie)
    while True:
        for number, gain, how in look(made):
            queue.put(number, gain, how)
        best = queue.best()
        if best is None:
            return
        yield best
        queue.drop(best[0])
        made = split(best[0], best[2])


class LeafQueue(Generic[S]):
    """The leaves by what their best split gains.

    Leaves with one and the same gain share a bucket, so a tie of thousands costs no more than one of two.
    """

    def __init__(self, tie: float = NEAR_TIE) -> None:
        self._tie = tie
        self._best: dict[int, tuple[float, S]] = {}
        self._buckets: dict[float, list[int]] = {}
        self._gains: list[float] = []

    def put(self, number: int, gain: float, how: S | None) -> None:
        """Replace what is known about a leaf; None where it is not to be split."""
        before = self._best.pop(number, None)
        if how is None:
            return
        self._best[number] = gain, how
        if before is None or before[0] != gain:
            if gain not in self._buckets:
                self._buckets[gain] = []
                heapq.heappush(self._gains, -gain)
            heapq.heappush(self._buckets[gain], number)

    def drop(self, number: int) -> None:
        """Forget a leaf."""
        self._best.pop(number, None)

    def best(self) -> tuple[int, float, S] | None:
        """The leaf that gains most, what it gains, and its split; None when there is no split."""
        aside, chosen, limit = list[float](), None, -math.inf
        while self._gains and -self._gains[0] >= limit:
            gain = -heapq.heappop(self._gains)
            bucket = self._buckets[gain]
            while bucket and (bucket[0] not in self._best or self._best[bucket[0]][0] != gain):
                heapq.heappop(bucket)
            if not bucket:
                del self._buckets[gain]
                continue
            limit = limit if aside else gain * (1 - self._tie)
            aside.append(gain)
            chosen = bucket[0] if chosen is None else min(chosen, bucket[0])
        for gain in aside:
            heapq.heappush(self._gains, -gain)
        return None if chosen is None else (chosen, *self._best[chosen])
