"""How mixed the labels of each side of many splits are. Lines are classes, entries of a line are the splits.

Each function gives a mass, not a share: summed over both sides of a split it is what the split leaves unexplained.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fidelitree.search.local.coded import Floats

Impurity = Callable[[Floats], Floats]

_TINY = 1e-300  # keeps an empty side from dividing 0 by 0


def gini(side: Floats) -> Floats:
    """Mass times the chance that two of its draws differ: what CART minimises."""
    mass = side.sum(axis=0)
    return np.asarray(mass - (side * side).sum(axis=0) / np.maximum(mass, _TINY))


def root(side: Floats) -> Floats:
    """Sum of the standard deviations of the label indicators; steeper than Gini near purity."""
    mass = side.sum(axis=0)
    return np.asarray(np.sqrt(np.maximum(side * (mass - side), 0)).sum(axis=0))


def entropy(side: Floats) -> Floats:
    """Mass times Shannon's entropy."""
    logs = np.log(np.maximum(side, _TINY))
    mass = side.sum(axis=0)
    return np.asarray(mass * np.log(np.maximum(mass, _TINY)) - (side * logs).sum(axis=0))


def errors(side: Floats) -> Floats:
    """What the best single label gets wrong."""
    return np.asarray(side.sum(axis=0) - side.max(axis=0))


IMPURITIES: tuple[Impurity, ...] = (gini, root, entropy)
