"""Labelled inputs as learners want them: rows of bins, columns of 0 and 1, some of them held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.binning import Binning
from fidelitree.search.local.coded import Coded, Sketch
from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Node, Tree

HELD = 4  # every so many-th label is held out
_MARGIN = 1.75  # standard deviations of a held-out error, below epsilon, that a tree should have
_WARIER = 0.85
THRESHOLDS = 10  # tests of a number, where a learner knows tests only
_LARGEST = 2.0**100
Nested = Any
"""A tree while it is made: the code of a label, or (test, no, yes)."""


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

    def sketched(self, sketch: Sketch) -> Tree:
        """A tree of bins as a tree."""
        return self.binning.tree(sketch, range(len(self.labels)), self.labels)

    def nested(self, nested: Nested) -> Tree:
        """A tree of tests and label codes as a tree."""
        return built(self.space, nested, self.labels)


def built(space: ProductSpace, nested: Nested, labels: Sequence[Any]) -> Tree:
    """A tree from tests and places among the labels; a split whose sides are leaves of one label is undone."""
    nodes: list[Node] = []

    def append(part: Nested) -> int:
        place = len(nodes)
        nodes.append(0)
        if isinstance(part, tuple):
            no = append(part[1])
            nodes[place] = (part[0], no, append(part[2]))
        else:
            nodes[place] = int(part)
        return place

    append(simplest(nested))
    return Tree.build(space, nodes, labels)


def simplest(nested: Nested) -> Nested:
    """The same tree without splits whose sides are leaves of one label."""
    if not isinstance(nested, tuple):
        return nested
    test, no, yes = nested[0], simplest(nested[1]), simplest(nested[2])
    return no if not isinstance(no, tuple) and not isinstance(yes, tuple) and no == yes else (test, no, yes)


@dataclass(frozen=True)
class Columns:
    """Features as columns for learners that know numbers or bits only: a test, or the feature of a number or a bit."""

    space: ProductSpace
    tests: Sequence[Test | int]

    @classmethod
    def one_hot(cls, space: ProductSpace) -> Columns:
        """A number stays one column, a category gets one for each value."""
        tests: list[Test | int] = []
        for i, feature in enumerate(space):
            tests += [IsIn(i, frozenset([code])) for code in range(len(feature.values))] if feature.values else [i]
        return cls(space, tests)

    @classmethod
    def binary(cls, space: ProductSpace, inner: NDArray[Any]) -> Columns:
        """Tests only: a number is cut at some quantiles, or between all of its values where they are few."""
        tests: list[Test | int] = []
        for test in cls.one_hot(space).tests:
            if isinstance(test, int) and space.features[test].kind == "numeric":
                cuts = np.unique(np.quantile(inner[:, test], np.linspace(0, 1, THRESHOLDS + 2)[1:-1], method="lower"))
                tests += [AtMost(test, float(cut)) for cut in cuts if cut < inner[:, test].max()]
            else:
                tests.append(IsOne(test) if isinstance(test, int) else test)
        return cls(space, tests)

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
