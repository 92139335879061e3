"""A test of an error rate that a surrogate shortens: the signed control variate.

A tree T is tested against a target f, and g is a surrogate for f: any function that was fixed before the tests were
drawn. How often T and g disagree, D, costs no label. So only the difference must be tested:

    Z = 1[T != f] - 1[T != g], which is -1, 0 or 1, with mean (error of T) - D.

Where g is a good surrogate, Z is 0 nearly always, and a mean that varies little is known soon. (The difference of f and
g themselves, 1[T != f] - 1[g != f], would need the error of g, which nobody knows.)

The bet. If the error is at least epsilon, the mean of Z is at least m = epsilon - D. For every stake u in [0, 1]

    1 + u (m - Z) / (1 - m)

is then at least 1 - u, because Z is at most 1, and at most 1 on average. Products over answers are therefore bets that
cannot win on average (non-negative supermartingales), and so is their mean over some stakes, and the mean of that and
of the plain bet of `sequential`. Either expert may be useless: it costs a factor 2, which is few answers.

Each factor rises with m: it is 1 - u, 1 + u m / (1 - m) or 1 + u (1 + m) / (1 - m). So what is accepted at one epsilon
is accepted at every larger one, and one test gives its bounds at all epsilons at once, as in `sequential`. And m may be
too small, never too large: an upper bound of D will do in its place. If D exceeds its bound with probability a, and the
bet ever exceeds 1/b with probability b, the error exceeds the bound that follows with probability a + b at most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fidelitree.theory.sequential import log_e_value, upper_bound

STAKES = np.geomspace(1 / 64, 0.96, 20)
_APART = 20  # one part in so many of a level goes to how often tree and surrogate disagree, where that is drawn
_FINE = 1e-9


@dataclass(frozen=True)
class Disagreement:
    """How often a tree and a surrogate disagree: exactly, or as the share of so many ``draws``."""

    differs: float
    draws: int | None = None

    def levels(self, level: float) -> tuple[float, float]:
        """What of a level the disagreement may spend, and what the bet may."""
        part = 0.0 if self.draws is None else level / _APART
        return part, level - part

    def at_most(self, level: float) -> float:
        """The disagreement, or its upper bound at its part of a level."""
        if self.draws is None:
            return self.differs
        return upper_bound(round(self.differs * self.draws), self.draws, self.levels(level)[0])


@dataclass(frozen=True)
class Signed:
    """Counted answers: ``errors`` of the tree among ``samples``; ``more`` where Z is 1, ``fewer`` where it is -1."""

    errors: int
    samples: int
    more: int
    fewer: int


def log_signed(counts: Signed, margin: float) -> float:
    """Logarithm of the bet against "the mean of Z is at least the margin", over all stakes.

    >>> round(log_signed(Signed(12, 100, 2, 0), 0.1), 2), round(log_signed(Signed(40, 100, 2, 0), 0.1), 2)
    (3.06, 3.06)
    """
    margin = min(margin, 1 - _FINE)
    zero = counts.samples - counts.more - counts.fewer
    won = (
        counts.more * np.log1p(-STAKES)
        + zero * np.log1p(STAKES * margin / (1 - margin))
        + counts.fewer * np.log1p(STAKES * (1 + margin) / (1 - margin))
    )
    most = float(won.max())
    return most + math.log(float(np.exp(won - most).mean()))


def log_helped(counts: Signed, differs: float, epsilon: float) -> float:
    """Logarithm of the mean of both bets against "the error is at least epsilon"; ``differs`` is D or more."""
    plain = log_e_value(counts.errors, counts.samples, epsilon)
    signed = log_signed(counts, epsilon - differs)
    most = max(plain, signed)
    return most + math.log((math.exp(plain - most) + math.exp(signed - most)) / 2)


def helped_bound(counts: Signed, disagreement: Disagreement, level: float) -> float:
    """The error certified so far with a surrogate's help: false at some time with probability at most ``level``.

    >>> round(helped_bound(Signed(200, 1000, 10, 8), Disagreement(0.2), 0.004), 3)
    0.223
    >>> from fidelitree.theory.sequential import error_bound
    >>> round(error_bound(200, 1000, 0.004), 3)
    0.256
    """
    if not counts.samples:
        return 1.0
    differs, wanted = disagreement.at_most(level), -math.log(disagreement.levels(level)[1])
    low, high = 0.0, 1.0
    while high - low > _FINE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if log_helped(counts, differs, middle) >= wanted else (middle, high)
    return high
