"""Tests of an error rate that may be looked at after every query.

An e-value is a bet against "the error is at least epsilon": it starts at 1, cannot grow on average while that
holds, and so exceeds 1/level, at any time at all, with probability at most ``level`` (Ville's inequality). Any
mixture of bets on error rates below epsilon will do. Ours puts a quarter on error 0 and the rest on a triangle over
(0, epsilon), highest at 0. At epsilon/2 the triangle is as high as an even spread, below it higher, so that it needs
fewer samples there and never more: 88 instead of 94 at an error of epsilon/4, epsilon = 0.1, level 0.03.

The bet is on shares of epsilon, so the e-value rises with epsilon: what is accepted at one epsilon is accepted at every
larger one. That is why the bounds of one attempt hold at all epsilons at once. proofs/Certificate.v has the proof.

Where the number of trials is fixed beforehand, the bound is Clopper and Pearson's (1934).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.special import cython_special

Floats = NDArray[np.float64]

ATOM = 0.25
WHOLE = "whole"
"""The ledger of certificates that are older than the two: their attempts share all of delta."""
RUN, STANDING, FRONTIER, AUDIT, INTERVAL = "run", "standing", "frontier", "audit", "interval"
LEDGERS = {RUN: 0.95, STANDING: 0.03, FRONTIER: 0.92, AUDIT: 0.95, INTERVAL: 0.5}
"""The parts of delta: what the attempts of a run or a frontier may spend, what its standing attempts may, and the only
one of an audit of a claim, or without one."""
LOWER_ENDS = {RUN: 0.018, STANDING: 0.002, FRONTIER: 0.048, AUDIT: 0.05, INTERVAL: 0.5}
"""What their lower ends may spend: a run has attempts of its own and standing ones, and all parts are delta."""
ROUND = 9
"""Attempts of a frontier that are opened together, and share one level."""
_FIRST_ROUND = 0.8  # of its part goes to the first round of a frontier, and of the rest to the next
_FAR = 1 << 40
_LEAST = 1e-30  # that a sample says: an epsilon below 1e-16 is lost in rounding, and its cost is far, not a crash
_BETS, _PRECISE, _CHUNK = 128, 1e-6, 4096  # bets on a mean, how closely its bound is looked for, numbers at once
# Of a beta distribution below a point, and its constant: as they are compiled, for single numbers 5 times as fast.
_share, _log_beta = cython_special.betainc, cython_special.betaln


def log_e_value(errors: int, samples: int, epsilon: float) -> float:
    """Logarithm of the e-value against "the error is at least epsilon" (0 < epsilon < 1).

    It is minus infinity where the errors are so many that nothing of the bet is left.

    >>> [round(math.exp(log_e_value(k, 40, 0.1)), 1) for k in (0, 1)]
    [35.8, 3.0]
    """
    right = -(samples - errors) * math.log1p(-epsilon)
    spread = _log_triangle(errors, samples, epsilon) - errors * math.log(epsilon) + right + math.log(1 - ATOM)
    return spread if errors else _log_sum(spread, right + math.log(ATOM))


def _log_sum(one: float, two: float) -> float:
    """Logarithm of exp(one) + exp(two); the second is finite."""
    most = max(one, two)
    return most + math.log1p(math.exp(min(one, two) - most))


def _log_triangle(errors: int, samples: int, epsilon: float) -> float:
    """Log of the likelihood q^k (1-q)^(N-k) averaged over q with density 2 (1 - q/epsilon)/epsilon on (0, epsilon)."""
    one, two = errors + 1.0, samples - errors + 1.0
    below, weighted = _share(one, two, epsilon), _share(one + 1, two, epsilon)
    if below <= 0:
        return -math.inf
    # The mean of q/epsilon where the likelihood is: two moments, whose beta functions differ by a known factor.
    mean = weighted / below * one / (one + two) / epsilon
    if mean >= 1:
        return -math.inf
    return float(_log_beta(one, two) + math.log(below) - math.log(epsilon) + math.log(2 * (1 - mean)))


def accepts(errors: int, samples: int, epsilon: float, level: float) -> bool:
    """Whether the samples certify an error below epsilon, wrongly with probability at most ``level``."""
    return log_e_value(errors, samples, epsilon) >= -math.log(level)


@lru_cache(maxsize=1 << 10)
def samples_needed(errors: int, epsilon: float, level: float) -> int:
    """The fewest samples, so many of them errors, that certify an error below epsilon; at most 2^40.

    Every further sample without an error is evidence, so there is one number from which on all are enough.

    >>> samples_needed(0, 0.1, 0.0304), samples_needed(1, 0.1, 0.0304)
    (40, 71)
    """
    few, most, wanted = errors, _FAR, -math.log(level)
    at = max(errors + 1, math.ceil(min(_FAR - 1, 1.05 * _usual(errors, level) / -math.log1p(-epsilon))))
    while most - few > 1:
        excess = log_e_value(errors, at, epsilon) - wanted
        few, most = (few, at) if excess >= 0 else (at, most)
        slope = math.log1p(-errors / at) - math.log1p(-epsilon)  # what a sample adds, where the bet is on their share
        if slope > 0 and math.isfinite(excess):
            # Newton's step; the sample before or after it, so that both ends close in.
            step = at - excess / slope
            at = math.floor(step) if excess >= 0 else math.ceil(min(_FAR, step))
        else:
            at = 2 * at
        at = at if few < at < most else (few + most) // 2 if most < _FAR else min(_FAR - 1, 2 * max(at, few))
    return most


def _usual(errors: int, level: float) -> float:
    """The errors expected where so few are just enough to accept, within some percent: where to begin a search."""
    wanted = -math.log(level)
    return errors + wanted + math.sqrt(2 * wanted * errors) + 0.7


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
    middle = min(_usual(errors, level) / samples, (low + high) / 2)
    while high - low > 1e-9 * high:
        missing = log_e_value(errors, samples, middle) - wanted
        if missing >= 0:
            high, above = middle, missing
        else:
            low, below = middle, missing
        middle = (low + high) / 2
        if above > 0 and math.isfinite(below):
            # Where the secant meets it, moved a little towards the middle, so that both ends close in.
            share = 1e-3 + 0.997 * above / (above - below)
            middle = high - share * (high - low)
    return high


def interval(hits: int, samples: int, level: float) -> tuple[float, float]:
    """Both ends of a rate: at no time is it outside, but with probability ``level``.

    Two bounds at half the level, one of them of what is no hit. They hold at all times at once, so also at a time that
    was chosen by looking at the answers; an interval for a fixed number of samples does not.

    >>> tuple(round(end, 3) for end in interval(30, 100, 0.05)), interval(0, 0, 0.05)
    ((0.152, 0.466), (0.0, 1.0))
    """
    return 1 - error_bound(samples - hits, samples, level / 2), error_bound(hits, samples, level / 2)


def log_e_value_below(errors: int, samples: int, epsilon: float) -> float:
    """Logarithm of the e-value against "the error is at most epsilon": the bet is spread evenly over (epsilon, 1)."""
    inside = special.betaincc(errors + 1, samples - errors + 1, epsilon)
    if inside <= 0:
        return -math.inf
    spread = special.betaln(errors + 1, samples - errors + 1) + math.log(inside) - math.log1p(-epsilon)
    return float(spread - errors * math.log(epsilon) - (samples - errors) * math.log1p(-epsilon))


@lru_cache(1024)
def divergence(error: float, epsilon: float) -> float:
    """How much a sample with this error says against epsilon (Kullback and Leibler).

    No test at some level can do with fewer than ln(1/level) over it, on average.

    >>> round(divergence(0.05, 0.1), 4)
    0.0167
    """
    found = float(special.rel_entr(error, epsilon) + special.rel_entr(1 - error, 1 - epsilon))
    return _LEAST if error < epsilon and found < _LEAST else found


def level_of_attempt(attempt: int, delta: float) -> float:
    """What the j-th attempt may spend: all levels add up to delta (Basel's sum)."""
    return 6 * delta / (math.pi * attempt) ** 2


def level_in(ledger: str, attempt: int, delta: float) -> float:
    """The same of an attempt that shares one part of delta with the others of its ledger; an audit's is alone there.

    >>> round(sum(level_in("frontier", number, 1.0) for number in range(1, 500)), 6)
    0.92
    """
    part = LEDGERS.get(ledger, 1.0) * delta
    if ledger in (AUDIT, INTERVAL):
        return part
    if ledger != FRONTIER:
        return level_of_attempt(attempt, part)
    return part * _FIRST_ROUND * (1 - _FIRST_ROUND) ** ((attempt - 1) // ROUND) / ROUND


def least_error(errors: int, samples: int, ledger: str, level: float) -> float:
    """The lower end that belongs to an upper one at this level; 0 in ledgers that keep nothing for it.

    Where the e-values against "the error is at most epsilon" stop to refuse; up to the share of errors they only fall.

    >>> round(least_error(100, 1000, "run", 0.05), 3)
    0.062
    """
    if ledger not in LOWER_ENDS or not errors:
        return 0.0
    wanted = -math.log(level * LOWER_ENDS[ledger] / LEDGERS[ledger])
    low, high = 0.0, errors / (samples + 1)
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if log_e_value_below(errors, samples, middle) >= wanted else (low, middle)
    return low


def coverage_bound(answered: int, drawn: int, ledger: str, level: float) -> float:
    """At least this share of inputs is answered, of which so many of those drawn were: at the level of a lower end.

    >>> round(coverage_bound(700, 1000, "frontier", 0.01), 3), coverage_bound(0, 0, "frontier", 0.01)
    (0.629, 0.0)
    """
    return 1.0 - error_bound(drawn - answered, drawn, level * LOWER_ENDS[ledger] / LEDGERS[ledger])


class Bet:
    """A running test of one predictor: errors among answers, judged at one level, at any time.

    A bound is that of all answers counted so far. It may rise again: what counts is what stands when the run ends.
    """

    def __init__(self, level: float) -> None:
        self.level = level
        self.counts = 0, 0
        """Errors and samples; both change in one step, so that an interrupt finds them together."""
        self._known: tuple[tuple[int, int, float], float] | None = None  # counts and level, and the bound that follows
        self._accepted: tuple[tuple[int, int, float], float] | None = None  # the same, and an error that is certified
        self._enough: dict[tuple[int, float, float], int] = {}  # a run asks for the same ones after every batch

    def count(self, errors: int, samples: int) -> None:
        """Count answers that were drawn after the bet was placed."""
        self.counts = self.errors + errors, self.samples + samples

    @property
    def errors(self) -> int:
        """Wrong answers so far."""
        return self.counts[0]

    @property
    def samples(self) -> int:
        """Answers so far."""
        return self.counts[1]

    @property
    def _now(self) -> tuple[int, int, float]:
        return self.errors, self.samples, self.level

    @property
    def error_bound(self) -> float:
        """The error certified by all answers counted so far."""
        if self._known is None or self._known[0] != self._now:
            self._known = self._now, error_bound(self.errors, self.samples, self.level)
        bound = self._known[1]
        if self._accepted is not None and self._accepted[0] == self._now:
            bound = min(bound, self._accepted[1])  # both say the same, but for rounding
        return bound

    def lower(self, bound: float) -> float:
        """``error_bound`` or another bound, whichever is less; ours is not worked out where it is not."""
        return self.error_bound if bound >= 1 or self._accepts(bound) else bound

    @property
    def rate(self) -> float:
        """The share of wrong answers so far; 1 before the first."""
        return self.errors / self.samples if self.samples else 1.0

    def certifies(self, epsilon: float) -> bool:
        """Whether an error of at most epsilon is certified by all answers counted so far."""
        if epsilon <= 0 or epsilon >= 1:
            return epsilon >= 1
        if not (self._within(epsilon) and self.samples >= self._samples_needed(epsilon)):
            return False
        if self._accepted is None or self._accepted[0] != self._now or epsilon < self._accepted[1]:
            self._accepted = self._now, epsilon
        return True

    def unlucky(self, epsilon: float) -> bool:
        """Whether there are more errors than chance explains at this error, by two standard deviations."""
        usual = epsilon * self.samples
        return self.errors > usual + 2 * math.sqrt(usual)

    def likely(self, epsilon: float, left: float) -> bool:
        """Whether so many more answers may certify this error, if errors are a little rarer than they look."""
        if not self.samples:
            return True
        rate = self.errors / self.samples
        lower = max(0.0, rate - math.sqrt(rate / self.samples))
        return lower < epsilon and -math.log(self.level) <= divergence(lower, epsilon) * (self.samples + left)

    def _accepts(self, epsilon: float) -> bool:
        return self._within(epsilon) and accepts(self.errors, self.samples, epsilon, self.level)

    def _within(self, epsilon: float) -> bool:
        """Whether errors are no more frequent: if not, no bet on fewer has won anything, and nothing is worked out."""
        return self.errors <= epsilon * self.samples

    def needed_for(self, epsilon: float) -> int:
        """Answers without an error that would still be needed to certify this error; 0 when it is certified."""
        if self.certifies(epsilon):
            return 0
        return self._samples_needed(epsilon) - self.samples

    def _samples_needed(self, epsilon: float) -> int:
        """In all, with the errors so far."""
        key = self.errors, epsilon, self.level
        if key not in self._enough:
            self._enough[key] = samples_needed(self.errors, epsilon, self.level)
        return self._enough[key]


def mean_bound(values: Sequence[float] | Floats, level: float) -> float:
    """The mean certified so far of independent numbers from 0 to 1: it is larger with probability ``level`` at most.

    The same bet as on errors: a number x of an error counts as x errors and 1 - x right answers of one input, whose
    factors are averaged, not multiplied. So it cannot grow on average while the mean is at least m, and a finite
    mixture of such bets will do: at any time at all (Waudby-Smith and Ramdas 2024 bet in the same way).

    >>> round(mean_bound([0.0] * 42, 0.0304), 3), round(mean_bound([0.05, 0.15] * 500, 0.05), 3)
    (0.093, 0.104)
    """
    seen, often = np.unique(np.asarray(values, np.float64), return_counts=True)
    low, high, wanted = float(seen @ often) / often.sum() if len(seen) else 1.0, 1.0, -math.log(level)
    while high - low > _PRECISE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _log_mean_e_value(seen, often, middle) >= wanted else (middle, high)
    return float(high)


def _log_mean_e_value(values: Floats, often: NDArray[np.int64], mean: float) -> float:
    """Against "the mean is at least this": a mixture over bets on shares of it, as that of `log_e_value`."""
    shares = np.append((np.arange(_BETS) + 0.5) / _BETS, 0.0)
    weights = np.append((1 - ATOM) * (1 - shares[:-1]) / (1 - shares[:-1]).sum(), ATOM)
    logs = np.zeros(len(shares))
    for first in range(0, len(values), _CHUNK):
        some = values[first : first + _CHUNK]
        wealth = np.outer(shares, some) + np.outer((1 - shares * mean) / (1 - mean), 1 - some)
        with np.errstate(divide="ignore"):
            logs += np.log(wealth) @ often[first : first + _CHUNK]
    return float(special.logsumexp(logs, b=weights))


def upper_bound(errors: int, samples: int, level: float) -> float:
    """The largest probability that is not refuted at this level: it is exceeded with probability at most ``level``.

    >>> round(upper_bound(0, 300, 0.05), 4)
    0.0099
    """
    if errors >= samples:
        return 1.0
    return float(special.betainccinv(errors + 1, samples - errors, level))


def lower_bound(hits: int, samples: int, level: float) -> float:
    """The smallest probability that is not refuted at this level."""
    if hits <= 0:
        return 0.0
    return float(special.betaincinv(hits, samples - hits + 1, level))
