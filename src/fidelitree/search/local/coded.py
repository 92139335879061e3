"""Labelled rows as the search wants them: every value is the number of a bin; and labels counted by bin.

A numeric feature becomes bins between its values (`binned`), a categorical one the codes of its values.
So one array of small integers serves both thresholds and subsets, and counting labels by value is one `bincount`.
Tests are those of numbers and categories, over bins: `AtMost` asks for a bin up to its cut, `IsIn` for one of a set.

Labels are counted for all features of a node at once. Neighbouring bins of a feature with very many of them are put
into groups of about equal weight, so that one `bincount` of moderate length counts everything; the exact threshold
inside a group is looked for afterwards, in the rows of that group alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.errors import ParameterError
from fidelitree.spaces.features import AtMost, Test
from fidelitree.trees import kernels
from fidelitree.trees.nested import Nested, leaf_codes

Bins = NDArray[np.unsignedinteger[Any]]
Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LAST_BIN = int(np.iinfo(np.uint16).max)
Rows = NDArray[np.int32]
GROUPS = 200  # of one ordered feature, or two for each label


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows with label codes and weights.

    ``bins`` has one line a feature. Where ``ordered``, tests are thresholds between neighbouring bins, elsewhere sets
    of bins; ``sizes`` are the numbers of bins.
    """

    bins: Bins
    ordered: Sequence[bool]
    sizes: Sequence[int]
    codes: Codes
    weights: Floats

    def __post_init__(self) -> None:
        features, rows = self.bins.shape
        if not len(self.ordered) == len(self.sizes) == features:
            raise ParameterError(
                f"ordered and sizes must have one entry for each of the {features} features; "
                f"got {len(self.ordered)} and {len(self.sizes)}"
            )
        if not len(self.codes) == len(self.weights) == rows:
            raise ParameterError(
                f"codes and weights must have one entry for each of the {rows} rows; "
                f"got {len(self.codes)} and {len(self.weights)}"
            )
        if not rows:
            raise ParameterError("labelled rows must not be empty; got 0 rows - ask for labels first")

    @cached_property
    def classes(self) -> int:
        """One more than the largest label code."""
        return int(self.codes.max()) + 1

    @property
    def groups(self) -> int:
        """The most groups of a feature: inside one of them there is a single cut, so many labels need many."""
        return max(GROUPS, 2 * self.classes)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    def says_yes(self, test: Test, rows: NDArray[np.signedinteger[Any]]) -> Bools:
        """For each of these rows, whether it passes the test."""
        return test.answers(self.bins[test.feature].take(rows))

    def predict(self, tree: Nested) -> Codes:
        """The label code that a tree gives to every row."""
        return leaf_codes(tree, self.says_yes, len(self.codes))

    def errors(self, tree: Nested) -> float:
        """The weight of the rows that a tree gets wrong."""
        return float(self.weights[self.predict(tree) != self.codes].sum())


def binned(values: ArrayLike, most: int = LAST_BIN) -> tuple[Bins, Floats, Floats]:
    """The bin of every value, and the values next to each cut: the largest below it, the smallest above it.

    Cuts are between neighbouring distinct values; where there are too many, about equally many values apart.
    """
    found = np.asarray(values, np.float64) + 0.0  # no -0, which is the same as 0 and might come before or after it
    order = np.argsort(found)
    column = found[order]
    first = np.flatnonzero(column[1:] != column[:-1]) + 1
    if len(first) > most:
        wanted = np.arange(1, most + 1) * len(column) / (most + 1)
        first = np.unique(first[np.searchsorted(first, wanted).clip(max=len(first) - 1)])
    above = np.zeros(len(column), np.bool_)
    above[first] = True
    bins = np.empty(len(column), np.uint16)
    bins[order] = np.cumsum(above)
    return bins, column[first - 1], column[first]


def binned_columns(inner: NDArray[Any], features: Sequence[int], bins: Bins) -> list[tuple[Floats, Floats]]:
    """The same of some columns of rows by features: bins go to their lines, the values next to cuts come back."""
    found = list[tuple[Floats, Floats]]()
    if kernels.compiled and bins.dtype == np.uint16 and inner.dtype == np.float64 and 0 < len(inner) <= LAST_BIN:
        values, counts = np.empty((len(features), len(inner))), np.zeros(len(features), np.int32)
        kernels.native.bin_columns(inner, np.array(features, np.int32), bins, values, counts)
        return [(line[: count - 1], line[1:count]) for line, count in zip(values, counts.tolist(), strict=True)]
    for feature in features:
        bins[feature], *cuts = binned(inner[:, feature])
        found.append((cuts[0], cuts[1]))
    return found


