"""The least error for every number of leaves, for a function of few bits: the errors alone, without the trees.

`all_sizes` finds the trees too, for any features, and goes through its groups one by one; with few bits that takes
longer than the sums. Here restrictions with equally many free bits are solved together. Their number is written to base
3, one digit for each bit: 0 or 1 where it is fixed, 2 where it is free.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fidelitree.trees.curve import Floats, Places, min_plus


def errors_of_few_bits(masses: Floats, most: int) -> Floats:
    """Entry s - 1 is the least error of a tree with at most s leaves, up to ``most`` of them.

    ``masses`` has an axis of length 2 for every bit and one for the labels: how probable an input with a label is.

    >>> parity = np.array([[[0.25, 0], [0, 0.25]], [[0, 0.25], [0.25, 0]]])
    >>> errors_of_few_bits(parity, 5).tolist()
    [0.5, 0.5, 0.25, 0.0, 0.0]
    """
    bits = masses.ndim - 1
    for axis in range(bits):
        masses = np.concatenate([masses, masses.sum(axis=axis, keepdims=True)], axis=axis)
    masses = masses.reshape(3**bits, -1)
    curves = np.repeat((masses.sum(axis=1) - masses.max(axis=1))[:, None], most, axis=1)
    for free, (places, no, yes) in enumerate(_layers(bits), start=1):
        best = np.repeat(curves[places][:, None], free, axis=1)
        width = 1 << free - 1  # more leaves are of no use to a side
        min_plus(best, curves[no][..., :width], curves[yes])
        curves[places] = best.min(axis=1)
    return np.asarray(curves[-1])


@lru_cache(maxsize=16)
def _layers(bits: int) -> list[tuple[Places, Places, Places]]:
    """For 1, 2, ... free bits: the restrictions, and where each of their free bits, a column, leads as 0 and as 1."""
    powers = 3 ** np.arange(bits)
    free = np.arange(3**bits)[:, None] // powers % 3 == 2
    layers = []
    for count in range(1, bits + 1):
        places = np.flatnonzero(free.sum(axis=1) == count)
        steps = powers[np.nonzero(free[places])[1].reshape(-1, count)]
        layers.append((places, places[:, None] - 2 * steps, places[:, None] - steps))
    return layers
