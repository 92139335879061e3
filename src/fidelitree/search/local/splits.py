"""The tests a node may ask, and how well each divides its rows.

Ordered features offer every threshold. Unordered ones offer every single value, and sets of values: all of them up
to 10 values; beyond, the values are put in order of the share of a class, for each of the first 16 classes, and
divided like an ordered feature, which for two classes loses nothing whatever the (concave) impurity. Of many classes
fewer orders are tried. An impurity is a mass, not a share: summed over both sides of a split it is what the split
leaves unexplained. Its lines are classes, entries of a line are the splits.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.cells import ALL_SUBSETS, halves
from fidelitree.search.local.coded import Bools, Floats, Grouped, Rows
from fidelitree.spaces.features import AtMost, IsIn, Test

Impurity = Callable[[Floats], Floats]

MANY = 16  # labels: of more, fewer orders of values are tried, since each look counts all labels
SLACK = 1e-9  # of counts and costs: closer ones are equal
_LOG_2 = math.log(2)
_HALF_ROOT = math.sqrt(0.5)


def gini(side: Floats) -> Floats:
    """Mass times the chance that two of its draws differ: what CART minimises."""
    mass = _sum(side)
    pure = np.divide(_sum(side * side), mass, out=np.zeros_like(mass), where=mass > 0)  # rounding may leave less than 0
    return np.asarray(mass - pure)


def root(side: Floats) -> Floats:
    """Sum of the standard deviations of the label indicators; steeper than Gini near purity."""
    mass = _sum(side)
    return _sum(np.sqrt(np.maximum(side * (mass - side), 0)))


def entropy(side: Floats) -> Floats:
    """Mass times Shannon's entropy."""
    return np.asarray(xlogx(_sum(side)) - _sum(xlogx(side)))


def _sum(lines: Floats) -> Floats:
    """The sum of the lines from the first to the last: NumPy's own order depends on the shape."""
    total = np.array(lines[0], np.float64)
    for line in lines[1:]:
        total += line
    return total


def xlogx(values: Floats) -> Floats:
    """x log x, by sums and products alone: `np.log` has another last bit where the processor has AVX-512.

    With x = m 2^e and s = (m - 1) / (m + 1), log x = e log 2 + 2 (s + s^3 / 3 + s^5 / 5 + ...).
    """
    mantissa, exponent = np.frexp(np.maximum(values, sys.float_info.min))
    small = mantissa < _HALF_ROOT
    mantissa[small] *= 2
    part = (mantissa - 1) / (mantissa + 1)
    square = part * part
    series = np.full_like(part, 1 / 21)
    for odd in range(19, 0, -2):
        series = series * square + 1 / odd
    return np.asarray(values * ((exponent - small) * _LOG_2 + 2 * part * series))


def xlogx_up_to(most: int) -> Floats:
    """The same of 0, 1, 2 and so on; they are wanted again and again, of more numbers as rows come in."""
    return _below_power(most.bit_length())[: most + 1]


@cache
def _below_power(bits: int) -> Floats:
    return xlogx(np.arange(2.0**bits))


def errors(side: Floats) -> Floats:
    """What the best single label gets wrong."""
    return np.asarray(side.sum(axis=0) - side.max(axis=0))


IMPURITIES: tuple[Impurity, ...] = (gini, root, entropy)


def greedy_impurity(classes: int) -> Impurity:
    """What greedy growth goes by: Gini's index would peel many labels off one by one, entropy parts them evenly."""
    return entropy if classes > MANY else gini


