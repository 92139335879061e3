"""Labelled inputs as learners want them: rows of bins, columns of 0 and 1, some of them held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.binning import Binning
from fidelitree.search.local.coded import Coded
from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.nested import Nested, build, simplest
from fidelitree.trees.tree import Tree

HELD = 4  # every so many-th label is held out
_MARGIN = 1.75  # standard deviations of a held-out error, below epsilon, that a tree should have
_WARIER = 0.85
THRESHOLDS = 10  # tests of a number, where a learner knows tests only
_LARGEST = 2.0**100
T = TypeVar("T", bound=Test | int)


@dataclass(frozen=True, eq=False)
class Labelled:
    """Inner values with weights and codes of labels, which are places among ``labels``.

    Where ``some_held``, every fourth row judges what the others taught; ``failed`` tests have shown how far it can be
    trusted.
    """

    space: ProductSpace
    labels: Sequence[Any]
    inner: NDArray[Any]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]
    some_held: bool = False
    failed: int = 0

    @cached_property
    def growing(self) -> NDArray[np.bool_]:
        """The rows that teach."""
        if not self.some_held or len(self.codes) < HELD:
            return np.ones(len(self.codes), np.bool_)
        return np.asarray(np.arange(len(self.codes)) % HELD != HELD - 1)

    @cached_property
    def judging(self) -> NDArray[np.bool_]:
        """The rows that judge: those held out, or all where none are."""
        return self.growing if self.growing.all() else ~self.growing

    @cached_property
    def binning(self) -> Binning:
        """Bins of every feature."""
        return Binning.of(self.space, self.inner)

    def coded(self, rows: NDArray[np.bool_]) -> Coded:
        """Some rows as bins."""
        return self.binning.coded(self.inner[rows], self.codes[rows], self.weights[rows])

    def error(self, tree: Tree) -> float:
        """The share of the judging rows' weight that a tree gets wrong."""
        rows = self.judging
        wrong = tree.predict_inner(self.inner[rows]) != np.array(self.labels)[self.codes[rows]]
        weights = self.weights[rows]
        return float(weights[wrong].sum() / weights.sum())

    def aim(self, epsilon: float) -> float:
        """The error on judging rows at which a tree is likely to pass a test of epsilon: below it, if they are few."""
        if self.growing.all():
            return epsilon
        deviation = (epsilon * (1 - epsilon) / self.judging.sum()) ** 0.5
        return float(max(epsilon / 2, epsilon - _MARGIN * deviation) * _WARIER**self.failed)

    def binned(self, nested: Nested) -> Tree:
        """A tree over bins as a tree."""
        return self.binning.tree(nested, range(len(self.labels)), self.labels)

    def nested(self, nested: Nested) -> Tree:
        """A tree of tests and label codes as a tree; a split whose sides are leaves of one label is undone."""
        return build(self.space, simplest(nested), self.labels)


@dataclass(frozen=True)
class Columns(Generic[T]):
    """Features as columns for learners that know numbers or bits only: a test, or the feature of a number or a bit."""

    space: ProductSpace
    tests: Sequence[T]

    @staticmethod
    def one_hot(space: ProductSpace) -> Columns[Test | int]:
        """A number stays one column, a category gets one for each value."""
        tests: list[Test | int] = []
        for i, feature in enumerate(space):
            tests += [IsIn(i, frozenset([code])) for code in range(len(feature.values))] if feature.values else [i]
        return Columns(space, tests)

    @staticmethod
    def binary(space: ProductSpace, inner: NDArray[Any]) -> Columns[Test]:
        """Tests only: a number is cut at some quantiles, or between all of its values where they are few."""
        tests: list[Test] = []
        for test in Columns.one_hot(space).tests:
            if isinstance(test, int) and space.features[test].kind == "numeric":
                cuts = np.unique(np.quantile(inner[:, test], np.linspace(0, 1, THRESHOLDS + 2)[1:-1], method="lower"))
                tests += [AtMost(test, float(cut)) for cut in cuts if cut < inner[:, test].max()]
            else:
                tests.append(IsOne(test) if isinstance(test, int) else test)
        return Columns(space, tests)

    def of(self, inner: NDArray[Any]) -> NDArray[np.float32]:
        """Rows by columns; of numbers that are too large for sums of 32 bits only the signs are told apart."""
        columns = [
            inner[:, test] if isinstance(test, int) else test.answers(inner[:, test.feature]) for test in self.tests
        ]
        return np.column_stack(columns).clip(-_LARGEST, _LARGEST).astype(np.float32)

    def node(self, column: int, cut: float, below: Nested, above: Nested) -> Nested:
        """The test "at most cut" of a column with what is below the cut and what is above it."""
        test = self.tests[column]
        if not isinstance(test, int):
            return test, below, above
        if self.space.features[test].kind == "boolean":
            return IsOne(test), below, above
        return AtMost(test, cut), above, below
