"""Numbers of leaves that trees are looked for with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fidelitree.runs.economics import BETWEEN
from fidelitree.theory.sequential import ROUND

EVERY = 32
"""Leaves up to which a frontier has a tree of every size, between those that it lists."""
LARGEST = 64
"""Leaves of the largest tree that is looked for, unless another number is given."""


def sizes_up_to(most: int) -> list[int]:
    """Numbers of leaves, from 1 up to ``most``, evenly spread on a logarithmic scale; nine of them, as one round has.

    >>> sizes_up_to(64), sizes_up_to(4), sizes_up_to(1)
    ([1, 2, 3, 5, 8, 13, 23, 38, 64], [1, 2, 3, 4], [1])
    """
    return sorted({round(size) for size in np.geomspace(1, float(most), ROUND).tolist()})


def filled(sizes: Sequence[int], most: int) -> list[int]:
    """Those below ``most``, ``most`` itself, and more where gaps are widest, as many as one round has room for.

    >>> filled([1, 2, 3, 5, 8, 13, 23, 38, 64], 15), filled([1, 2, 3, 4], 4)
    ([1, 2, 3, 4, 5, 8, 10, 13, 15], [1, 2, 3, 4])
    """
    found = [*(size for size in sizes if size < most), most]
    while len(found) < ROUND:
        gaps = [(two / one, one * two) for one, two in pairwise(found) if two - one > 1]
        if not gaps:
            break
        found = sorted([*found, round(max(gaps)[1] ** 0.5)])
    return found


def near(most: int) -> list[int]:
    """Numbers of leaves that follow each other closely: all small ones, and two fifths more each time afterwards.

    >>> near(20)
    [1, 2, 3, 4, 6, 8, 11, 15, 20]
    """
    found = [1]
    while found[-1] < most:
        found.append(min(most, max(found[-1] + 1, int(BETWEEN * found[-1] + 0.5))))
    return found
