"""Label an input only where the trees that are still possible disagree about it.

After A. Soltani Moakhar, T. Laoaron, F. Ghahremani, K. Banihashem, M. Hajiaghayi, *Active learning for decision trees
with provable guarantees*, ICLR 2026 (arXiv 2601.20775), of which we could read a summary only. Theirs is the idea to
ask about the region of disagreement of trees over a grid of thresholds, and a label complexity that is polylogarithmic
in 1/epsilon under their assumptions. Ours is the rest: how disagreement is decided (an exact search for a tree of
bounded depth that fits all answers and the other label), the depth that rises when no tree fits or a test fails, and
the certificate.

A number is cut at ten quantiles. Inputs come as they are drawn, and most are not asked.

Running time: (tests)^depth for each input that is looked at. Where its guarantee ends: if the target is a tree of that
depth over those tests, no label is spent on an input whose label is known already; otherwise it stops at ``depth``, and
the certificate tells how good its tree is. No label complexity is promised here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.errors import check_count
from fidelitree.learners.consistent import AskedInputs, FittingTrees, shallowest, walk
from fidelitree.learners.lesson import CERTIFIED, MOST_LABELS, Lesson, learner
from fidelitree.search.labelled import FeatureColumns
from fidelitree.search.questions import Ask, Steps

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

DEPTH = 4
_DRAWN = 64
_QUIET = 3.0  # so many times 1/epsilon inputs in a row that need no label end the search


@learner("after Soltani Moakhar et al. 2026", "labels")
def disagreement(lesson: Lesson, *, depth: int = DEPTH) -> Distillation:
    """A tree that fits all answers, labels asked only where such trees disagree; certified.

    ``depth`` is the largest to look for.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> disagreement(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
    8
    """
    deepest = check_count("depth", depth)
    return lesson.learn(lambda: shallowest(lesson), lambda: _asked(lesson, deepest))


def _asked(lesson: Lesson, deepest: int) -> Steps[str]:
    search = _Search(lesson, deepest)
    while True:
        over = yield from search.settle(math.ceil(min(_QUIET / lesson.epsilon, MOST_LABELS)))
        tree = search.tree()
        if (yield from lesson.test(tree, last=over)):
            return CERTIFIED
        if over or not search.deeper():
            return search.ended


class _Search:
    """The answers, the depth that is tried, and a tree that fits."""

    def __init__(self, lesson: Lesson, deepest: int) -> None:
        self._lesson, self._deepest, self._depth = lesson, deepest, 1
        self._known, self.ended = AskedInputs(lesson), f"trees of depth {deepest} that fit do not stand the test"
        self._found: Nested = 0
        first = lesson.session.source.label(_DRAWN)
        self._columns = FeatureColumns.binary(lesson.product, first)
        self._fitting = FittingTrees(self._columns.tests, lesson.watch)
        self._waiting = list(first)

    def deeper(self) -> bool:
        """One level more, after a test that failed; whether there is one."""
        self._depth += 1
        return self._depth <= self._deepest

    def tree(self) -> Tree:
        """A tree that fits; the last one that did where none does."""
        return self._known.propose(self._found)

    def settle(self, patience: int) -> Steps[bool]:
        """Ask until so many inputs in a row need no label; whether there is nothing more to ask."""
        quiet = 0
        while quiet < patience:
            self._lesson.watch()
            if not self._waiting:
                self._waiting = list(self._lesson.session.source.label(_DRAWN))
            inner = self._waiting.pop()[None]
            passed = self._columns.of(inner)[0].astype(np.bool_)
            quiet += 1
            if not self._fitting.count or self._contested(inner, passed):
                answered = yield Ask(inner, "label")
                code = int(answered.codes[0])
                self._known.add(answered)
                self._fitting.add(passed, code)
                quiet = 0
                if not self._fits():
                    return True
            if self._lesson.late:
                self.ended = f"max_queries = {self._lesson.counted.budget.max_queries}"
                return True
        return False

    def _contested(self, inner: np.ndarray, passed: np.ndarray) -> bool:
        code = walk(self._found, inner[0])
        return self._fitting.contested(passed, code, self._depth)

    def _fits(self) -> bool:
        """Whether a tree fits, deeper if need be."""
        while (found := self._fitting.tree(self._depth)) is None:
            if self._depth >= self._deepest:
                self.ended = f"no tree of depth {self._deepest} fits {self._fitting.count:,} answers"
                return False
            self._depth += 1
        self._found = found
        return True
