"""Every function of a few bits at once under one product distribution: influences, best trees, Algorithm 1.

Biases are tenths, so masses and scores are whole numbers and nothing is rounded before the final division.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Region: TypeAlias = tuple[int, ...]

UNIT = 10
FREE = 2


@dataclass(frozen=True)
class Study:
    """All functions of n bits (rows) with Pr[x_i = 1] = tenths[i]/10, and all regions (columns), the whole space first.

    ``mass`` and ``ones`` are in units of 10^-n, ``scores`` (mass times influence) of 10^-(n+1), ``unit`` for 10.
    ``depths`` and ``spreads`` (mass times average depth) belong to the best tree of each region. ``splits`` lists
    (region, feature, low child, high child), small regions first.
    """

    tenths: tuple[int, ...]
    tables: Whole
    regions: list[Region]
    splits: list[tuple[int, int, int, int]]
    mass: Whole
    ones: Whole
    scores: Whole
    depths: Whole
    spreads: Whole
    unit: int = UNIT

    @property
    def n(self) -> int:
        """Number of bits."""
        return len(self.tenths)

    @property
    def wrong(self) -> Whole:
        """Mass times error, in every region."""
        return np.asarray(np.minimum(self.ones, self.mass - self.ones))

    @property
    def error(self) -> Floats:
        """Error of the better constant."""
        return np.asarray(self.wrong[:, 0] / self.mass[0])

    @property
    def gini(self) -> Floats:
        """Probability that two draws have different labels."""
        mean = self.ones[:, 0] / self.mass[0]
        return np.asarray(2 * mean * (1 - mean))

    @property
    def influences(self) -> Floats:
        """Influence of each feature on each function."""
        return np.asarray(self.scores[:, 0] / self.unit ** (self.n + 1))

    @property
    def influence(self) -> Floats:
        """Total influence."""
        return np.asarray(self.scores[:, 0].sum(axis=1) / self.unit ** (self.n + 1))

    @property
    def depth(self) -> Floats:
        """D of the best tree."""
        return self.depths[:, 0].astype(float)

    @property
    def average_depth(self) -> Floats:
        """Delta of the best tree."""
        return np.asarray(self.spreads[:, 0] / self.mass[0])

    @property
    def largest_average_depth(self) -> Floats:
        """Delta*: the largest best average depth of a region that has mass."""
        possible = self.mass > 0
        return np.asarray((self.spreads[:, possible] / self.mass[possible]).max(axis=1))

    @cached_property
    def growth(self) -> tuple[Floats, Floats, Floats]:
        """Score, cost and error before each step of Algorithm 1, run to the end.

        A leaf's score never exceeds its parent's, so sorting the splits by score, parents first, gives the order.
        """
        best, feature = self.scores.max(axis=2), self.scores.argmax(axis=2)
        reached = np.zeros(best.shape, dtype=bool)
        reached[:, 0] = True
        drops = np.zeros_like(best)
        for at, i, low, high in reversed(self.splits):
            here = reached[:, at] & (best[:, at] > 0) & (feature[:, at] == i)
            reached[here, low] = reached[here, high] = True
            drops[here, at] = (self.wrong[:, at] - self.wrong[:, low] - self.wrong[:, high])[here]
        best[~reached] = 0
        order = np.argsort(-best, axis=1, kind="stable")[:, : 2**self.n - 1]
        scores, drops = (np.take_along_axis(values, order, axis=1) for values in (best, drops))
        cost = self.scores[:, :1].sum(axis=2) - scores.cumsum(axis=1) + scores
        error = self.wrong[:, :1] - drops.cumsum(axis=1) + drops
        return scores / self.unit ** (self.n + 1), cost / self.unit ** (self.n + 1), error / self.unit**self.n


def studies(most: int = 3) -> Iterator[Study]:
    """Every function of 1 to ``most`` bits with every bias of a grid that holds 0, 1, fair, equal and extreme ones."""
    for n in range(1, most + 1):
        grid = range(UNIT + 1) if n < 3 else (0, 1, 3, 5, 7, 9, UNIT)
        for tenths in itertools.product(grid, repeat=n):
            yield study(tenths)


def study(tenths: tuple[int, ...], unit: int = UNIT, some: Whole | None = None) -> Study:
    """Work out everything about all functions of len(tenths) bits, or some of them; biases may have another unit."""
    n = len(tenths)
    tables = np.arange(2 ** (2**n))[:, None] >> np.arange(2**n) & 1 if some is None else some
    regions = sorted(itertools.product((0, 1, FREE), repeat=n), key=lambda region: -region.count(FREE))
    place = {region: at for at, region in enumerate(regions)}
    splits = [
        (at, i, place[_with(region, i, 0)], place[_with(region, i, 1)])
        for at, region in reversed(list(enumerate(regions)))
        for i in range(n)
        if region[i] == FREE
    ]
    chance = [(unit - p, p, unit) for p in tenths]
    mass = np.array([np.prod([chance[i][v] for i, v in enumerate(region)]) for region in regions])
    ones, scores = _masses(tables, (regions, splits), mass, tenths, unit)
    depths, spreads = _best_trees(splits, mass, ones)
    return Study(tenths, tables, regions, splits, mass, ones, scores, depths, spreads, unit)


def _with(region: Region, i: int, v: int) -> Region:
    return (*region[:i], v, *region[i + 1 :])


def _masses(
    tables: Whole,
    lattice: tuple[list[Region], list[tuple[int, int, int, int]]],
    mass: Whole,
    tenths: tuple[int, ...],
    unit: int,
) -> tuple[Whole, Whole]:
    regions, splits = lattice
    ones = np.zeros((len(tables), len(regions)), dtype=np.int64)
    scores = np.zeros((len(tables), len(regions), len(tenths)), dtype=np.int64)
    for at, region in enumerate(regions):
        if FREE not in region:
            ones[:, at] = tables[:, sum(v << i for i, v in enumerate(region))] * mass[at]
    for at, i, low, high in splits:
        ones[:, at] = ones[:, low] + ones[:, high]
        scores[:, at] = np.maximum(scores[:, at], scores[:, low] + scores[:, high])  # features free in the children
        if regions[at].count(FREE) == 1:
            x = sum(v << k for k, v in enumerate(regions[low]))
            differ = tables[:, x] != tables[:, x | 1 << i]
            scores[:, at, i] = differ * (2 * tenths[i] * (unit - tenths[i]) * mass[at] // unit)
    return ones, scores


def _best_trees(splits: list[tuple[int, int, int, int]], mass: Whole, ones: Whole) -> tuple[Whole, Whole]:
    """By dynamic program; a region that is constant on its support needs no tree."""
    huge = np.iinfo(np.int64).max // 4
    unsure = (ones > 0) & (ones < mass)
    depths, spreads = (np.where(unsure, huge, 0) for _ in range(2))
    for at, _, low, high in splits:
        depths[:, at] = np.minimum(depths[:, at], 1 + np.maximum(depths[:, low], depths[:, high]))
        spreads[:, at] = np.minimum(spreads[:, at], mass[at] + spreads[:, low] + spreads[:, high])
    return depths, spreads
