"""Inputs of bits whose numbers of ones are spread evenly over their distribution.

Row k of a block gets its number of ones from the k-th of equal slices of the distribution, then bits that fit it. Each
row has its own slice and draws alone, so rows are independent, and together they have the space's distribution: an
average over them is unbiased, and never varies more than over inputs drawn alike. It varies far less where the target
looks at the number of ones, as votes, thresholds and risk scores do.

Counts stay as trustworthy as binomial ones. A sum of independent trials with different probabilities is more
concentrated than a binomial one with the same mean (Hoeffding, 1956, theorem 5), as `trial_level` needs it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.draw import Inputs, Stream
from fidelitree.spaces.features.feature import uniforms
from fidelitree.spaces.region import Region

Floats = NDArray[np.float64]

MOST_BITS = 256
"""Beyond so many bits the table of chances is not worth its memory."""


def can_balance(region: Region) -> bool:
    """Whether all features are bits, and not too many of them free."""
    return region.space.all_bits and len(region.free()) <= MOST_BITS


def draw_balanced(region: Region, stream: Stream, block: int, rows: int) -> Inputs:
    """Inputs inside a region of bits, features by rows, in the order of their numbers of ones.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> drawn = draw_balanced(Region.whole(ProductSpace.bernoulli(2)), Stream.named(0, "grow"), 0, 8)
    >>> drawn.sum(axis=0).tolist()
    [0, 0, 1, 1, 1, 1, 2, 2]
    """
    free, space = region.free(), region.space
    columns = np.empty((len(space), rows), space.dtype)
    for i, value in region.restrictions.items():
        columns[i] = value
    biases = np.array([space.features[i].mass(1) for i in free])
    chances = _chances_of_ones(biases)
    slices = (np.arange(rows) + uniforms(stream.lane(block, 2 * len(space)), rows)) / rows
    left = np.minimum(np.searchsorted(np.cumsum(chances[0]), slices, side="right"), _last(chances[0]))
    for place, i in enumerate(free):
        # Given how many ones are left for this bit and those after it.
        one = biases[place] * np.where(left > 0, chances[place + 1][left - 1], 0.0)
        columns[i] = uniforms(stream.lane(block, i), rows) * chances[place][left] < one
        left = left - columns[i]
    return columns


def trial_level(level: float) -> float:
    """The level at which a Clopper-Pearson end must be taken to be wrong with probability ``level`` at most.

    Beyond the mean by at least one hit, independent trials have lighter tails than the binomial law with their mean.
    Nearer to the mean an end can only be wrong if the mean is below one hit (or one miss): the binomial law gives more
    than 1/4 to either side of its mean elsewhere (Greenberg and Mohri, 2014). There the chance of a hit is at most the
    mean m, where the binomial law has 1 - exp(-m) at least.
    """
    return min(-math.expm1(-level), 0.25)


def _chances_of_ones(biases: Floats) -> Floats:
    """Row j, column s: the probability that the bits from place j on have s ones."""
    count = len(biases)
    chances = np.zeros((count + 1, count + 1))
    chances[count, 0] = 1
    for place in range(count - 1, -1, -1):
        bias, after = biases[place], chances[place + 1]
        chances[place] = (1 - bias) * after
        chances[place, 1:] += bias * after[:-1]
    return chances


def _last(chances: Floats) -> int:
    """The largest number of ones that can be; rounding must not carry a draw beyond it."""
    return int(np.flatnonzero(chances)[-1])
