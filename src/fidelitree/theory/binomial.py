"""Exact bounds on a probability from a fixed number of independent trials (Clopper and Pearson, 1934)."""

from __future__ import annotations

from collections.abc import Iterator

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


_EARLY, _STEP = 16, 4  # inputs of the first early look at a tree, and how many times as many the next one has


def early_looks(whole: int) -> Iterator[int]:
    """Sizes, fixed in advance, at which Algorithm 2 looks at its first tree before the set is whole."""
    size = _EARLY
    while size < whole:
        yield size
        size *= _STEP


def level_of_set(leaves: int, samples: int, delta: float) -> float:
    """What the bound of Algorithm 2 may spend on a tree and a test set of this size.

    An eighth of delta over the square of the number of leaves; the early looks at one leaf share another quarter. All
    together stay below delta / 2.
    """
    looks = list(early_looks(samples + 1)) if leaves == 1 else []
    return delta / (8 * leaves**2) / (2.0 ** (len(looks) - 1) if looks and looks[-1] == samples else 1.0)
