"""Labelled inputs as learners want them: rows of bins, columns of 0 and 1, some of them held out.

Binning turns inputs of any features into rows of small integers, which the search for small trees works on, and back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.local.coded import LAST_BIN, Bins, Coded, binned, binned_columns
from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test, midway
from fidelitree.trees.nested import Nested, build, mapped, of, simplest

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]
HELD = 4  # every so many-th label is held out of a search, to judge by
_MARGIN = 1.75  # standard deviations of a held-out error, below epsilon, that a tree should have
_WARIER = 0.85
ENOUGH = 5  # answers: of a leaf, which fewer only repeat; that could have shown one more feature that matters
THRESHOLDS = 10  # tests of a number, where a learner knows tests only
_LARGEST = float(np.sqrt(np.finfo(np.float32).max))
T = TypeVar("T", bound=Test | int)


@dataclass(frozen=True, eq=False)
class Binning:
    """Known inputs as bins: a category is its own bin, numbers have one for each of their values.

    ``bins`` has one line a feature, and one more at the end for each of ``gaps``, the features whose numbers may be
    missing: missing ones are the last bin of a feature's own line and the first bin of its second one. So a threshold
    over bins may have them on either side, and no search need know. ``cuts[i]`` are the values of a number on both
    sides of each cut.
    """

    space: ProductSpace
    bins: Bins
    cuts: tuple[tuple[Floats, Floats] | None, ...]
    gaps: tuple[int, ...] = ()

    @classmethod
    def of(cls, space: ProductSpace, inner: NDArray[Any]) -> Binning:
        """The bins of some inputs, rows by features."""
        # Numbers have no bin above the last one; categories may have more values.
        many = any(len(feature.values or ()) > LAST_BIN + 1 for feature in space)
        gaps = tuple(sorted(space.gaps))
        bins = np.empty((len(space) + len(gaps), len(inner)), np.uint32 if many else np.uint16)
        cuts: list[tuple[Floats, Floats] | None] = [None] * len(space)
        whole = [i for i, feature in enumerate(space) if feature.kind == "numeric" and i not in space.gaps]
        for i, both in zip(whole, binned_columns(inner, whole, bins), strict=True):
            cuts[i] = both
        for i in gaps:
            bins[i], *sides = _with_gaps(inner[:, i])
            cuts[i] = sides[0], sides[1]
        for i, feature in enumerate(space):
            if feature.kind != "numeric":
                bins[i] = inner[:, i]
        for line, i in enumerate(gaps, len(space)):
            bins[line] = np.where(np.isnan(inner[:, i]), 0, bins[i] + 1)
        return cls(space, bins, tuple(cuts), gaps)

    @property
    def features(self) -> list[Feature]:
        """The feature of each line."""
        return [*self.space, *(self.space.features[i] for i in self.gaps)]

    def apart(self, line: int) -> list[int]:
        """The bins of a line after which a cut parts missing numbers from all others."""
        if line >= len(self.space):
            return [0]
        cuts = self.cuts[line]
        return [] if cuts is None or line not in self.gaps else [len(cuts[0]) - 1]

    def coded(
        self, codes: Codes, rows: slice | NDArray[np.bool_] = slice(None), weights: Floats | None = None
    ) -> Coded:
        """Some of the inputs, all unless told, with labels; without weights every row counts 1."""
        sizes = [
            len(cuts[0]) + 1 if cuts else len(feature.values or (0, 1))
            for feature, cuts in zip(self.space, self.cuts, strict=True)
        ]
        sizes += [sizes[i] for i in self.gaps]
        ordered = [feature.values is None for feature in self.features]
        weights = np.ones(len(codes)) if weights is None else weights
        return Coded(np.ascontiguousarray(self.bins[:, rows]), ordered, sizes, codes, weights)

    def tree(self, nested: Nested, ranks: Sequence[int], labels: Sequence[Any]) -> Tree:
        """A tree over bins as a tree of inputs; ``ranks`` are the places of label codes among ``labels``."""
        return build(self.space, mapped(nested, self._split), labels, ranks)

    def _split(self, test: Test, no: Nested, yes: Nested) -> Nested:
        if not isinstance(test, AtMost):
            return test, no, yes
        second = test.feature >= len(self.space)
        i = self.gaps[test.feature - len(self.space)] if second else test.feature
        feature, bin_ = self.space.features[i], int(test.cut) - second
        if feature.kind == "boolean":
            return IsOne(i), yes, no  # "at most 0" is no
        if bin_ < 0:
            return AtMost(i, math.inf, False), yes, no  # missing numbers are the first bin of a second line
        cuts = self.cuts[i]
        assert cuts is not None, "numbers have cuts"
        low, high = (float(side[bin_]) for side in cuts)
        missing = second if i in self.gaps else None
        if high == math.inf:
            return AtMost(i, math.inf, missing), no, yes
        # Midway between known values is where a reader expects a cut, but for what rounding adds to it.
        digits = range(-3, 16) if feature.points is None else range(9, 10)
        return AtMost(i, short_cut(low, high, digits), missing), no, yes

    def nested(self, tree: Tree, codes: Mapping[Any, int]) -> Nested:
        """A tree of inputs as one over bins, the inverse of `tree`: a cut goes to the nearest one below it.

        ``codes`` are the codes of its labels.
        """
        return mapped(of(tree, lambda node: codes[tree.label(node)]), self._binned)

    def _binned(self, test: Test, no: Nested, yes: Nested) -> Nested:
        if isinstance(test, IsOne):
            return AtMost(test.feature, 0), yes, no
        if not isinstance(test, AtMost):
            return test, no, yes
        i = test.feature
        cuts = self.cuts[i]
        assert cuts is not None, "numbers have cuts"
        gaps = i in self.gaps
        low, high = (side[: len(side) - gaps] for side in cuts)  # the last cut parts missing numbers from all others
        place = int(np.searchsorted(low, test.cut, "right"))  # of the first bin above the cut
        if test.cut == math.inf or (len(low) and test.cut >= high[-1]):
            place = len(low) + 1
        if gaps and test.missing:
            return (AtMost(len(self.space) + self.gaps.index(i), place), no, yes) if place <= len(low) else yes
        if place > len(low) and not gaps:
            return yes
        return (AtMost(i, place - 1), no, yes) if place else no


def _with_gaps(column: Floats) -> tuple[Bins, Floats, Floats]:
    """The bins of numbers, missing ones in one more bin above all others."""
    known = ~np.isnan(column)
    some, low, high = binned(column[known], LAST_BIN - 1)
    bins = np.full(len(column), len(low) + 1, np.uint16)
    bins[known] = some
    return bins, np.append(low, -math.inf), np.append(high, math.inf)


@lru_cache(maxsize=1 << 14)
def short_cut(low: float, high: float, decimals: range = range(-3, 16)) -> float:
    """The middle of two values with as few decimals as part them: 39.9 reads better than 39.94155354473887."""
    cut = midway(low, high)
    with np.errstate(over="ignore"):  # what becomes infinite does not fit
        rounded = (float(np.round(cut, digits)) for digits in decimals)
        return next((short for short in rounded if low <= short < high), cut)


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
        return self.binning.coded(self.codes[rows], rows, self.weights[rows])

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
class FeatureColumns(Generic[T]):
    """Features as columns for learners that know numbers or bits only: a test, or the feature of a number or a bit."""

    space: ProductSpace
    tests: Sequence[T]

    @staticmethod
    def one_hot(space: ProductSpace) -> FeatureColumns[Test | int]:
        """A number stays one column, a category gets one for each value; missing numbers get one, and are below all."""
        tests: list[Test | int] = []
        for i, feature in enumerate(space):
            tests += [IsIn(i, frozenset([code])) for code in range(len(feature.values))] if feature.values else [i]
            tests += [AtMost(i, math.inf, False)] * (i in space.gaps)
        return FeatureColumns(space, tests)

    @staticmethod
    def binary(space: ProductSpace, inner: NDArray[Any]) -> FeatureColumns[Test]:
        """Tests only: a number is cut at some quantiles, or between all of its values where they are few."""
        tests: list[Test] = []
        for test in FeatureColumns.one_hot(space).tests:
            if isinstance(test, int) and space.features[test].kind == "numeric":
                known = inner[~np.isnan(inner[:, test]), test]
                levels = np.linspace(0, 1, THRESHOLDS + 2)[1:-1]
                cuts = np.unique(np.quantile(known, levels, method="lower")) if len(known) else known
                missing = False if test in space.gaps else None
                tests += [AtMost(test, float(cut), missing) for cut in cuts if cut < known.max()]
            else:
                tests.append(IsOne(test) if isinstance(test, int) else test)
        return FeatureColumns(space, tests)

    def of(self, inner: NDArray[Any]) -> NDArray[np.float32]:
        """Rows by columns; of numbers that are too large for sums of 32 bits only the signs are told apart."""
        columns = [
            inner[:, test] if isinstance(test, int) else test.answers(inner[:, test.feature]) for test in self.tests
        ]
        table = np.asarray(np.nan_to_num(np.column_stack(columns), nan=-np.inf), np.float64)
        return table.clip(-_LARGEST, _LARGEST).astype(np.float32)

    def node(self, column: int, cut: float, below: Nested, above: Nested) -> Nested:
        """The test "at most cut" of a column with what is below the cut and what is above it."""
        test = self.tests[column]
        if not isinstance(test, int):
            return test, below, above
        if self.space.features[test].kind == "boolean":
            return IsOne(test), below, above
        if test not in self.space.gaps:
            return AtMost(test, cut), above, below
        if cut < -_LARGEST / 4:
            return AtMost(test, math.inf, False), below, above
        return AtMost(test, cut, True), above, below
