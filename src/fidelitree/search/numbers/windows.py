"""The value of a leaf: the middle of the window, twice the tolerance wide, that holds the most answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_ROUNDING = 1e-12  # of a tolerance: two answers that are exactly two of them apart share a window
_SHORT = 0.05  # of a tolerance: how far a shorter number may be from the middle


def best_value(answers: Floats, tolerance: float) -> tuple[float, int]:
    """The value within a tolerance of the most answers, and how many these are; the lowest window among equals.

    >>> best_value(np.array([1.0, 1.2, 5.0, 5.1, 5.25]), 0.5)
    (5.12, 3)
    """
    ordered = np.sort(answers)
    ends = np.searchsorted(ordered, ordered + 2 * tolerance * (1 + _ROUNDING), side="right")
    counts = ends - np.arange(len(ordered))
    first = int(np.argmax(counts))
    value = _short(ordered[first : ends[first]], tolerance)
    return value, int(np.count_nonzero(np.abs(answers - value) <= tolerance))


def _short(inside: Floats, tolerance: float) -> float:
    """The middle of a window with as few digits as keep everything in it: 5.12 reads better than 5.125000000000001."""
    low, high = float(inside[0]), float(inside[-1])
    middle = low + (high - low) / 2
    with np.errstate(over="ignore"):
        for digits in range(-12, 16):
            value = float(np.round(middle, digits)) + 0.0  # no -0
            if abs(value - middle) <= _SHORT * tolerance and max(value - low, high - value) <= tolerance:
                return value
    return middle
