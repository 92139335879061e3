"""Mehta and Raghavan: the least error for every number of leaves, by dynamic programming over restrictions.

D. Mehta, V. Raghavan, *Decision tree approximations of Boolean functions*, Theoretical Computer Science 270 (2002).

A tree of s leaves can be cut at depth log2(s/epsilon) at the price of epsilon, so restrictions of that many features
are enough. The authors' distribution is uniform; here every restriction has its mass, so that any product distribution
will do. Where all inputs are asked there is no limit on depth, and the curve is exact (`search.optimal`). Elsewhere the
masses of labels under every restriction of up to ``depth`` features are counted on labelled inputs.

Running time: C(n, depth) 2^depth restrictions, each with its curve: n^O(log(s/epsilon)). Where its guarantee ends: at
``depth`` levels (chosen so that there are at most a hundred thousand restrictions, unless told), and in the chance
that labelled inputs mislead; the certificate does not rely on either.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.errors import ParameterError, check_count
from fidelitree.learners.lesson import SMALL, Lesson, from_labels, learner
from fidelitree.search.labelled import FeatureColumns, Labelled
from fidelitree.search.optimal.optimum import CellFunction
from fidelitree.spaces.features import IsOne, Test
from fidelitree.trees import nested
from fidelitree.trees.curve import Floats, first_share, min_plus
from fidelitree.trees.nested import Nested, mapped

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.tree import Tree

_RESTRICTIONS = 100_000
_DEEPEST = 8


@learner("Mehta, Raghavan 2002", "labels")
def mehta_raghavan(lesson: Lesson, *, depth: int | None = None) -> Distillation:
    """The smallest tree that errs little enough among all, or among all of a depth on labelled inputs; certified.

    ``depth`` is the number of features that a restriction may fix, where not all inputs are asked.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import tribes
    >>> mehta_raghavan(tribes(3, 3), ProductSpace.bernoulli(9), epsilon=0.05).tree.size
    19
    """
    depth = None if depth is None else check_count("depth", depth)
    if depth is None and lesson.cheap_to_ask_all(SMALL):
        return lesson.run(lambda: _on_all_inputs(lesson))
    return from_labels(lesson, lambda data: fit(data, lesson.epsilon, depth, lesson.watch))


def _on_all_inputs(lesson: Lesson) -> str:
    """The exact frontier, as far as memory goes."""
    function = CellFunction.of(lesson.product, lesson.table())
    everything, limit = lesson.all_answers(), lesson.counted.budget.max_leaves or function.grid.size
    leaves, curve = None, None
    lesson.counted.budget.check(0)
    for curve in function.curves((2, limit)):
        leaves = curve.first_within(lesson.epsilon)
        if leaves is not None:
            break
        lesson.counted.budget.check(0)
    if curve is None:
        raise ParameterError(
            f"depth must be given where {len(function.axes)} features matter, with too many sets of values"
        )
    best = curve.build(leaves or len(curve.errors))
    return lesson.settle(nested.build(lesson.product, best, everything.labels), everything)


def fit(data: Labelled, epsilon: float, depth: int | None, watch: Watch = go_on) -> Tree:
    """The smallest tree of a depth that errs little enough on the judging rows; the best one where none does."""
    columns = FeatureColumns.binary(data.space, data.inner)
    count = len(columns.tests)
    if depth is None:
        depth = max(d for d in range(1, _DEEPEST) if d == 1 or math.comb(count, d) << d <= _RESTRICTIONS)
    curves = _Curves(columns.of(data.inner).astype(np.bool_), data, min(depth, count), watch)

    def asked(bit: Test, no: Nested, yes: Nested) -> Nested:
        return columns.tests[bit.feature], no, yes

    trees = (data.nested(mapped(curves.tree_with(leaves), asked)) for leaves in range(1, curves.most + 1))
    best: tuple[float, Tree] | None = None
    for tree in trees:
        error = data.error(tree)
        if best is None or error < best[0]:
            best = error, tree
        if error <= data.aim(epsilon):
            break
    assert best is not None, "one leaf is a tree"
    return best[1]


class _Curves:
    """For every set of at most ``depth`` columns and all their values, the fewest errors for each number of leaves."""

    def __init__(self, bits: NDArray[np.bool_], data: Labelled, depth: int, watch: Watch) -> None:
        rows = data.growing
        self._bits, self._labels, self._depth = bits[rows].astype(np.intp), len(data.labels), depth
        self._codes, self._weights = data.codes[rows], data.weights[rows]
        self._masses: dict[tuple[int, ...], Floats] = {}
        self._errors: dict[tuple[int, ...], Floats] = {}
        for size in range(depth, -1, -1):
            watch()
            for fixed in combinations(range(bits.shape[1]), size):
                self._solve(fixed)
        self.most = len(self._errors[()])

    def _solve(self, fixed: tuple[int, ...]) -> None:
        """Curves under all values of some columns: an axis of two for each, then leaves."""
        place = np.zeros(len(self._codes), np.intp)
        for column in fixed:
            place = 2 * place + self._bits[:, column]
        shape = (2,) * len(fixed)
        flat = np.bincount(place * self._labels + self._codes, self._weights, self._labels << len(fixed)).astype(
            np.float64
        )
        masses = flat.reshape(*shape, self._labels)
        self._masses[fixed] = masses
        alone = masses.sum(axis=-1) - masses.max(axis=-1)
        curves = np.repeat(alone[..., None], 1 << (self._depth - len(fixed)), axis=-1)
        if len(fixed) < self._depth:
            for column in set(range(self._bits.shape[1])) - set(fixed):
                min_plus(curves, *self._sides(fixed, column))
        self._errors[fixed] = np.minimum.accumulate(curves, axis=-1)

    def _sides(self, fixed: tuple[int, ...], column: int) -> tuple[Floats, Floats]:
        more = tuple(sorted((*fixed, column)))
        axis = more.index(column)
        no, yes = (np.asarray(self._errors[more].take(value, axis=axis)) for value in (0, 1))
        return no, yes

    def tree_with(self, leaves: int) -> Nested:
        """A tree with at most so many leaves and the fewest errors."""
        return self._build({}, leaves)

    def _build(self, path: dict[int, int], leaves: int) -> Nested:
        fixed = tuple(sorted(path))
        here = tuple(path[column] for column in fixed)
        curve = self._errors[fixed][here]
        wanted = curve[min(leaves, len(curve)) - 1]
        if wanted >= curve[0]:
            return int(self._masses[fixed][here].argmax())
        for column in sorted(set(range(self._bits.shape[1])) - set(fixed)):
            no, yes = (side[here] for side in self._sides(fixed, column))
            share = first_share(no, yes, leaves, wanted)
            if share is not None:
                one = self._build({**path, column: 0}, share)
                return IsOne(column), one, self._build({**path, column: 1}, leaves - share)
        raise AssertionError("the fewest errors were reached by some split")
