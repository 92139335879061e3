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


NO_TREND = Trend()


class Portions(Protocol):
    """Says how large the next portion is."""

    in_rounds: bool
    """Whether each portion is a round: it is never cut short, and a long one is taken in by halves."""

    def rows(self, known: int, needed: float, trend: Trend = NO_TREND) -> float:
        """Return the answers to draw next, of those that are ``needed`` for the next decision."""


@dataclass(frozen=True)
class Growing:
    """A share of what is known."""

    first: int
    least: int
    share: float
    in_rounds = False

    def rows(self, known: int, needed: float, trend: Trend = NO_TREND) -> float:
        """Return a share of what is known, or of the time to the next mistake, unless less is needed."""
        usual = max(self.least, self.share * known) if known else self.first
        return min(max(usual, economics.PART_OF_TEST * trend.lucky), needed)


@dataclass(frozen=True)
class InRounds:
    """What the likely tree's test takes; while trees are wrong too often, what the trend says is missing."""

    epsilon: float
    in_rounds = True

    def rows(self, known: int, needed: float, trend: Trend = NO_TREND) -> float:
        """Return the answers to ask for in one call."""
        if not known:  # a small budget keeps labels for tests
            return min(economics.FIRST_FEW, needed)
        taught, last = trend.errors[-1] if trend.errors else (known, 0.0)
        if needed == math.inf or last > self.epsilon:
            teaches = min(economics.TEACHES * known, economics.HOPELESS_FROM)  # then it is seen whether that is in vain
            return max(economics.FIRST_FEW, teaches)
        expected = last * (taught / known) ** economics.fall(trend.errors)
        return max(needed, min(self._test(expected, needed), known))

    def _test(self, error: float, needed: float) -> float:
        """Return the answers to the test of a tree with this error; without an error it takes the ``needed`` ones."""
        if error >= self.epsilon:
            return math.inf
        return needed * divergence(0.0, self.epsilon) / divergence(error, self.epsilon)


DOUBLING = Growing(first=economics.FIRST, least=economics.FIRST, share=1.0)
"""Where every size learns."""
FEW = Growing(first=economics.FIRST_FEW, least=economics.LEAST_FEW, share=economics.PART)
"""Where labels are dear."""
AS_DRAWN = Growing(first=economics.FIRST_FEW, least=economics.FIRST_FEW, share=economics.PART_OF_TEST)
"""The same where all inputs are taken as they are drawn: a look at the trees saves few of them."""
