"""Tests of an error rate that may be looked at after every query.

An e-value is a bet against "the error is at least epsilon": it starts at 1, cannot grow on average while that
holds, and so exceeds 1/level, at any time at all, with probability at most ``level`` (Ville's inequality). Ours
bets a quarter on error 0 and spreads the rest evenly over (0, epsilon); everything is in logarithms.
"""

from __future__ import annotations

import math

from scipy import special

ATOM = 0.25  # the share of the bet on error 0: it saves a seventh of the samples of a perfect tree


def log_e_value(errors: int, samples: int, epsilon: float) -> float:
    """Logarithm of the e-value against "the error is at least epsilon" (0 < epsilon <= 1).

    It is minus infinity where the errors are so many that nothing of the bet is left.

    >>> [round(math.exp(log_e_value(k, 42, 0.1)), 1) for k in (0, 1)]
    [35.3, 2.9]
    """
    if epsilon >= 1:
        return 0.0 if errors == samples else math.inf
    right = -(samples - errors) * math.log1p(-epsilon)
    spread = _log_average(errors, samples, epsilon) - errors * math.log(epsilon) + right + math.log(1 - ATOM)
    if errors:
        return spread
    return float(special.logsumexp([spread, right + math.log(ATOM)]))


def _log_average(errors: int, samples: int, epsilon: float) -> float:
    """Log of the likelihood averaged over error rates from 0 to epsilon."""
    inside = special.betainc(errors + 1, samples - errors + 1, epsilon)
    if inside <= 0:
        return -math.inf
    return float(special.betaln(errors + 1, samples - errors + 1) + math.log(inside) - math.log(epsilon))


def accepts(errors: int, samples: int, epsilon: float, level: float) -> bool:
    """Whether the samples certify an error below epsilon, wrongly with probability at most ``level``."""
    return log_e_value(errors, samples, epsilon) >= -math.log(level)


def error_bound(errors: int, samples: int, level: float) -> float:
    """The error certified so far: at no time is the true error above it, but with probability ``level``.

    It is where the e-values, each against its own epsilon, start to accept.

    >>> round(error_bound(0, 42, 0.0304), 3), error_bound(0, 0, 0.05)
    (0.098, 1.0)
    """
    low, high = (errors / samples, 1.0) if samples else (1.0, 1.0)
    while high - low > 1e-12 + 1e-9 * high:
        middle = (low + high) / 2
        if accepts(errors, samples, middle, level):
            high = middle
        else:
            low = middle
    return high


def log_e_value_below(errors: int, samples: int, epsilon: float) -> float:
    """Logarithm of the e-value against "the error is at most epsilon": the bet is spread evenly over (epsilon, 1)."""
    inside = special.betaincc(errors + 1, samples - errors + 1, epsilon)
    if inside <= 0:
        return -math.inf
    spread = special.betaln(errors + 1, samples - errors + 1) + math.log(inside) - math.log1p(-epsilon)
    return float(spread - errors * math.log(epsilon) - (samples - errors) * math.log1p(-epsilon))


def level_of_attempt(attempt: int, delta: float) -> float:
    """What the j-th attempt may spend: all levels add up to delta (Basel's sum)."""
    return 6 * delta / (math.pi * attempt) ** 2
