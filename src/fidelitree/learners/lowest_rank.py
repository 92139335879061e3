"""Ehrenfeucht and Haussler's Find: a consistent tree of the smallest rank.

A. Ehrenfeucht, D. Haussler, *Learning decision trees from random examples*, Information and Computation 82 (1989).
Labelled inputs alone.

A leaf has rank 0; an inner node has the larger rank of its sides, and one more where they are equal. A tree of s leaves
has rank at most log2 s. Find looks for a tree of rank r that fits all rows: it tries each test, and goes on below where
one side has rank r - 1; if exactly one side does, the other side of that test settles the question.

Running time: (labels) x (n + 1)^(2r), so polynomial for a fixed rank only. Where its guarantee ends: of n bits and rank
r, O(n^r log n/epsilon) labels suffice for epsilon, whatever the distribution; size is not what it looks for, noise
makes the rank explode, and ranks above 3 take long. A search is cut after twenty thousand tests. Then a tree that takes
the most telling test everywhere is returned: it fits all rows too, but its rank may not be the smallest, and the reason
of the result says so.
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


@learner("Ehrenfeucht, Haussler 1989", "labels")
def lowest_rank(lesson: Lesson, *, rank: int = 64) -> Distillation:
    """A consistent tree of the smallest rank for a growing set of labels, certified.

    ``rank`` is the largest to look for; a tree that fits is returned in any case, and the reason tells what is open.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> lowest_rank(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
    18
    """
    rank = check_count("rank", rank, least=0)

    def grown(data: Labelled) -> Tree:
        tree, lesson.caveat = fit(data, rank, lesson.watch)
        return tree

    return from_labels(lesson, grown)


def fit(data: Labelled, most: int, watch: Watch) -> tuple[Tree, str]:
    """The tree for the rows that teach, and what is not proven about its rank."""
    columns = FeatureColumns.binary(data.space, data.inner)
    rows = data.growing
    answers = columns.of(data.inner[rows]).astype(np.bool_)
    everything, doubtful = np.arange(len(answers)), 0
    for rank in range(min(most, _LARGEST) + 1):
        search = _Find(answers, data.codes[rows], columns, watch)
        try:
            found = search.find(everything, rank)
        except _Stop:
            doubtful = doubtful or rank
            continue
        if found is not None:
            return data.nested(found), f"rank {doubtful} was not ruled out" if doubtful else ""
    greedy = _Find(answers, data.codes[rows], columns, watch).greedy(everything)
    doubtful = doubtful or min(most, _LARGEST) + 1
    return data.nested(greedy), f"a greedy tree fits, and rank {doubtful} was not ruled out"


_LARGEST = 5  # ranks above are not searched for


class _Stop(Exception):  # noqa: N818 - a signal of this file
    """A search has tried enough."""


@dataclass
class _Find:
    answers: NDArray[np.bool_]
    codes: NDArray[np.intp]
    columns: FeatureColumns[Test]
    watch: Watch
    tried: int = 0

    def find(self, rows: NDArray[np.intp], rank: int) -> Nested | None:
        """A tree of this rank for the rows; None where there is none, and _Stop where enough was tried."""
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
            no, other = self.find(no_side, rank - 1), self.find(yes_side, rank - 1)
            if no is None and other is None:
                continue
            # One side has the smaller rank: if any tree of this rank fits the rows, one with this test first does.
            no = self.find(no_side, rank) if no is None else no
            other = self.find(yes_side, rank) if other is None else other
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

    def greedy(self, rows: NDArray[np.intp]) -> Nested:
        """A tree that fits: the most telling test first; a majority only where no test parts two labels."""
        counts = np.bincount(self.codes[rows])
        dividing = self._dividing(rows)
        if counts.max() == len(rows) or not len(dividing):
            return int(counts.argmax())
        self.watch()
        yes = self.answers[rows, dividing[0]]
        return self.columns.tests[dividing[0]], self.greedy(rows[~yes]), self.greedy(rows[yes])
