"""Trees for numbers, grown best first and pruned to every size.

Two rules choose the splits: the squares of deviations (CART), and how many pairs of answers agree, counted in
overlapping windows as the Gini index counts labels. Neither is best on all targets; the errors of the prunings decide.
The value of a leaf is the middle of the window, twice the tolerance wide, that holds the most answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.best_first import NEAR_TIE, best_first
from fidelitree.search.local.coded import GROUPS
from fidelitree.spaces.features import AtMost, IsIn, Test
from fidelitree.trees.curve import Curve
from fidelitree.trees.nested import leaf_codes

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.labelled import Binning
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]
RULES = ("squares", "pairs")
_WIDE = 4  # cells of a window, two tolerances wide: each is half a tolerance
_COARSE = 64  # groups that growth looks at
_SHORT = 0.05  # of a tolerance: how far a shorter number may be from the middle


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows in groups of values with their answers; ``values`` are those of leaves, by the codes that trees hold."""

    binning: Binning
    groups: list[NDArray[Any]]
    ends: list[NDArray[Any] | None]
    """For each number the last bin of each group; None for categories and bits, whose groups are their values."""
    sizes: list[int]
    ordered: list[bool]
    answers: Floats
    tolerance: float
    values: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        binning: Binning,
        rows: slice | NDArray[np.bool_],
        answers: Floats,
        tolerance: float,
        like: Numbers | None = None,
    ) -> Numbers:
        """Some rows of a binning; values of a number are put into groups where they are many, or as for others."""
        groups, ends = [], list[NDArray[Any] | None]()
        for i, (feature, bins) in enumerate(zip(binning.features, binning.bins, strict=True)):
            own = bins[rows].astype(np.intp)
            if feature.values is None:
                found = np.union1d(_ends(own), binning.apart(i)).astype(np.intp) if like is None else like.ends[i]
                assert found is not None, "the same features have the same groups"
                own, end = np.searchsorted(found[:-1], own, side="left"), found
            ends.append(end if feature.values is None else None)
            groups.append(own)
        ordered = [feature.values is None for feature in binning.features]
        values = [len(feature.values or ()) for feature in binning.features]
        sizes = [many if end is None else len(end) for many, end in zip(values, ends, strict=True)]
        return cls(binning, groups, ends, sizes, ordered, answers, tolerance)

    def __len__(self) -> int:
        return len(self.answers)

    def leaf(self, rows: Rows) -> tuple[int, int]:
        """The code of the best value for some rows, and how many it gets wrong."""
        value, right = best_value(self.answers[rows], self.tolerance)
        self.values.append(value)
        return len(self.values) - 1, len(rows) - right

    def test(self, feature: int, groups: NDArray[Any]) -> Test:
        """The test that says yes to some groups: the first ones of a number."""
        ends = self.ends[feature]
        if ends is None:
            return IsIn(feature, frozenset(groups.tolist()))
        return AtMost(feature, float(ends[len(groups) - 1]))

    def tree(self, nested: Nested) -> Tree:
        """A tree of inputs; its leaves hold numbers."""
        used = sorted({self.values[code] for code in _codes(nested)})
        places = {value: place for place, value in enumerate(used)}
        return self.binning.tree(nested, [places.get(value, -1) for value in self.values], used)

    def yes(self, test: Test, rows: Rows) -> NDArray[np.bool_]:
        """Which rows a test says yes to."""
        own, ends = self.groups[test.feature][rows], self.ends[test.feature]
        if isinstance(test, IsIn):
            return np.isin(own, list(test.codes))
        assert ends is not None, "only numbers and bits have cuts"
        return np.asarray(ends[own] <= test.cut)  # type: ignore[union-attr]


def _codes(nested: Nested) -> list[int]:
    return [*_codes(nested[1]), *_codes(nested[2])] if isinstance(nested, tuple) else [nested]


def _ends(bins: NDArray[Any]) -> NDArray[Any]:
    """The last bin of each group, between which cuts are looked for; groups are about equally full."""
    levels = np.linspace(0, 1, GROUPS + 1)[1:]
    return np.unique(np.quantile(bins, levels, method="higher"))


def prunings(numbers: Numbers, rule: str, most: int, watch: Watch) -> Curve:
    """The prunings of a tree that was grown by a rule, best first, to twice as many leaves."""
    best_split, reached = _BestSplit(numbers, rule), list[Rows]()
    nodes, leaves = list[tuple[Test, int, int] | int](), list[tuple[int, int]]()

    def look(made: Sequence[Rows]) -> Iterator[tuple[int, float, Test | None]]:
        for rows in made:
            code, errors = numbers.leaf(rows)
            yield len(nodes), *best_split.of(rows, errors)
            reached.append(rows)
            nodes.append(code)
            leaves.append((code, errors))

    def split(number: int, test: Test) -> tuple[Rows, Rows]:
        watch()
        rows = reached[number]
        yes = numbers.yes(test, rows)
        nodes[number] = test, len(nodes), len(nodes) + 1
        return rows[~yes], rows[yes]

    for size, _ in enumerate(best_first([np.arange(len(numbers))], look, split), start=1):
        if size >= 2 * most:
            break
    return Curve.of_prunings(nodes, leaves, most)


