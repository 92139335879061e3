"""Exact bounds on a probability from a fixed number of independent trials (Clopper and Pearson, 1934)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special


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


def both_bounds(hits: ArrayLike, samples: int, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bounds of many probabilities, each pair wrong with probability ``level`` at most.

    >>> low, high = both_bounds([0, 150, 300], 300, 0.1)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.451, 0.9901], [0.0099, 0.549, 1.0])
    """
    counts = np.asarray(hits, np.float64)
    low = special.betaincinv(np.maximum(counts, 1), samples - counts + 1, level / 2)
    high = special.betainccinv(counts + 1, np.maximum(samples - counts, 1), level / 2)
    return np.where(counts > 0, low, 0.0), np.where(counts < samples, high, 1.0)
