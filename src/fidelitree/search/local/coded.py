"""Labelled rows as the search wants them: every value is the number of a bin.

A numeric feature becomes bins between sorted cuts (`bins_of`), a categorical one the codes of its values.
So one array of small integers serves thresholds and subsets alike, and counting labels by value is one `bincount`.
Tests are those of numbers and categories, over bins: `AtMost` asks for a bin up to its cut, `IsIn` for one of a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.errors import ParameterError
from fidelitree.spaces.features import Test
from fidelitree.trees.nested import Nested, itself
from fidelitree.trees.predict import leaf_values

Bins = NDArray[np.unsignedinteger[Any]]
Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_BINS = 1 << 16


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

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weights.sum())

    def says_yes(self, test: Test, rows: NDArray[np.signedinteger[Any]]) -> Bools:
        """For each of these rows, whether it passes the test."""
        return test.answers(self.bins[test.feature].take(rows))

    def predict(self, tree: Nested) -> Codes:
        """The label code that a tree gives to every row."""
        return leaf_values(tree, itself, self.says_yes, len(self.codes))

    def errors(self, tree: Nested) -> float:
        """The weight of the rows that a tree gets wrong."""
        return float(self.weights[self.predict(tree) != self.codes].sum())


def cuts_of(values: ArrayLike, most: int = _BINS - 1) -> Floats:
    """Cuts midway between neighbouring distinct values; where there are too many, about equally many values apart."""
    column = np.sort(np.asarray(values, np.float64))
    first = np.flatnonzero(np.diff(column)) + 1
    if len(first) > most:
        wanted = np.arange(1, most + 1) * len(column) / (most + 1)
        first = np.unique(first[np.searchsorted(first, wanted).clip(max=len(first) - 1)])
    low, high = column[first - 1], column[first]
    middle = low + (high - low) / 2
    # Between two neighbouring floats the middle may be the upper one; the lower one separates them.
    return np.where(middle < high, middle, low)


def bins_of(column: ArrayLike, cuts: Floats) -> Bins:
    """The bin of every value: how many cuts are below it. A value equal to a cut belongs below that cut."""
    if len(cuts) >= _BINS:
        raise ParameterError(f"a feature must have fewer than {_BINS} cuts; got {len(cuts)} - use cuts_of to thin them")
    return np.searchsorted(cuts, np.asarray(column, np.float64), side="left").astype(np.uint16)
