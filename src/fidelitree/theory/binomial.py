"""Exact bounds on a probability from a fixed number of independent trials (Clopper and Pearson, 1934)."""

from __future__ import annotations

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