class _BestSplit:
    """Finds the best split of some rows by one rule."""

    def __init__(self, numbers: Numbers, rule: str) -> None:
        self._numbers, self._rule = numbers, rule
        low, high = np.quantile(numbers.answers, [0.01, 0.99])
        width = max(numbers.tolerance / 2, float(high - low) / GROUPS) or 1.0
        cells = np.floor((numbers.answers - low) / width)
        self._cells = np.clip(cells, -1, GROUPS).astype(np.intp) + _WIDE

    def of(self, rows: Rows, errors: int) -> tuple[float, Test | None]:
        """How much better the best split is than none, and its test; nothing of rows without errors."""
        found: list[tuple[float, int, Test | None]] = [(0.0, -1, None)]
        if errors:
            found += [self._best(rows, feature) for feature in range(len(self._numbers.groups))]
        gain, _, test = max(found, key=lambda one: (one[0], -one[1]))
        return gain, test

    def _best(self, rows: Rows, feature: int) -> tuple[float, int, Test | None]:
        numbers = self._numbers
        own, size = numbers.groups[feature][rows], numbers.sizes[feature]
        order = np.arange(size)
        if not numbers.ordered[feature]:
            order = self._by_mean(own, size, numbers.answers[rows])
            place = np.empty(size, np.intp)
            place[order] = np.arange(size)
            own = place[own]
        step = -(-size // _COARSE)
        few = -(-size // step)
        counts = np.bincount(own // step, minlength=few).cumsum()
        whole, wins = self._score(own // step, few, rows)
        inside = (counts[:-1] > 0) & (counts[:-1] < len(rows))
        if not inside.any():
            return 0.0, feature, None
        left = counts[:-1][inside]
        score = wins[0][inside] / left + wins[1][inside] / (len(rows) - left) - whole / len(rows)
        best = int(np.argmax(np.round(score, 9)))
        cut = (int(np.flatnonzero(inside)[best]) + 1) * step
        return float(score[best]), feature, numbers.test(feature, order[:cut])

    def _by_mean(self, own: NDArray[Any], size: int, answers: Floats) -> NDArray[Any]:
        """Categories by their mean answers, those that are not there last."""
        counts = np.bincount(own, minlength=size)
        means = np.bincount(own, answers, size) / np.maximum(counts, 1)
        return np.lexsort((np.arange(size), means, counts == 0))

    def _score(self, own: NDArray[Any], size: int, rows: Rows) -> tuple[float, tuple[Floats, Floats]]:
        """What the rule adds up, by the number of rows: of all, and of both sides of each cut."""
        if self._rule == "squares":
            answers = self._numbers.answers[rows]
            sums = np.bincount(own, answers - answers.mean(), size).cumsum()[:-1]
            return 0.0, (sums**2, sums**2)
        width = GROUPS + 2 * _WIDE
        cells = np.bincount(own * width + self._cells[rows], minlength=size * width).reshape(size, width)
        sums = np.cumsum(cells, axis=1)
        windows = np.cumsum(sums[:, _WIDE:] - sums[:, :-_WIDE], axis=0, dtype=np.float64)
        total = windows[-1]
        before, after = windows[:-1], total - windows[:-1]
        return float(total @ total), ((before**2).sum(axis=1), (after**2).sum(axis=1))


def errors(numbers: Numbers, nested: Nested) -> int:
    """How many rows a tree gets wrong."""
    return int(wrong(numbers, nested, np.arange(len(numbers))).sum())


def wrong(numbers: Numbers, nested: Nested, rows: Rows) -> NDArray[np.bool_]:
    """Which rows a tree gets wrong."""
    codes = leaf_codes(nested, lambda test, here: numbers.yes(test, rows[here]), len(rows))
    given = np.array(numbers.values)[codes]
    return np.asarray(np.abs(numbers.answers[rows] - given) > numbers.tolerance)


def best_value(answers: Floats, tolerance: float) -> tuple[float, int]:
    """The value within a tolerance of the most answers, and how many these are; the lowest window among equals.

    >>> best_value(np.array([1.0, 1.2, 5.0, 5.1, 5.25]), 0.5)
    (5.12, 3)
    """
    ordered = np.sort(answers)  # two answers that are exactly two tolerances apart share a window
    ends = np.searchsorted(ordered, ordered + 2 * tolerance * (1 + NEAR_TIE), side="right")
    counts = ends - np.arange(len(ordered))
    first = int(np.argmax(counts))
    value = _short(ordered[first : ends[first]], tolerance)
    return value, int(np.count_nonzero(np.abs(answers - value) <= tolerance))


def _short(inside: Floats, tolerance: float) -> float:
    """The middle of a window with as few digits as keep everything in it: 5.12 reads better than 5.125000000000001."""
    low, high = float(inside[0]), float(inside[-1])
    middle = low + (high - low) / 2
    with np.errstate(over="ignore"):
        for digits in range(-12, 16):
            value = float(np.round(middle, digits)) + 0.0  # no -0
            if abs(value - middle) <= _SHORT * tolerance and max(value - low, high - value) <= tolerance:
                return value
    return middle
