"""When tests and more labels pay, over features of any kind.

Drawn inputs never end, and tests are worth about what labels are. A table's test rows do end: most of them are kept
until every row for learning has taught, unless few tests are likely to decide.

Held-out errors fall as labels grow, about as a power of their number, so the last portions say what the next ones can
bring. Where a tree may have few leaves, another share tells earlier: it errs less on the labels that it was fitted to
than it will on others, so where even that is clearly above epsilon, no tree of that size will do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fidelitree.certificates.attempts import FAIR_TRIAL, Attempts
from fidelitree.theory.sequential import Bet, divergence

if TYPE_CHECKING:
    from fidelitree.runs.input_source import Source
    from fidelitree.runs.strategies.fitting import Sized
    from fidelitree.trees.nested import Nested

EARLY = 0.5  # of a table's test rows, for all attempts while rows for learning are left
_AIMS = (0.9, 0.85, 0.8, 0.7, 0.6, 0.5)  # errors of trees that may be worth a test, in epsilons
_SAFE = (0.4, 0.3, 0.2, 0.1, 0.0)  # the same where tests are few
_MISLED = 1.25  # times the answers that an error takes at best
_SHORT, _LIKELY = 1.0, 0.7  # a test that takes so many times the labels, or of a tree with so many epsilons, is begun
_WORTH = (1.6, 6.0)  # powers of queries that weigh as much as leaves
LEAVES = 512  # of a tree that is small: beyond, nobody reads it
LEAST = 8_000  # labels by which a search that fails has failed: some trees show themselves late
A_LEAF = 250  # labels for each leaf: where few are allowed, that is enough to say so
NO_DOUBT = 6  # standard deviations
_BACK = (1.9, 7)  # times fewer labels: how far to look back for the fall of held-out errors
_HOPE = 2.0  # times the steepest such fall: a search may be about to find its way


@dataclass
class Allowance:
    """What a source has to give for tests."""

    source: Source

    @property
    def finite(self) -> bool:
        """Whether test inputs end."""
        return self.source.tests < math.inf

    @property
    def last(self) -> bool:
        """Whether they are all that is left: a table has no more rows to learn from."""
        return self.finite and not self.source.labels_left

    def tests(self, labels: int, epsilon: float) -> float:
        """Answers that may be counted now, given so many labels."""
        if not self.finite:
            return max(labels, FAIR_TRIAL / epsilon)
        kept = 0.0 if self.last else (1 - EARLY) * self.source.tests
        return self.source.tests_left - kept

    def worth(self, labels: int, number: int, attempts: Attempts) -> list[float]:
        """Errors, in epsilons and falling, of trees whose test is likely to take half as many answers as labels.

        Where no test is as short, some tree is worth one all the same, if there are test inputs to spare.
        """
        level, epsilon = attempts.level(number), attempts.epsilon
        answers = {aim: -math.log(level) / divergence(aim * epsilon, epsilon) for aim in (*_AIMS, *_SAFE)}
        spare = self.tests(labels, epsilon) / _MISLED if self.finite else math.inf
        short = min(spare, spare if self.last else labels / 2)
        worth = [aim for aim in _AIMS if answers[aim] <= short]
        return worth or [aim for aim in (_AIMS[-1], *_SAFE) if answers[aim] <= spare]

    def best_deals(self, points: Sequence[Sized], labels: int, attempts: Attempts) -> list[Nested]:
        """Trees whose tests are short enough: by leaves and queries, by queries almost alone, and the largest.

        Few held-out answers cannot tell good trees apart, and the largest is right about most of those that taught.
        Inputs that are drawn for tests teach as labels do, so a test in vain costs a part of delta and no label.
        """
        level, epsilon, deals = attempts.level(len(attempts.all) + 1), attempts.epsilon, []
        for point in points:
            answers = -math.log(level) / divergence(point.share, epsilon) if point.share < epsilon else math.inf
            if answers <= _SHORT * labels or point.share <= _LIKELY * epsilon:
                deals.append((labels + answers, point))
        found = [min(deals, key=lambda deal: deal[0] ** worth * deal[1].leaves) for worth in _WORTH if deals]
        return [point.tree for _, point in [*found, *deals[-1:]]]

    def enough_for_another(self, attempts: Attempts) -> bool:
        """Whether the next attempt could still succeed."""
        return self.source.tests_left >= Bet(attempts.level(len(attempts.all) + 1)).needed_for(attempts.epsilon)


@dataclass
class LearningCurve:
    """Portion by portion, whether ``most`` labels may bring trees of at most ``leaves`` to an error of epsilon."""

    epsilon: float
    leaves: int
    most: int
    rows: float = math.inf
    """How many inputs there are to learn from."""
    promised: float = 0.0
    """Held-out errors that are to be hoped for from all labels still to come."""
    hopeless: bool = False
    """Whether the last portion left no hope."""
    _seen: list[tuple[int, float]] = field(default_factory=list)

    def see(self, labels: int, fitted: float, held: float) -> None:
        """After a search: shares of errors on the labels that it used, and the smallest one on those held out."""
        spread = (self.epsilon * (1 - self.epsilon) / labels) ** 0.5
        beyond = fitted > self.epsilon + NO_DOUBT * spread and labels >= min(A_LEAF * self.leaves, self.rows)
        self.promised = self._extrapolated(labels, fitted, held)
        self.hopeless = (beyond or labels >= LEAST) and self.promised > self.epsilon
        self._seen.append((labels, held))

    def _extrapolated(self, labels: int, fitted: float, held: float) -> float:
        before = [(labels / count, share) for count, share in self._seen if _BACK[0] <= labels / count <= _BACK[1]]
        if not before:  # held-out errors may fall as far below the others as they are above them now
            return max(0.0, 2 * fitted - held)
        falls = [math.log(share / held) / math.log(times) for times, share in before if 0 < held < share]
        return float(held * min(1.0, labels / self.most) ** (_HOPE * max(falls, default=0.0)))
