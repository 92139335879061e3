"""Everything the laws need, for many targets at once: influences, best trees and Algorithm 1, under one bias.

Biases are whole numbers out of UNIT, so masses and scores are whole numbers below 2^53 and float64 holds them exactly:
ties are ties, and Algorithm 1 splits a leaf before its children. Checked against ``reference`` in test_paper_laws.py.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

UNIT = 1000
SAMPLE_OF_4 = 8_192

Floats = NDArray[np.float64]
Region = tuple[int, ...]  # one digit a feature: 0, 1, or 2 where it is free


def all_targets(n: int) -> NDArray[np.uint8]:
    """Truth tables of every function of n bits, one a row."""
    return targets(n, np.arange(2 ** (2**n), dtype=np.uint64))


def targets(n: int, numbers: NDArray[np.uint64]) -> NDArray[np.uint8]:
    shifts = np.arange(2**n, dtype=np.uint64)
    return ((numbers[:, None] >> shifts) & np.uint64(1)).astype(np.uint8)


def biases(n: int, count: int = 30) -> list[tuple[int, ...]]:
    """Fair, certain, equal, extreme and mixed biases, then random ones."""
    cycle = [0, 1, 499, 999, UNIT]
    chosen = [(p,) * n for p in (500, 300, 100, 900, 1, 999, 0, UNIT)]
    chosen += [tuple(cycle[(start + i) % len(cycle)] for i in range(n)) for start in range(len(cycle))]
    chosen += [(100, 900, 900, 500)[:n], (700, 500, 300, 999)[:n]]
    rng = np.random.default_rng(20_260 + n)
    while len(set(chosen)) < count:
        chosen.append(tuple(int(p) for p in rng.integers(0, UNIT + 1, n)))
    return sorted(set(chosen))


def tables_of(n: int) -> NDArray[np.uint8]:
    if n <= 3:
        return all_targets(n)
    return targets(4, np.random.default_rng(4).choice(2**16, SAMPLE_OF_4, replace=False).astype(np.uint64))


@dataclass(frozen=True)
class Facts:
    """The targets (rows) under the product distribution with Pr[x_i = 1] = biases[i]/UNIT."""

    tables: NDArray[np.uint8]
    biases: tuple[int, ...]

    @cached_property
    def n(self) -> int:
        return len(self.biases)

    @cached_property
    def regions(self) -> list[Region]:
        """The whole space first, single inputs last."""
        return sorted(itertools.product((0, 1, 2), repeat=self.n), key=lambda region: -region.count(2))

    @cached_property
    def place(self) -> dict[Region, int]:
        return {region: at for at, region in enumerate(self.regions)}

    def children(self, region: Region, i: int) -> tuple[int, int]:
        low, high = (self.place[(*region[:i], v, *region[i + 1 :])] for v in (0, 1))
        return low, high

    @cached_property
    def splits(self) -> list[tuple[int, int, int, int]]:
        """(region, feature, low child, high child) for every region and free feature, small regions first."""
        return [
            (at, i, *self.children(region, i))
            for at, region in reversed(list(enumerate(self.regions)))
            for i in range(self.n)
            if region[i] == 2
        ]

    # --- masses, straight from the definitions -----------------------------------------------------------------------

    @cached_property
    def _inside(self) -> Floats:
        x = np.arange(2**self.n)
        inside = np.ones((2**self.n, len(self.regions)))
        for at, region in enumerate(self.regions):
            for i, digit in enumerate(region):
                if digit != 2:
                    inside[:, at] *= ((x >> i) & 1) == digit
        return inside

    def _chances(self, without: int | None = None) -> Floats:
        x = np.arange(2**self.n)
        factors = [
            np.where((x >> i) & 1, bias, UNIT - bias).astype(float)
            for i, bias in enumerate(self.biases)
            if i != without
        ]
        product: Floats = np.prod(factors, axis=0) if factors else np.ones(len(x))
        return product

    @cached_property
    def mass(self) -> Floats:
        """Mass of each region, in units of UNIT^-n."""
        return np.asarray(self._chances() @ self._inside)

    @cached_property
    def ones(self) -> Floats:
        """(targets, regions): mass of the inputs labelled 1."""
        return self.tables.astype(float) @ (self._chances()[:, None] * self._inside)

    @cached_property
    def wrong(self) -> Floats:
        """(targets, regions): mass times error."""
        return np.asarray(np.minimum(self.ones, self.mass - self.ones))

    @cached_property
    def scores(self) -> Floats:
        """(targets, regions, features): mass times influence, in units of UNIT^-(n+1)."""
        x = np.arange(2**self.n)
        per_feature = []
        for i, bias in enumerate(self.biases):
            differs = (self.tables != self.tables[:, x ^ (1 << i)]).astype(float)
            redrawn = self._chances(without=i) * bias * (UNIT - bias)
            free = np.array([region[i] == 2 for region in self.regions], dtype=float)
            per_feature.append(differs @ (redrawn[:, None] * self._inside * free))
        return np.stack(per_feature, axis=2)

    # --- of the whole space, as probabilities ------------------------------------------------------------------------

    @cached_property
    def influences(self) -> Floats:
        return np.asarray(self.scores[:, 0] / float(UNIT) ** (self.n + 1))

    @cached_property
    def influence(self) -> Floats:
        total: Floats = self.scores[:, 0].sum(axis=1) / float(UNIT) ** (self.n + 1)
        return total

    @cached_property
    def error(self) -> Floats:
        return np.asarray(self.wrong[:, 0] / self.mass[0])

    @cached_property
    def gini(self) -> Floats:
        mean = self.ones[:, 0] / self.mass[0]
        return np.asarray(2 * mean * (1 - mean))

    # --- best trees --------------------------------------------------------------------------------------------------

    @cached_property
    def depths(self) -> Floats:
        """(targets, regions): depth of the best tree."""
        best = np.full(self.ones.shape, np.inf)
        best[self.wrong == 0] = 0
        for at, _, low, high in self.splits:
            best[:, at] = np.minimum(best[:, at], 1 + np.maximum(best[:, low], best[:, high]))
        return best

    def _least(self, costs: Floats) -> Floats:
        """(targets, regions): mass times the least expected cost of reading, ``costs`` being (targets, features)."""
        best = np.full(self.ones.shape, np.inf)
        best[self.wrong == 0] = 0
        for at, i, low, high in self.splits:
            best[:, at] = np.minimum(best[:, at], self.mass[at] * costs[:, i] + best[:, low] + best[:, high])
        return best

    @cached_property
    def spreads(self) -> Floats:
        """(targets, regions): mass times average depth of the best tree."""
        return self._least(np.ones((len(self.tables), self.n)))

    @cached_property
    def depth(self) -> Floats:
        return self.depths[:, 0]

    @cached_property
    def average_depth(self) -> Floats:
        return np.asarray(self.spreads[:, 0] / self.mass[0])

    @cached_property
    def largest_average_depth(self) -> Floats:
        possible = self.mass > 0
        largest: Floats = (self.spreads[:, possible] / self.mass[possible]).max(axis=1)
        return largest

    @cached_property
    def least_influence_read(self) -> Floats:
        """Least sum of delta_i Inf_i over all trees for the target, delta_i = probability that the tree reads i."""
        return np.asarray(self._least(self.influences)[:, 0] / self.mass[0])

    # --- Algorithm 1 -------------------------------------------------------------------------------------------------

    @cached_property
    def growth(self) -> tuple[Floats, Floats, Floats]:
        """Scores, costs and errors (targets, steps) of Algorithm 1 run to the end; cost and error before each step.

        A child never outscores its parent, so the order of the steps is the order of the scores.
        """
        best, feature = self.scores.max(axis=2), self.scores.argmax(axis=2)
        reached = np.zeros(self.ones.shape, dtype=bool)
        reached[:, 0] = True
        drops = np.zeros(self.ones.shape)
        for at, i, low, high in reversed(self.splits):
            here = reached[:, at] & (best[:, at] > 0) & (feature[:, at] == i)
            reached[here, low] = reached[here, high] = True
            drops[here, at] = (self.wrong[:, at] - self.wrong[:, low] - self.wrong[:, high])[here]
        found = np.where(reached, best, 0)
        order = np.argsort(-found, axis=1, kind="stable")[:, : 2**self.n - 1]
        found, drops = (np.take_along_axis(values, order, axis=1) for values in (found, drops))
        unit = float(UNIT)
        costs = self.scores[:, 0].sum(axis=1, keepdims=True) - np.cumsum(found, axis=1) + found
        errors = self.wrong[:, :1] - np.cumsum(drops, axis=1) + drops
        return found / unit ** (self.n + 1), costs / unit ** (self.n + 1), errors / unit**self.n