def groups_of(coded: Coded, feature: int) -> NDArray[np.intp]:
    """The group of each bin, counted from 0: neighbouring bins of about equal weight, where there are very many."""
    size = coded.sizes[feature]
    if not coded.ordered[feature] or size <= coded.groups:
        return np.arange(size)
    below = np.cumsum(np.bincount(coded.bins[feature], coded.weights, minlength=size))
    share = (np.concatenate([[0.0], below[:-1]]) * (coded.groups / below[-1])).astype(np.intp)
    return np.concatenate([[0], np.cumsum(np.diff(share) > 0)])


class Grouped:
    """Coded rows with their groups laid side by side: feature i owns groups starts[i] to starts[i + 1] - 1.

    Features that are not among ``features`` own none, so that no test on them is looked for.
    """

    def __init__(self, coded: Coded, features: Sequence[int] | None = None, watch: Watch = go_on) -> None:
        """``watch`` is called before labels are counted, and may end a search by raising."""
        self.coded, self.watch = coded, watch
        chosen = range(len(coded.sizes)) if features is None else features
        self.classes = coded.classes
        self.group_of = {feature: groups_of(coded, feature) for feature in chosen}
        """For each feature, the group of each bin, counted from 0."""
        widths = np.zeros(len(coded.sizes), np.intp)
        for feature, groups in self.group_of.items():
            widths[feature] = groups[-1] + 1
        self.starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        self.width = int(self.starts[-1])
        self.owner = np.repeat(np.arange(len(widths)), widths)
        """The feature of each group."""
        self.before = (np.cumsum(widths > 0) - 1)[self.owner]
        """How many features have their groups before it."""
        self.ordered = np.array(coded.ordered, bool)[self.owner]
        """For each group whether its feature is ordered."""
        keys = np.empty((len(coded.codes), len(self.group_of)), np.int32)
        for column, (feature, groups) in enumerate(self.group_of.items()):
            keys[:, column] = groups[coded.bins[feature]] + self.starts[feature]
        keys += (coded.codes * self.width).astype(np.int32)[:, None]
        self._keys = keys
        self._alike = bool((coded.weights == coded.weights[0]).all())

    @cached_property
    def all_rows(self) -> Rows:
        """All rows."""
        return np.arange(len(self.coded.codes), dtype=np.int32)

    def counts(self, rows: Rows) -> Floats:
        """The weight of each label among these rows."""
        codes = self.coded.codes.take(rows)
        if self._alike:
            return np.asarray(np.bincount(codes, minlength=self.classes) * self.coded.weights[0])
        return np.asarray(np.bincount(codes, self.coded.weights.take(rows), self.classes), np.float64)

    def histogram(self, rows: Rows) -> Floats:
        """The weight of each label (line) in each group (column) among these rows."""
        return self.weigh(rows, None)

    def weigh(self, rows: Rows, weights: Floats | None) -> Floats:
        """The same with other weights."""
        self.watch()
        keys = self._keys.take(rows, axis=0)
        length = self.classes * self.width
        if weights is None and self._alike:
            flat = np.bincount(keys.ravel(), minlength=length) * self.coded.weights[0]
        else:
            mine = self.coded.weights.take(rows) if weights is None else weights
            flat = np.bincount(keys.ravel(), np.repeat(mine, keys.shape[1]), length)
        return np.asarray(flat.reshape(self.classes, self.width))

    def inside(self, feature: int, first: int, last: int, rows: Rows) -> tuple[int, Floats, Floats]:
        """Exact counts in the bins of groups ``first`` to ``last``: the first bin, what is below it, and each bin."""
        groups = self.group_of[feature]
        low, high = (int(edge) for edge in np.searchsorted(groups, [first, last + 1]))
        values = self.coded.bins[feature].take(rows)
        below = self.counts(rows[values < low])
        near = (values >= low) & (values < high)
        rows, values = rows[near], values[near].astype(np.intp)
        keys = self.coded.codes.take(rows) * (high - low) + (values - low)
        flat = np.bincount(keys, self.coded.weights.take(rows), self.classes * (high - low))
        return low, below, np.asarray(flat.reshape(self.classes, high - low), np.float64)

    def centred(self, test: Test, rows: Rows, yes: NDArray[np.bool_]) -> Test:
        """A threshold that divides the rows the same way, moved to the middle of the gap between them.

        The middle by weight of all rows: where the true cut is unknown inside the gap, it is the safest guess.
        """
        if not isinstance(test, AtMost):
            return test
        feature = test.feature
        values = self.coded.bins[feature].take(rows)
        low = int(values[yes].max(initial=0))
        high = int(values[~yes].min(initial=self.coded.sizes[feature] - 1))
        if high - low <= 1:
            return test
        below = self._below[feature]
        middle = (below[low] + below[high - 1]) / 2
        return AtMost(feature, low + int(np.argmin(np.abs(below[low:high] - middle))))

    @cached_property
    def _below(self) -> list[Floats]:
        coded = self.coded
        return [
            np.cumsum(np.bincount(coded.bins[feature], coded.weights, minlength=size))
            for feature, size in enumerate(coded.sizes)
        ]
