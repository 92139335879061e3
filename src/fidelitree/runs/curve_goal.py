"""The goal of `frontier`: a tree of every size, each with a bound that is close to its error.

A size learns until as many labels again would bring it little. From then on all that is drawn counts for its tree,
while it goes on to teach larger sizes. So small trees have close bounds long before large ones have learnt enough. When
learning ends the others are opened together, and then trees of the sizes between, for which no test is made longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fidelitree.asking.events import Foreseen
from fidelitree.runs import economics
from fidelitree.runs.forecast import Forecast, forecast
from fidelitree.runs.last_tests import close_enough
from fidelitree.runs.learning import QUERIES, Effort, EverySize, Learning
from fidelitree.runs.size_grid import EVERY, filled

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.loop import Loop


class CurveGoal(EverySize):
    """Opens the tree of each size when it has learnt enough, and ends when every bound is close."""

    every = EVERY
    """Leaves up to which each size gets an attempt, for whom no test is made longer."""

    def __init__(self, sizes: Sequence[int], effort: Effort, few_rounds: bool = False) -> None:
        """If rounds are to be few, a test is asked about in one portion, by how often its tree has been wrong."""
        self.sizes, self._effort, self._few_rounds = list(sizes), effort, few_rounds
        self._opened: dict[int, Attempt] = {}
        self._steps = effort.steps
        """Proposals near each size, before its tree is opened."""
        self._ended = ""
        """Why learning ended."""
        self._closed = False
        """Whether a limit has ended it."""
        self._least, self._part = economics.FIRST, economics.PART_OF_TEST
        """Answers between two looks at the bounds: so many at least, and this part of those that a test has counted."""
        self.forecast: Forecast | None = None
        """What sizes are likely to reach, once there are enough answers to tell."""

    @property
    def learning(self) -> bool:
        """Whether some size has no attempt yet."""
        return any(size not in self._opened for size in self.sizes)

    def close(self, why: str) -> None:
        """End learning: what was learnt is opened before anything else is asked, without another long search."""
        self._ended, self._steps, self._closed = why, 0, True
        self._least, self._part = 1, economics.PART_IN_HASTE

    def needed(self, loop: Loop[str]) -> float:
        """Return the answers to the next fit, to the end of learning, or to another look at the bounds."""
        wanted: list[float] = []
        if self.learning:
            learning = Learning(self._effort, loop)
            wanted += [learning.left, learning.until_fit]
        loose = [one for one in self._opened.values() if not _close(one)]
        if loose:
            wanted.append(max(self._least, self._part * min(one.samples for one in loose)))
            if self._few_rounds:
                until_close = (economics.answers_until_close(one.rate, one.level) - one.samples for one in loose)
                wanted[-1] = max(wanted[-1], *until_close)
        return min(wanted, default=self._least)

    def done(self, loop: Loop[str]) -> str | None:
        """Return why the run is over, once every bound is close."""
        return None if self.learning or not all(map(_close, self._opened.values())) else self._ended

    def open(self, loop: Loop[str]) -> None:
        """Open an attempt for the tree of each size that has learnt enough; for all where learning is over."""
        if not loop.known and self._ended and loop.counted.book.seen:  # the first portion was cut off
            self.sizes, self._opened = [1], {1: loop.attempts.open(loop.best)}
        if not loop.known or not self.learning:
            return
        self._foresee(loop)
        learning = Learning(self._effort, loop)
        left = [size for size in self.sizes if size not in self._opened]
        self._ended = self._ended or learning.over(left) or self._hopeless(loop)
        ready = [size for size in left if self._ended or learning.enough(size)]
        if not ready or (learning.rows_end and len(ready) < len(left)):
            return
        self._fit(loop, self.sizes if self._ended else ready)
        self._open(loop, ready)

    def _fit(self, loop: Loop[str], sizes: Sequence[int]) -> None:
        """Fit to all answers; where a limit has ended learning, the trees of the last fit will do."""
        if not self._closed or not loop.archive.fitted:
            loop.fit([*sizes, *reversed(sizes)], self._steps)

    def _open(self, loop: Loop[str], ready: Sequence[int]) -> None:
        """Open these sizes; where fewer leaves than are allowed answer all rows, also sizes between them."""
        most = loop.archive.at(self.sizes[-1]).size
        if self._ended and most < self.sizes[-1]:
            self.sizes = filled([size for size in self.sizes if size < most], most)
            ready = [size for size in self.sizes if size not in self._opened]
        self._opened |= {size: loop.attempts.open(loop.archive.at(size)) for size in ready}
        if self._ended:
            for size in range(1, min(self.every, self.sizes[-1]) + 1):
                loop.attempts.open(loop.archive.at(size))

    def _hopeless(self, loop: Loop[str]) -> str:
        """Why labels would be wasted; nothing where they would not, or a budget says that they may be spent."""
        told = self._effort is not QUERIES or loop.counted.budget.limited
        if told or self.forecast is None or not self.forecast.hopeless or loop.inquiry.known:
            return ""
        return f"hopeless ({self.forecast}); give max_queries to go on"

    def _foresee(self, loop: Loop[str]) -> None:
        """Say what the sizes are likely to reach, before the expensive part."""
        if self.forecast is not None or loop.known < economics.AT_LEAST or loop.attempts.tolerance is not None:
            return
        archive, delta, watch = loop.archive, loop.attempts.delta, loop.counted.watch
        self.forecast = forecast(loop.source.product, archive.inner, archive.codes, self.sizes, delta, watch)
        for one in self.forecast.prospects:
            loop.session.observer(Foreseen(loop.counted.asked, one.leaves, one.low, one.high))


class LastTests(CurveGoal):
    """Where one tree was asked for and is out of reach: trees of many sizes, until the bound of the best is close."""

    every = 0

    def __init__(self, sizes: Sequence[int], why: str, few_rounds: bool = False) -> None:
        super().__init__(sizes, QUERIES, few_rounds)
        self.why = self._ended = why
        """Why it is out of reach."""
        self._steps = economics.STEPS_ON_THE_WAY

    def done(self, loop: Loop[str]) -> str | None:
        """Return why the run is over, once no bound is lower than one that is close."""
        if self.learning:
            return None
        best = min(self._opened.values(), key=lambda one: (one.error_bound, one.tree.size))
        told = not economics.shows_nothing(best.error_bound, best.samples)
        return self.why if told and close_enough(best, loop.attempts.epsilon) else None


def _close(attempt: Attempt) -> bool:
    if not attempt.samples or economics.shows_nothing(attempt.error_bound, attempt.samples):
        return False
    return economics.is_close(attempt.error_bound, attempt.rate)
