"""Tests of an error rate that may be looked at after every query.

An e-value is a bet against "the error is at least epsilon": it starts at 1, cannot grow on average while that
holds, and so exceeds 1/level, at any time at all, with probability at most ``level`` (Ville's inequality). Any
mixture of bets on error rates below epsilon will do. Ours puts a quarter on error 0 and the rest on a triangle over
(0, epsilon), highest at 0. At epsilon/2 the triangle is as high as an even spread, below it higher, so that it needs
fewer samples there and never more: 88 instead of 94 at an error of epsilon/4, epsilon = 0.1, level 0.03.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

ATOM = 0.25
_FAR = 1 << 40


def log_e_value(errors: int, samples: int, epsilon: float) -> float:
    """Logarithm of the e-value against "the error is at least epsilon" (0 < epsilon < 1).

    It is minus infinity where the errors are so many that nothing of the bet is left.

    >>> [round(math.exp(log_e_value(k, 40, 0.1)), 1) for k in (0, 1)]
    [35.8, 3.0]
    """
    right = -(samples - errors) * math.log1p(-epsilon)
    spread = _log_triangle(errors, samples, epsilon) - errors * math.log(epsilon) + right + math.log(1 - ATOM)
    return spread if errors else float(np.logaddexp(spread, right + math.log(ATOM)))


def _log_triangle(errors: int, samples: int, epsilon: float) -> float:
    """Log of the likelihood q^k (1-q)^(N-k) averaged over q with density 2 (1 - q/epsilon)/epsilon on (0, epsilon)."""
    one, two = errors + 1, samples - errors + 1
    inside = special.betainc(one, two, epsilon)
    if inside <= 0:
        return -math.inf
    even = float(special.betaln(one, two)) + math.log(inside) - math.log(epsilon)
    # The mean of q/epsilon, where the likelihood is. By B(a+1, b) = B(a, b) a/(a+b): logarithms of both would differ in
    # digits that they do not have, from a thousand million samples on.
    mean = special.betainc(one + 1, two, epsilon) / inside * one / (one + two) / epsilon
    return even + math.log(2 * (1 - mean)) if mean < 1 else -math.inf


def accepts(errors: int, samples: int, epsilon: float, level: float) -> bool:
    """Whether the samples certify an error below epsilon, wrongly with probability at most ``level``."""
    return log_e_value(errors, samples, epsilon) >= -math.log(level)


def error_bound(errors: int, samples: int, level: float) -> float:
    """The error certified so far: at no time is the true error above it, but with probability ``level``.

    It is where the e-values, each against its own epsilon, start to accept.

    >>> round(error_bound(0, 42, 0.0304), 3), error_bound(0, 0, 0.05)
    (0.093, 1.0)
    """
    if not samples:
        return 1.0
    low, high, wanted = errors / samples, 1.0, -math.log(level)
    below = above = -math.inf  # by how much the e-value misses and exceeds what is wanted at both ends
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if above > 0 and math.isfinite(below):
            # Where the secant meets it, moved a little towards the middle, so that both ends close in.
            share = 1e-3 + 0.998 * (0.999 * above / (above - below))
            middle = high - share * (high - low)
        missing = log_e_value(errors, samples, middle) - wanted
        if missing >= 0:
            high, above = middle, missing
        else:
            low, below = middle, missing
    return high


def log_e_value_below(errors: int, samples: int, epsilon: float) -> float:
    """Logarithm of the e-value against "the error is at most epsilon": the bet is spread evenly over (epsilon, 1)."""
    inside = special.betaincc(errors + 1, samples - errors + 1, epsilon)
    if inside <= 0:
        return -math.inf
    spread = special.betaln(errors + 1, samples - errors + 1) + math.log(inside) - math.log1p(-epsilon)
    return float(spread - errors * math.log(epsilon) - (samples - errors) * math.log1p(-epsilon))


def divergence(error: float, epsilon: float) -> float:
    """How much a sample with this error says against epsilon (Kullback and Leibler).

    No test at some level can do with fewer than ln(1/level) over it, on average.

    >>> round(divergence(0.05, 0.1), 4)
    0.0167
    """
    return float(special.rel_entr(error, epsilon) + special.rel_entr(1 - error, 1 - epsilon))


def level_of_attempt(attempt: int, delta: float) -> float:
    """What the j-th attempt may spend: all levels add up to delta (Basel's sum)."""
    return 6 * delta / (math.pi * attempt) ** 2


class Bet:
    """A running test of one predictor: errors among answers, judged at one level, at any time."""

    def __init__(self, level: float) -> None:
        self.level = level
        self.errors = self.samples = 0
        self._certified = 1.0
        self._counts = 0, 0

    def count(self, errors: int, samples: int) -> None:
        """Count answers that were drawn after the bet was placed."""
        self.errors += errors
        self.samples += samples

    @property
    def error_bound(self) -> float:
        """The smallest error certified whenever this was asked: what was once certified stays so."""
        self._record(error_bound(self.errors, self.samples, self.level))
        return self._certified

    @property
    def counts(self) -> tuple[int, int]:
        """Errors and samples from which ``error_bound`` follows."""
        return self._counts if self.error_bound < 1 else (self.errors, self.samples)

    def certifies(self, epsilon: float) -> bool:
        """Whether an error of at most epsilon is certified, now or at some time when this was asked before."""
        if self._certified > epsilon and accepts(self.errors, self.samples, epsilon, self.level):
            self._record(min(epsilon, error_bound(self.errors, self.samples, self.level)))
        return self._certified <= epsilon

    def unlucky(self, epsilon: float) -> bool:
        """Whether there are more errors than chance explains at this error, by two standard deviations."""
        usual = epsilon * self.samples
        return self.errors > usual + 2 * math.sqrt(usual)

    def _record(self, bound: float) -> None:
        if bound < self._certified:
            self._certified, self._counts = bound, (self.errors, self.samples)

    def needed_for(self, epsilon: float) -> int:
        """Answers without an error that would still be needed to certify this error; 0 when it is certified."""
        if self.certifies(epsilon):
            return 0
        high = 1
        while high < _FAR and not accepts(self.errors, self.samples + high, epsilon, self.level):
            high *= 2
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if accepts(self.errors, self.samples + middle, epsilon, self.level):
                high = middle
            else:
                low = middle
        return high
