"""How many test inputs may go into the attempts at hand.

Drawn inputs never end, and tests are worth about what labels are. A table's test rows do end: most of them are kept
until every row for learning has taught, unless few tests are likely to decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fidelitree.certificates.attempts import FAIR_TRIAL, Attempts
from fidelitree.runs.supply import Source
from fidelitree.theory.sequential import Bet, divergence

EARLY = 0.5  # of a table's test rows, for all attempts while rows for learning are left
_AIMS = (0.9, 0.85, 0.8, 0.7, 0.6, 0.5)  # errors of trees that may be worth a test, in epsilons
_SAFE = (0.4, 0.3, 0.2, 0.1, 0.0)  # the same where tests are few
_MISLED = 1.25  # times the answers that an error takes at best


@dataclass
class Ration:
    """What a source has to give for tests."""

    source: Source

    @property
    def listed(self) -> bool:
        """Whether test inputs end."""
        return self.source.tests < math.inf

    @property
    def last(self) -> bool:
        """Whether they are all that is left: a table has no more rows to learn from."""
        return self.listed and not self.source.labels_left

    def tests(self, labels: int, epsilon: float) -> float:
        """Answers that may be counted now, given so many labels."""
        if not self.listed:
            return max(labels, FAIR_TRIAL / epsilon)
        kept = 0.0 if self.last else (1 - EARLY) * self.source.tests
        return self.source.tests_left - kept

    def worth(self, labels: int, number: int, attempts: Attempts) -> list[float]:
        """Errors, in epsilons and falling, of trees whose test is likely to take half as many answers as labels.

        Where no test is as short, some tree is worth one all the same, if there are test inputs to spare.
        """
        level, epsilon = attempts.level(number), attempts.epsilon
        answers = {aim: -math.log(level) / divergence(aim * epsilon, epsilon) for aim in (*_AIMS, *_SAFE)}
        spare = self.tests(labels, epsilon) / _MISLED if self.listed else math.inf
        short = min(spare, spare if self.last else labels / 2)
        worth = [aim for aim in _AIMS if answers[aim] <= short]
        return worth or [aim for aim in (_AIMS[-1], *_SAFE) if answers[aim] <= spare]

    def enough_for_another(self, attempts: Attempts) -> bool:
        """Whether the next attempt could still succeed."""
        return self.source.tests_left >= Bet(attempts.level(len(attempts.all) + 1)).needed_for(attempts.epsilon)
