"""All thresholds of a number from one pass over sorted pairs.

For the test x <= t two values are both inside when the larger is at most t, both outside when the smaller is above t.
So the counts of all thresholds are read off two sorted lists: the larger and the smaller values of the pairs that
changed label. They are empirical distribution functions, and the inequality of Dvoretzky, Kiefer and Wolfowitz with
Massart's constant bounds their error at *every* threshold at once, however many there are and wherever the pairs fell.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.scores.drop import Drops, Floats, Range, drops, share
from fidelitree.search.scores.paired import Pairs
from fidelitree.spaces.features import Numeric, midway
from fidelitree.spaces.features.marginals import EVERYTHING, Interval, Pieces


def threshold_drops(pairs: Pairs, delta: float) -> tuple[Floats, Drops]:
    """Cuts, increasing, and their drops; all ends hold together, at every threshold, with probability 1 - delta."""
    feature = pairs.drawn
    assert isinstance(feature, Numeric), "only numbers have thresholds"
    interval: Interval = pairs.left or EVERYTHING
    cuts, count = _cuts(feature, interval, pairs), len(pairs)
    one, two = pairs.one[pairs.changed], pairs.two[pairs.changed]
    smaller, larger = np.sort(np.minimum(one, two)), np.sort(np.maximum(one, two))
    inside = np.searchsorted(larger, cuts, side="right")
    outside = len(smaller) - np.searchsorted(smaller, cuts, side="right")
    off = math.sqrt(math.log(6 / delta) / (2 * count))  # delta/3 for each of the two functions, both ways
    influence = share(np.array(len(smaller)), count, delta / 3)
    return cuts, drops(
        influence, _band(inside / count, off), _band(outside / count, off), _below(feature, interval, cuts)
    )


def _band(value: Floats, off: float) -> Range:
    return Range(value, np.maximum(value - off, 0.0), value + off)


def _cuts(feature: Numeric, interval: Interval, pairs: Pairs) -> Floats:
    """Those that part observed values; where any number may be a cut, those that part the numbers drawn."""
    known = feature.cuts(interval)
    if known is not None:
        return known
    values = np.unique(np.concatenate([pairs.one, pairs.two]))
    middles = values[:-1] / 2 + values[1:] / 2
    close = np.flatnonzero((middles < values[:-1]) | (middles >= values[1:]))
    middles[close] = [midway(values[k], values[k + 1]) for k in close]
    return middles


def _below(feature: Numeric, interval: Interval, cuts: Floats) -> Floats:
    """Probability, given the interval, that a number is at most each cut."""
    if not isinstance(feature.marginal, Pieces):
        return np.cumsum(feature.listed(interval)[1])[:-1]
    below, whole = _distribution(feature.marginal, cuts), feature.mass(interval)
    return np.asarray((below - _distribution(feature.marginal, np.array([interval[0]]))) / whole)


def _distribution(marginal: Pieces, numbers: Floats) -> Floats:
    """Probability of at most each number: a line between neighbouring edges, a step where two are equal."""
    edges, ends = marginal.edges, np.concatenate([[0.0], np.cumsum(marginal.shares)])
    piece: NDArray[np.intp] = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    width = edges[piece + 1] - edges[piece]
    along = np.where(
        width > 0, (np.clip(numbers, edges[0], edges[-1]) - edges[piece]) / np.where(width > 0, width, 1.0), 1.0
    )
    along = np.where(numbers >= edges[0], along, 0.0)
    return np.asarray(ends[piece] + marginal.shares[piece] * along)
