"""The first split of the cheapest tree of depth up to 4 for the rows of a node: compiled, and its twin in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.bits.lookahead import Lookahead
from fidelitree.trees import kernels

Floats = NDArray[np.float32]
Places = NDArray[np.intp]
CROWD = 64  # features at a node beyond which only those that part labels best alone are looked at several splits ahead


@dataclass(frozen=True)
class LabelledRows:
    """Rows of bits with label codes and weights; ``penalties`` is what a split on each feature costs.

    ``names`` are the numbers of the features, 0, 1, 2 and so on unless told.
    """

    bits: NDArray[Any]
    codes: NDArray[np.intp]
    weights: Floats
    penalties: Floats
    names: tuple[int, ...] | None = None

    @property
    def features(self) -> tuple[int, ...]:
        """The number of the feature in each column."""
        return tuple(range(self.bits.shape[1])) if self.names is None else self.names

    @cached_property
    def countable(self) -> bool:
        """Whether all that the kernel counts is whole, and lies as it reads it."""
        whole = bool((self.weights >= 1).all() and (self.weights % 1 == 0).all())
        exact = self.mass * np.finfo(np.float32).eps < 2  # in single precision
        return bool(self.bits.dtype == np.uint8 and self.bits.flags.c_contiguous and whole and exact)

    @cached_property
    def mass(self) -> float:
        """What all rows weigh."""
        return float(self.weights.sum(dtype=np.float64))


FirstSplit = tuple[int, int, int, float, float]
"""A node: its label, the place of the feature that it asks (-1: none), where its yes side begins, both sides' mass."""


def first_split(
    rows: LabelledRows, order: NDArray[np.int32], part: tuple[int, int], horizon: int, old: int
) -> FirstSplit:
    """What a node becomes, whose rows are a slice of the order, by label; they are put in order of its two sides.

    ``old`` is the feature that was asked here before (-1: none): it is kept where that costs no more.
    """
    if kernels.compiled and rows.countable:
        return kernels.native.split_bits(
            rows.bits, rows.codes, rows.weights, rows.penalties, order, *part, horizon, old
        )
    inside = order[slice(*part)]
    weights = rows.weights[inside]
    masses = np.bincount(rows.codes[inside], weights)
    label, errors = int(masses.argmax()), float(masses.sum() - masses.max())
    if errors <= float(rows.penalties.min(initial=np.inf)):
        return label, -1, 0, 0.0, 0.0
    bits = rows.bits[inside]
    varied = np.flatnonzero(bits.any(axis=0) & ~bits.all(axis=0))
    if not len(varied):
        return label, -1, 0, 0.0, 0.0
    place, cost = _cheapest(rows, inside, varied, horizon, old)
    if cost >= errors:
        return label, -1, 0, 0.0, 0.0
    yes = bits[:, place] != 0
    middle = part[0] + int(np.count_nonzero(~yes))
    order[slice(*part)] = np.concatenate([inside[~yes], inside[yes]])
    no_mass, yes_mass = (float(weights[side].sum(dtype=np.float64)) for side in (~yes, yes))
    return label, place, middle, no_mass, yes_mass


def _cheapest(
    rows: LabelledRows, inside: NDArray[np.int32], varied: Places, horizon: int, old: int
) -> tuple[int, float]:
    """The feature at the root of the cheapest tree, and what that costs."""
    least = rows.penalties[varied].min()
    if len(varied) > CROWD and horizon > 1:
        costs = _lookahead(rows, inside, varied).costs(1)
        if costs.min() <= 2 * least:
            horizon = 1
        else:
            costs[varied == old] = -1
            varied = varied[np.sort(np.argsort(costs, kind="stable")[: CROWD + (old in varied)])]
    node = _lookahead(rows, inside, varied)
    for depth in range(1, horizon + 1):
        costs = node.costs(depth)
        # A tree that needs more depth has more than ``depth`` splits.
        if costs.min() <= (depth + 1) * least:
            break
    best = int(costs.argmin())
    before = np.flatnonzero(varied == old)
    if len(before) and costs[before[0]] <= costs[best] + 1e-4:
        best = int(before[0])
    return int(varied[best]), float(costs[best])


def _lookahead(rows: LabelledRows, inside: NDArray[np.int32], varied: Places) -> Lookahead:
    bits = rows.bits[np.ix_(inside, varied)].astype(np.float32)
    return Lookahead(bits, rows.codes[inside], rows.weights[inside], rows.penalties[varied])
