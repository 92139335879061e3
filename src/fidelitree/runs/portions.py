"""How many answers come at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from fidelitree.runs import economics
from fidelitree.theory.sequential import divergence


class Trend(NamedTuple):
    """How the trees of a run have done so far."""

    errors: Sequence[tuple[int, float]] = ()
    """How many answers taught a tree, and the share of the next ones that it had wrong."""
    lucky: float = 0.0
    """The answers between two errors of the best tree under test."""


class Portions(Protocol):
    """Says how large the next portion is."""

    in_rounds: bool
    """Whether each portion is a round: it is never cut short, and a long one is taken in by halves."""

    def rows(self, known: int, needed: float, trend: Trend = Trend()) -> float:
        """Return the answers to draw next, of those that are ``needed`` for the next decision."""


@dataclass(frozen=True)
class Growing:
    """A share of what is known."""

    first: int
    least: int
    share: float
    in_rounds = False

    def rows(self, known: int, needed: float, trend: Trend = Trend()) -> float:
        """Return a share of what is known, or of the time to the next mistake, unless less is needed."""
        usual = max(self.least, self.share * known) if known else self.first
        return min(max(usual, economics.PART_OF_TEST * trend.lucky), needed)


@dataclass(frozen=True)
class InRounds:
    """What the likely tree's test takes; while trees are wrong too often, what the trend says is missing."""

    epsilon: float
    in_rounds = True

    def rows(self, known: int, needed: float, trend: Trend = Trend()) -> float:
        """Return the answers to draw in one call."""
        if not known:
            return economics.FIRST_ROUND
        least, most = (share * known for share in economics.LARGER_BATCH)
        if not trend.errors:
            return least if needed == math.inf else economics.SPARE * needed
        taught, last = trend.errors[-1]
        power = economics.fall(trend.errors)
        expected = max(economics.REMAINS * last, last * (taught / known) ** power)
        if last > economics.DOUBTFUL * self.epsilon or needed == math.inf:
            wanted = economics.GOOD * self.epsilon
            missing = (max(expected, wanted) / wanted) ** (1 / power) - 1
            return max(economics.FIRST_ROUND, min(max(missing * known, least), most))
        test = self._test(expected, needed)
        times, part = economics.CHEAP_TEST
        return max(economics.SPARE * needed, min(test, least), min(times * test, part * known))

    def _test(self, error: float, needed: float) -> float:
        """Return the answers that a test takes which without an error would take the ``needed`` ones."""
        if error >= self.epsilon:
            return math.inf
        return needed * divergence(0.0, self.epsilon) / divergence(error, self.epsilon)


DOUBLING = Growing(first=economics.FIRST, least=economics.FIRST, share=1.0)
"""Where every size learns."""
FEW = Growing(first=economics.FIRST_FEW, least=economics.LEAST_FEW, share=economics.PART)
"""Where labels are dear."""
