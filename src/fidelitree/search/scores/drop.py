"""The cost drop of a test, from what pairs inside and outside of it say (THEORY 4(f)).

Let two values of a feature be drawn in a leaf, all else equal. A test holds for a value with probability q1 and fails
with q0. The drop p q0 q1 (2 P_cross - P_in - P_out) is the same as p (I - in/q1 - out/q0): I is the probability that
the labels differ, *in* that they differ and the test holds for both values, *out* that they differ and it fails for
both. In words: the feature's influence in the leaf, less what is left of it on average in the two children. The other
features' influences do not change on average.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidelitree.theory.binomial import both_bounds

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Range:
    """An unknown number and two ends that it lies between, or many of them."""

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Drops:
    """Estimated drops of the candidate tests of one feature, given the leaf, with ends that all hold together."""

    value: Floats
    low: Floats
    high: Floats


def drops(influence: Range, inside: Range, outside: Range, q1: Floats) -> Drops:
    """Drops of tests with these shares of the leaf on the yes side; a test that parts nothing has drop 0.

    Masses are known, so two values are both inside with probability q1^2 at most, and a drop is at most the
    probability 2 q0 q1 that they are parted: both help where a side is small. No drop is below 0. The estimates
    themselves are left as they are, unbiased: by chance one may be beyond its ends.
    """
    q0 = 1 - q1
    parts = (q1 > 0) & (q0 > 0)
    by_yes, by_no = np.where(parts, q1, 1.0), np.where(parts, q0, 1.0)
    value = influence.value - inside.value / by_yes - outside.value / by_no
    low = influence.low - np.minimum(inside.high, q1**2) / by_yes - np.minimum(outside.high, q0**2) / by_no
    high = influence.high - inside.low / by_yes - outside.low / by_no
    most = np.minimum(np.maximum(high, 0.0), 2 * q0 * q1)
    most = np.where(parts, most, 0.0)
    return Drops(np.where(parts, value, 0.0), np.clip(low, 0.0, most), most)


def share(hits: NDArray[np.int64], samples: int, level: float) -> Range:
    """Probabilities from counts (Clopper and Pearson); each is outside its ends with probability ``level`` at most."""
    low, high = both_bounds(hits, samples, level)
    return Range(hits / samples, low, high)
