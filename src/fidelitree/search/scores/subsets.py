"""Sets of categories as tests: all of them up to 10 categories, beyond that those that an order leaves.

Of k categories there are 2^(k-1) - 1 ways to part them. How often two categories get different labels, all else equal,
is the squared distance between two points (the answers as functions of all other features, one coordinate for each
label), and the drop of a set is what parting the points into two clusters takes off their spread. Good clusters lie on
two sides of the first principal axis, so beyond 10 categories the candidates are the sets at either end of that axis,
and single categories. Coppersmith, Hong and Hosking (1999) order the categories of a classification tree likewise; for
points on a line it is the order along the line, which is enough to find the best set (Fisher, 1958).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.scores.drop import Drops, Floats, drops, share
from fidelitree.search.scores.paired import Pairs

ALL_SUBSETS = 10
"""Up to so many categories every set is tried."""
Sets = NDArray[np.bool_]


def subset_drops(pairs: Pairs, delta: float) -> tuple[Floats, Sets, Drops]:
    """Codes, candidate sets of them (one row each) and their drops; all ends hold with probability 1 - delta.

    Beyond 10 categories half of the pairs find the order and the other half estimate drops: the candidates must not
    depend on the pairs that judge them.
    """
    codes, shares = pairs.drawn.listed(pairs.left)
    codes, shares = codes[shares > 0], shares[shares > 0]
    if len(codes) <= ALL_SUBSETS:
        sets, judges = every_set(len(codes)), pairs
    else:
        half = len(pairs) // 2
        sets = ordered_sets(principal_order(apart(pairs.part(slice(half)), codes), shares))
        judges = pairs.part(slice(half, None))
    return codes, sets, set_drops(apart(judges, codes), len(judges), shares, sets, delta)


def set_drops(changed: NDArray[np.int64], count: int, shares: Floats, sets: Sets, delta: float) -> Drops:
    """Drops of sets from how many pairs of each two categories changed label, all ends together with 1 - delta."""
    level = delta / (1 + 2 * len(sets))
    inside, outside = sets.astype(np.int64), (~sets).astype(np.int64)
    both_in = ((inside @ changed) * inside).sum(axis=1)
    both_out = ((outside @ changed) * outside).sum(axis=1)
    influence = share(changed.sum(), count, level)
    return drops(influence, share(both_in, count, level), share(both_out, count, level), sets @ shares)


def every_set(count: int) -> Sets:
    """Every set without the last category: each stands for its complement too."""
    numbers = np.arange(1, 1 << max(0, count - 1))
    return np.asarray((numbers[:, None] >> np.arange(count) & 1).astype(np.bool_))


def ordered_sets(order: NDArray[np.intp]) -> Sets:
    """The sets that an order puts first, and single categories."""
    places = np.argsort(order)
    first = places[None, :] <= np.arange(len(order) - 1)[:, None]
    return np.concatenate([first, np.eye(len(order), dtype=np.bool_)])


def principal_order(changed: NDArray[np.int64], shares: Floats) -> NDArray[np.intp]:
    """Categories along the first principal axis of their points, by classical scaling.

    ``changed`` estimates q_a q_b D_ab up to a factor; the points' inner products are (r_a + r_b - m - D_ab)/2 with r_a
    the mean distance from a and m the mean of all. Each point weighs as much as its category's share.
    """
    roots = np.sqrt(shares)
    distances = (changed + changed.T) / np.outer(roots, roots)
    # Taking off what the weighted mean explains centres the points.
    centre = np.eye(len(shares)) - np.outer(roots, roots)
    _, vectors = np.linalg.eigh(-centre @ distances @ centre / 2)
    along = vectors[:, -1] / roots
    return np.argsort(along * np.sign(along[np.abs(along).argmax()]), kind="stable")


def apart(pairs: Pairs, codes: Floats) -> NDArray[np.int64]:
    """How many pairs with each first and each second category changed label."""
    one, two = (np.searchsorted(codes, values[pairs.changed]) for values in (pairs.one, pairs.two))
    count = len(codes)
    return np.asarray(np.bincount(one * count + two, minlength=count * count).reshape(count, count))