class Splits:
    """All tests of a node, numbered; the numbering is the same at every node except for sets in order of share."""

    def __init__(self, grouped: Grouped) -> None:
        self.grouped = grouped
        coded, starts = grouped.coded, grouped.starts
        widths = np.diff(starts)
        ordered = np.array(coded.ordered, bool)
        last = np.zeros(grouped.width, bool)
        last[starts[1:] - 1] = True
        self._thresholds = np.flatnonzero(ordered[grouped.owner] & ~last)
        pair = (widths == 2)[grouped.owner]
        self._singles = np.flatnonzero(~ordered[grouped.owner] & ~(pair & last) & (widths > 1)[grouped.owner])
        two = grouped.classes <= 2
        wide = ~ordered & (widths > 3)
        self._all = np.flatnonzero(wide & (widths <= ALL_SUBSETS)) if not two else np.array([], np.intp)
        shared = wide if two else wide & (widths > ALL_SUBSETS)
        self._shared = np.flatnonzero(shared[grouped.owner])
        self._before = np.cumsum(shared)[grouped.owner[self._shared]] - 1
        self._directions = range(1) if two else range(min(grouped.classes, max(1, MANY**2 // grouped.classes)))
        sets = [np.full(_subsets(int(widths[feature])).shape[1], feature) for feature in self._all]
        ranked = [grouped.owner[self._shared]] * len(self._directions)
        self.features = np.concatenate(
            [grouped.owner[self._thresholds], grouped.owner[self._singles], *sets, *ranked]
        ).astype(np.intp)
        """The feature of each test."""

    def look(self, histogram: Floats, counts: Floats) -> Menu:
        """The tests of a node with what each puts on its yes side."""
        empty = np.asarray(~histogram.any(axis=0))
        idle = [empty[self._thresholds], np.zeros(len(self.features) - len(self._thresholds), np.bool_)]
        # Lines of classes stay lines in memory: sums over classes are then sums of long lines, many times as fast.
        parts = [np.cumsum(histogram, axis=1).take(self._thresholds, axis=1)]
        parts[0] -= counts[:, None] * self.grouped.before[self._thresholds]
        if len(self._singles):
            parts.append(histogram.take(self._singles, axis=1))
        starts = self.grouped.starts
        parts += [histogram[:, starts[f] : starts[f + 1]] @ _subsets(int(starts[f + 1] - starts[f])) for f in self._all]
        orders = []
        if len(self._shared):
            here = histogram[:, self._shared]
            mass = here.sum(axis=0)
            for code in self._directions:
                share = here[code] / np.maximum(mass, SLACK)
                order = np.lexsort((share, self._before))
                orders.append(order)
                parts.append(np.cumsum(here[:, order], axis=1) - counts[:, None] * self._before)
            ranked = np.concatenate([empty[self._shared[order]] for order in orders])
            idle[1][len(idle[1]) - len(ranked) :] = ranked
        return Menu(self, np.concatenate(parts, axis=1), counts, orders, np.concatenate(idle))

    def decode(self, number: int, orders: list[NDArray[np.intp]]) -> Test:
        """The test over groups with this number."""
        grouped = self.grouped
        for places, ordered in ((self._thresholds, True), (self._singles, False)):
            if number < len(places):
                place = int(places[number])
                feature = int(grouped.owner[place])
                group = place - int(grouped.starts[feature])
                return AtMost(feature, group) if ordered else IsIn(feature, frozenset([group]))
            number -= len(places)
        for feature in self._all:
            masks = _subsets(int(grouped.starts[feature + 1] - grouped.starts[feature]))
            if number < masks.shape[1]:
                return IsIn(int(feature), frozenset(np.flatnonzero(masks[:, number]).tolist()))
            number -= masks.shape[1]
        order = orders[number // len(self._shared)]
        number %= len(self._shared)
        first = int(np.searchsorted(self._before, self._before[number]))
        chosen = self._shared[order[first : number + 1]]
        feature = int(grouped.owner[chosen[0]])
        return IsIn(feature, frozenset((chosen - grouped.starts[feature]).tolist()))

    def divide(self, test: Test, rows: Rows, impurity: Impurity) -> tuple[Test, Bools]:
        """The test over bins that belongs to a test over groups, and which rows pass it.

        A threshold is moved to the best bin of the two groups it lies between and then into the middle of its gap; a
        set loses the values that no row here has, and is exchanged for the smaller side.
        """
        grouped, feature = self.grouped, test.feature
        coded = grouped.coded
        if isinstance(test, IsIn):
            test = _tidy(test, np.bincount(coded.bins[feature].take(rows), minlength=coded.sizes[feature]))
            return test, coded.says_yes(test, rows)
        assert isinstance(test, AtMost), "bins are ordered, or sets are asked for"
        if grouped.starts[feature + 1] - grouped.starts[feature] < coded.sizes[feature]:
            low, below, near = grouped.inside(feature, int(test.cut), int(test.cut) + 1, rows)
            left = np.cumsum(near, axis=1)[:, :-1] + below[:, None]
            test = AtMost(feature, low + int(_scores(left, grouped.counts(rows), impurity).argmin()))
        yes = coded.says_yes(test, rows)
        return grouped.centred(test, rows, yes), yes


@dataclass(frozen=True, eq=False)
class Menu:
    """The tests of one node: what each puts on its yes side; ``idle`` ones divide the rows like the one before."""

    splits: Splits
    left: Floats
    counts: Floats
    orders: list[NDArray[np.intp]]
    idle: Bools

    def scores(self, impurity: Impurity) -> Floats:
        """What each test leaves unexplained; infinite where it is idle or all rows go to one side."""
        scores = _scores(self.left, self.counts, impurity)
        scores[self.idle] = np.inf
        return scores

    def passing(self) -> Floats:
        """The weight of the rows that pass each test."""
        return np.asarray(self.left.sum(axis=0))

    def decode(self, number: int) -> Test:
        """The test over groups with this number."""
        return self.splits.decode(number, self.orders)


def _scores(left: Floats, counts: Floats, impurity: Impurity) -> Floats:
    scores = impurity(left) + impurity(counts[:, None] - left)
    mass, total = left.sum(axis=0), counts.sum()
    scores[(mass <= SLACK * total) | (mass >= total * (1 - SLACK))] = np.inf
    return scores


def _tidy(test: IsIn, present: NDArray[np.intp]) -> IsIn:
    inside = frozenset(value for value in test.codes if present[value])
    outside = frozenset(np.flatnonzero(present).tolist()) - inside
    return IsIn(test.feature, outside if len(outside) < len(inside) else inside)


@lru_cache
def _subsets(width: int) -> Floats:
    """A column for each way to divide so many values in two, without the single values."""
    masks = halves(width).T
    size = masks.sum(axis=0)
    return masks[:, (size > 1) & (size < width - 1)].astype(np.float64)
