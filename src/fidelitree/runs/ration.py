"""How many test inputs may go into the attempts at hand.

Drawn inputs never end, and tests are worth about what labels are. A table's test rows do end: most of them are kept
until every row for learning has taught, unless few tests are likely to decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from fidelitree.attempts import FAIR_TRIAL, Attempts
from fidelitree.runs.source import Source
from fidelitree.sequential import Bet, divergence, level_of_attempt

EARLY = 0.25  # of a table's test rows, for all attempts while rows for learning are left
_AIMS = (0.9, 0.85, 0.8, 0.7, 0.6, 0.5)  # errors of trees that may be worth a test, in epsilons
_SAFE = (0.25, 0.1, 0.0)  # the same where tests are few


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
        """Errors, in epsilons and falling, of trees whose test is likely to take half as many answers as can be spared.

        Where nothing is short, those are the labels, and some tree is always worth a test.
        """
        level, epsilon = level_of_attempt(number, attempts.delta), attempts.epsilon
        spare = self.tests(labels, epsilon) if self.listed else labels
        spare = spare if self.last else min(labels, spare)
        aims = _AIMS + _SAFE if self.listed else _AIMS
        worth = [aim for aim in aims if -math.log(level) / divergence(aim * epsilon, epsilon) <= spare / 2]
        return worth if worth or self.listed else [_AIMS[-1]]

    def enough_for_another(self, attempts: Attempts) -> bool:
        """Whether the next attempt could still succeed."""
        level = level_of_attempt(len(attempts.all) + 1, attempts.delta)
        return self.source.tests_left >= Bet(level).needed_for(attempts.epsilon)
