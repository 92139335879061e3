"""Ehrenfeucht and Haussler's Find: a consistent tree of the smallest rank.

A. Ehrenfeucht, D. Haussler, *Learning decision trees from random examples*, Information and Computation 82 (1989).
Labelled inputs alone.

A leaf has rank 0; an inner node has the larger rank of its sides, and one more where they are equal. A tree of s leaves
has rank at most log2 s. Find looks for a tree of rank r that fits all rows: it tries each test, and goes on below where
one side has rank r - 1; if exactly one side does, the other side of that test settles the question.

Running time: (labels) x (n + 1)^(2r), so polynomial for a fixed rank only. Where its guarantee ends: of n bits and rank
r, O(n^r log n/epsilon) labels suffice for epsilon, whatever the distribution; size is not what it looks for, noise
makes the rank explode, and ranks above 3 take long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.learners.lesson import Lesson, from_labels, learner
from fidelitree.search.labelled import FeatureColumns, Labelled

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

_TRIES = 20_000  # tests of one search for a rank; then the next rank is tried


@learner
def lowest_rank(lesson: Lesson, *, rank: int = 64) -> Distillation:
    """A consistent tree of the smallest rank for a growing set of labels, certified; ``rank`` is the largest to try.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> lowest_rank(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
    18
    """
    rank = check_count("rank", rank, least=0)
    return from_labels(lesson, lambda data: fit(data, rank, lesson.watch))


def fit(data: Labelled, most: int, watch: Watch) -> Tree:
    """The tree for the rows that teach; above the largest rank, leaves get their majority's label."""
    columns = FeatureColumns.binary(data.space, data.inner)
    rows = data.growing
    answers = columns.of(data.inner[rows]).astype(np.bool_)
    found: Nested | None = None
    for rank in range(most + 1):
        search = _Find(answers, data.codes[rows], columns, watch)
        found = search.find(np.arange(len(answers)), rank, greedy=rank == most or rank > _ALWAYS)
        if found is not None:
            return data.nested(found)
    raise AssertionError("a greedy search finds something")


_ALWAYS = 5  # ranks above are not searched for: the last search takes what it finds


class _Stop(Exception):  # noqa: N818 - a signal of this file
    """A search has tried enough."""


@dataclass
class _Find:
    answers: NDArray[np.bool_]
    codes: NDArray[np.intp]
    columns: FeatureColumns[Test]
    watch: Watch
    tried: int = 0

    def find(self, rows: NDArray[np.intp], rank: int, greedy: bool) -> Nested | None:
        """A tree of this rank for the rows, or None; a greedy search settles for majorities where there is none."""
        try:
            found = self._find(rows, rank)
        except _Stop:
            found = None
        return self._majority(rows, rank) if found is None and greedy else found

    def _find(self, rows: NDArray[np.intp], rank: int) -> Nested | None:
        codes = self.codes[rows]
        if (codes == codes[0]).all():
            return int(codes[0])
        if rank == 0:
            return None
        for column in self._dividing(rows):
            self.tried += 1
            if self.tried > _TRIES:
                raise _Stop
            self.watch()
            yes = self.answers[rows, column]
            no_side, yes_side = rows[~yes], rows[yes]
            no, other = self._find(no_side, rank - 1), self._find(yes_side, rank - 1)
            if no is None and other is None:
                continue
            # One side has the smaller rank: if any tree of this rank fits the rows, one with this test first does.
            no = self._find(no_side, rank) if no is None else no
            other = self._find(yes_side, rank) if other is None else other
            return None if no is None or other is None else (self.columns.tests[column], no, other)
        return None

    def _dividing(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Tests that divide the rows, the one that tells most about the label first, so that it is found early."""
        answers, codes = self.answers[rows], self.codes[rows]
        ones = answers.sum(axis=0)
        most = np.zeros(answers.shape[1])
        for code in np.unique(codes):
            share = answers[codes == code].sum(axis=0)
            most = most + np.abs(share * len(rows) - ones * (codes == code).sum())
        order = np.argsort(-most, kind="stable")
        return np.asarray(order[(ones[order] > 0) & (ones[order] < len(rows))])

    def _majority(self, rows: NDArray[np.intp], rank: int) -> Nested:
        """A tree of this rank that starts with the most telling tests and ends in majorities."""
        counts = np.bincount(self.codes[rows])
        dividing = self._dividing(rows)
        if rank == 0 or counts.max() == len(rows) or not len(dividing):
            return int(counts.argmax())
        yes = self.answers[rows, dividing[0]]
        sides = rows[~yes], rows[yes]
        small = int(len(sides[1]) < len(sides[0]))
        ranks = (rank, rank - 1) if small else (rank - 1, rank)
        return (self.columns.tests[dividing[0]], *(self._majority(s, r) for s, r in zip(sides, ranks, strict=True)))
