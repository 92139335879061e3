"""When an audit has seen enough: a claim is certified or refuted, or both ends of the error are close together.

Or a model is told to be as good as one that was approved, or worse.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass

from fidelitree.runs import economics
from fidelitree.theory.sequential import (
    AUDIT,
    INTERVAL,
    LEDGERS,
    LOWER_ENDS,
    Bet,
    error_bound,
    least_error,
    log_e_value_below,
)
from fidelitree.theory.wald import agreeing_needed, log_ratio

PATIENCE = 64  # how many times ln(1/delta)/epsilon answers an undecided audit may take
FIRST = 100
"""Answers before the first look at an interval."""
APPROVAL_LABELS = 10_000
"""Answers after which a model is neither approved nor refused."""
FEW = 1 << 12
"""Inputs that are all asked about without being told how many may be, where an exact answer was not asked for."""


class AuditGoal(ABC):
    """What an audit is to find out, and when it has."""

    delta: float
    ledger: str
    patience: float
    """Answers that an undecided audit may take."""

    @property
    def level(self) -> float:
        """What the upper end of the error may spend: nearly all of delta for a claim, else half of it for each end."""
        return LEDGERS[self.ledger] * self.delta

    @property
    @abstractmethod
    def told(self) -> dict[str, float | None]:
        """What a journal compares."""

    @abstractmethod
    def needed(self, bet: Bet) -> int:
        """Answers that would end it, if all of them agree; 0 when it is over."""

    def looks(self, bet: Bet) -> list[int]:
        """Answers until the next look, and until those after it that can be asked about together with them."""
        return [self.needed(bet)]


@dataclass(frozen=True)
class Claim(AuditGoal):
    """The error is at most epsilon: certified, refuted, or undecided when patience ends."""

    epsilon: float
    delta: float
    ledger: str = AUDIT

    @property
    def told(self) -> dict[str, float | None]:
        """What a journal compares."""
        return {"epsilon": self.epsilon, "delta": self.delta}

    @property
    def patience(self) -> float:  # type: ignore[override]
        """A multiple of what an error of 0 takes, about."""
        return patience_of(PATIENCE, self.epsilon, self.delta)

    def needed(self, bet: Bet) -> int:
        """What would certify it; nothing once the lower end is above it."""
        against = log_e_value_below(bet.errors, bet.samples, self.epsilon)
        refuted = against >= -math.log(LOWER_ENDS[self.ledger]) - math.log(self.delta)
        return 0 if refuted else bet.needed_for(self.epsilon)


@dataclass(frozen=True)
class HowFar(AuditGoal):
    """How far apart they are: both ends of the error, until they are within so much of their middle."""

    within: float
    delta: float
    ledger: str = INTERVAL
    patience: float = math.inf

    @property
    def told(self) -> dict[str, float | None]:
        """What a journal compares."""
        return {"epsilon": None, "delta": self.delta, "within": self.within}

    def needed(self, bet: Bet) -> int:
        """Some more, while both ends are too far from each other."""
        if bet.samples and bet.error_bound - least_error(*bet.counts, self.ledger, bet.level) <= 2 * self.within:
            return 0
        return self._until_next(bet.samples)

    def looks(self, bet: Bet) -> list[int]:
        """Answers until the next look, and until those after it that are sure to come: they can be asked together.

        A look is sure not to be the last where the ends would be too far from each other even if all answers until
        then agreed. No more are asked about at once than are counted, because Ctrl-C would lose them.
        """
        found = [self.needed(bet)]
        while found[0] and (new := sum(found)) < max(FIRST / economics.PART_IN_HASTE, bet.samples):
            samples = bet.samples + new
            if any(self._narrow(errors, samples, bet.level) for errors in (bet.errors, bet.errors + new)):
                break
            found.append(self._until_next(samples))
        return found

    def _until_next(self, samples: int) -> int:
        return max(FIRST, int(economics.PART_IN_HASTE * samples))

    def _narrow(self, errors: int, samples: int, level: float) -> bool:
        upper = error_bound(errors, samples, level)
        return upper - least_error(errors, samples, self.ledger, level) <= 2 * self.within


@dataclass(frozen=True)
class Approval(AuditGoal):
    """Whether an error is still what was approved: below ``high``, or above ``low``, or undecided when patience ends.

    Wald's test. An error of at most ``low`` is refused, and one of at least ``high`` is approved, with probability
    ``delta`` at most each. Between the two, either verdict is right.

    >>> rule = Approval.of(0.05, 0.02, 0.01)
    >>> rule.verdict(0, 300), rule.verdict(40, 300), rule.verdict(3, 60)
    (True, False, None)
    """

    low: float
    high: float
    delta: float
    patience: float = APPROVAL_LABELS
    ledger: str = INTERVAL

    @classmethod
    def of(cls, approved: float, margin: float, delta: float) -> Approval:
        """The test of an approved error and a margin; half of what is allowed never refutes, however little that is."""
        allowed = approved + margin
        return cls(max(approved, allowed / 2), allowed, delta)

    @property
    def told(self) -> dict[str, float | None]:
        """What a journal compares."""
        return {"epsilon": None, "delta": self.delta, "approved": self.low, "allowed": self.high}

    def verdict(self, errors: int, samples: int) -> bool | None:
        """Whether the error is shown to be below what is allowed, or above what was approved; None: undecided."""
        evidence = log_ratio(errors, samples, self.low, self.high)
        return None if abs(evidence) < -math.log(self.delta) else evidence < 0

    def needed(self, bet: Bet) -> int:
        """Agreeing answers that would approve; none after a verdict."""
        if self.verdict(bet.errors, bet.samples) is not None:
            return 0
        return agreeing_needed(bet.errors, bet.samples, self.low, self.high, self.delta)

    def looks(self, bet: Bet) -> list[int]:
        """Portions that grow: many errors are to be seen early, and few rounds are to be made."""
        return [min(self.needed(bet), max(FIRST, bet.samples))]


def patience_of(times: int, epsilon: float, delta: float) -> int:
    """So many times ln(1/delta)/epsilon answers, and no more than can be counted where that is beyond all bounds."""
    return math.ceil(min(times * math.log(1 / delta) / epsilon, sys.maxsize))
