"""Trees of bounded depth that fit all answers so far: is there one, and one that says otherwise about an input?

Rows are bits of one whole number a test, so that a side of a split is one operation. What was found out about a set of
rows stays true when rows are added, and is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.runs.session import TrainingSet
from fidelitree.search.labelled import Labelled
from fidelitree.search.optimal.affordable import NUMBERS
from fidelitree.search.optimal.optimum import CellFunction, Optimum
from fidelitree.trees import nested as trees

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.learners.lesson import Lesson
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

_Memo = dict[tuple[int, int], "Nested | None"]


class FittingTrees:
    """Answers by test, and the trees that fit them; ``allowed`` are the tests that may be used, all unless told."""

    def __init__(self, tests: Sequence[Test], watch: Watch) -> None:
        self._tests, self._watch = tests, watch
        self._columns = [0] * len(tests)
        self._labels: dict[int, int] = {}
        self._memo: _Memo = {}
        self.count = 0
        self.allowed = list(range(len(tests)))

    def allow(self, test: int) -> None:
        """One more test; what could not be fitted may be now."""
        self.allowed = sorted({*self.allowed, test})
        self._memo.clear()

    def add(self, passed: NDArray[np.bool_], code: int) -> None:
        """One more answer: which tests its input passes, and its label."""
        for i in np.flatnonzero(passed):
            self._columns[i] |= 1 << self.count
        self._labels[code] = self._labels.get(code, 0) | 1 << self.count
        self.count += 1

    def tree(self, depth: int) -> Nested | None:
        """A tree of at most this depth that fits all answers; None where there is none."""
        return self._find((1 << self.count) - 1, depth, self._memo, self._memo, 0)

    def contested(self, passed: NDArray[np.bool_], code: int, depth: int) -> bool:
        """Whether some tree of this depth fits all answers and another label than ``code`` for one more input."""
        new = 1 << self.count
        others = [label for label in self._labels if label != code] or [-1]
        columns, labels = self._columns, self._labels
        self._columns = [column | new * bool(yes) for column, yes in zip(columns, passed, strict=True)]
        try:
            for label in others:
                self._labels = {**labels, label: labels.get(label, 0) | new}
                if self._find((new << 1) - 1, depth, self._memo, {}, new) is not None:
                    return True
        finally:
            self._columns, self._labels = columns, labels
        return False

    def _find(self, rows: int, depth: int, memo: _Memo, trial: _Memo, new: int) -> Nested | None:
        """For some rows; sets with the row that is only tried are remembered for this trial alone."""
        for code, mine in self._labels.items():
            if not rows & ~mine:
                return code
        if not depth:
            return None
        known = trial if rows & new else memo
        key = rows, depth
        if key not in known:
            self._watch()
            known[key] = None
            for i in self.allowed:
                yes = rows & self._columns[i]
                no = rows ^ yes
                if not yes or not no:
                    continue
                first, second = (no, yes) if yes & new else (yes, no)  # what is remembered for good comes first
                one = self._find(first, depth - 1, memo, trial, new)
                if one is None:
                    continue
                two = self._find(second, depth - 1, memo, trial, new)
                if two is not None:
                    sides = (two, one) if first == yes else (one, two)
                    known[key] = (self._tests[i], *sides)
                    break
        return known[key]


class AskedInputs(TrainingSet):
    """Inputs of a learner's own choice with their answers, in the order of asking."""

    def __init__(self, lesson: Lesson) -> None:
        super().__init__(lesson.session)
        self._lesson = lesson

    def propose(self, nested: Nested) -> Tree:
        """A tree of label codes, as it may be tested."""
        lesson, book = self._lesson, self._lesson.counted.book
        codes = np.array(book.ranks(), np.intp)[self.codes]
        data = Labelled(lesson.product, book.sorted(), self.inner, codes, np.ones(len(codes)))
        return lesson.propose(trees.build(lesson.product, trees.simplest(nested), book.sorted(), book.ranks()), data)


def walk(nested: Nested, row: NDArray[Any]) -> int:
    """The label code that a tree of codes gives to one input."""
    while isinstance(nested, tuple):
        test, no, yes = nested
        nested = yes if test.answers(row[[test.feature]])[0] else no
    return nested


def shallowest(lesson: Lesson) -> str:
    """The tree of the least depth where every input is asked; ID3's where too many features matter."""
    function = CellFunction.of(lesson.product, lesson.table())
    if function.restrictions > NUMBERS:
        return lesson.settle_greedily()
    found, everything = Optimum(*function, "depth", lesson.watch).nested(), lesson.all_answers()
    return lesson.settle(trees.build(lesson.product, found, everything.labels), everything)
