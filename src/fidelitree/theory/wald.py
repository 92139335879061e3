"""Wald's sequential test (1945): is an error rate at most ``low``, or at least ``high``?

The ratio of both likelihoods is an e-value against each side. While the rate is at most ``low`` it cannot grow on
average, so it ever reaches 1/level with probability at most ``level`` (Ville's inequality). While the rate is at least
``high`` the same is true of its inverse. Every input moves the ratio, so a rate between the two is decided as well,
and no test with the same two error probabilities needs fewer inputs on average at either end (Wald and Wolfowitz 1948).
"""

from __future__ import annotations

import math


def log_ratio(errors: int, samples: int, low: float, high: float) -> float:
    """Logarithm of the likelihood ratio: large where the rate looks like ``high``, small where it looks like ``low``.

    Both lie between 0 and 1, ``low`` below ``high``; an error refutes a ``low`` of 0 at once.

    >>> round(log_ratio(0, 100, 0.05, 0.07), 2), round(log_ratio(9, 100, 0.05, 0.07), 2), log_ratio(1, 5, 0, 0.1)
    (-2.13, 1.09, inf)
    """
    right = (samples - errors) * (math.log1p(-high) - math.log1p(-low))
    if not errors:
        return right
    return right + errors * (math.log(high) - math.log(low)) if low else math.inf


def agreeing_needed(errors: int, samples: int, low: float, high: float, level: float) -> int:
    """Further inputs without an error after which a rate of at least ``high`` is refuted; 0 where it is.

    >>> agreeing_needed(0, 0, 0.05, 0.07, 0.01), agreeing_needed(0, 217, 0.05, 0.07, 0.01)
    (217, 0)
    """
    missing = log_ratio(errors, samples, low, high) - math.log(level)
    return max(0, math.ceil(missing / (math.log1p(-low) - math.log1p(-high)))) if missing < math.inf else 0
