"""The relevant features first, then a tree of bounded depth over them, exactly.

After N. H. Bshouty, C. A. Haddad-Zaknoon, *Adaptive exact learning of decision trees from membership queries*, ALT
2019, of which we could read a summary only. Theirs are the problem (a target of depth d, exact, queries alone) and the
count: O~(2^2d) + 2^d log n queries. How each part goes is ours. Two fair inputs that agree on the features found so far
and have different labels lead to a new relevant feature in log2 n queries, by bisection. A tree of depth d over the
relevant features is fitted to all answers. Two trees of depth d that differ do so on at least 4^-d of all fair inputs,
so 3 x 4^d fair inputs without a mistake leave a chance of e^-3 that it is not the target; the certificate comes last.

Running time: as the queries, times a search for a tree that fits: (relevant features)^d. Where its guarantee ends: for
targets deeper than ``depth`` (six unless told) nothing is promised; fair inputs find what matters, so a feature that
matters only where fair inputs never are may be missed under other biases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.learners.consistent import AskedInputs, FittingTrees, shallowest
from fidelitree.learners.lesson import CERTIFIED, Lesson, learner
from fidelitree.search.questions import Ask, Steps
from fidelitree.spaces.draw import Stream, draw
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.product import ProductSpace

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.nested import Nested

DEPTH = 6
_SURE = 3  # times 2^d pairs, and times 4^d tests, without news
_BATCH = 32


@learner("after Bshouty, Haddad-Zaknoon 2019", "queries", bits_only=True)
def bshouty_haddad_zaknoon(lesson: Lesson, *, depth: int = DEPTH) -> Distillation:
    """A tree of the least depth that fits, found exactly with high probability, and certified.

    ``depth`` is the largest to look for.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import parity
    >>> bshouty_haddad_zaknoon(parity(40, 3), ProductSpace.bernoulli(40)).tree.depth
    3
    """
    deepest = check_count("depth", depth)
    return lesson.learn(lambda: shallowest(lesson), lambda: _asked(lesson, deepest))


def _asked(lesson: Lesson, deepest: int) -> Steps[str]:
    search = _Search(lesson)
    ended = yield from search.depths(deepest)
    if ended != CERTIFIED and not isinstance(search.found, tuple):
        search.found = int(np.bincount(search.known.codes).argmax())  # nothing fits: the label seen most
    if ended == CERTIFIED or (yield from lesson.test(search.known.propose(search.found))):
        return CERTIFIED
    return ended


class _Search:
    """Fair inputs, what was answered, and the features that are known to matter."""

    def __init__(self, lesson: Lesson) -> None:
        n = len(lesson.product)
        self._lesson, self.known = lesson, AskedInputs(lesson)
        self._fair = ProductSpace.bernoulli(n).whole
        self._stream, self._blocks = Stream.named(lesson.goal.seed, "grow").child("fair"), 0
        self._fitting = FittingTrees([IsOne(i) for i in range(n)], lesson.watch)
        self._fitting.allowed = []
        self.found: Nested = 0

    def depths(self, deepest: int) -> Steps[str]:
        """Deeper until a tree fits and stands; how it ended."""
        for depth in range(deepest + 1):
            if (yield from self._relevant(depth)):
                break
            while (found := self._fitting.tree(depth)) is not None:
                self.found = found
                self.known.propose(found)
                if (yield from self._stands(depth)):
                    if (yield from self._lesson.test(self.known.propose(found), last=False)):
                        return CERTIFIED
                    break  # it stands among trees of this depth, so the target is deeper
                if self._lesson.late:
                    break
            if self._lesson.late:
                break
        late = f"max_queries = {self._lesson.counted.budget.max_queries}"
        return late if self._lesson.late else f"no tree of depth {deepest} fits {self._fitting.count:,} answers"

    def _ask(self, inner: NDArray[np.uint8]) -> Steps[NDArray[np.intp]]:
        answered = yield Ask(inner, "grow")
        self.known.add(answered)
        for row, code in zip(inner.astype(np.bool_), answered.codes.tolist(), strict=True):
            self._fitting.add(row, code)
        return answered.codes

    def _draw(self, rows: int) -> NDArray[np.uint8]:
        self._blocks += 1
        return np.ascontiguousarray(draw(self._fair, self._stream, self._blocks, rows).T)

    def _relevant(self, depth: int) -> Steps[bool]:
        """Pairs that agree on what is known to matter, until enough of them have equal labels; True: budget gone."""
        quiet = 0
        while quiet < _SURE << depth:
            if self._lesson.late:
                return True
            one, two = self._draw(2)
            two[self._fitting.allowed] = one[self._fitting.allowed]
            codes = yield from self._ask(np.stack([one, two]))
            quiet += 1
            if codes[0] != codes[1]:
                yield from self._bisect(one, two, int(codes[0]))
                quiet = 0
        return False

    def _bisect(self, one: NDArray[np.uint8], two: NDArray[np.uint8], code: int) -> Steps[None]:
        """One feature between two inputs of different labels on which the label depends; ``code`` is the first's."""
        apart = np.flatnonzero(one != two)
        while len(apart) > 1:
            half = apart[: len(apart) // 2]
            middle = one.copy()
            middle[half] = two[half]
            (answer,) = yield from self._ask(middle[None])
            if answer == code:
                one, apart = middle, apart[len(half) :]
            else:
                two, apart = middle, half
        self._fitting.allow(int(apart[0]))

    def _stands(self, depth: int) -> Steps[bool]:
        """Whether the tree has no mistake on 3 x 4^d fair inputs; a mistake may show one more feature that matters."""
        tree = self.known.propose(self.found)
        for _ in range(0, _SURE << 2 * depth, _BATCH):
            if self._lesson.late:
                return False
            inner = self._draw(min(_BATCH, _SURE << 2 * depth))
            codes = yield from self._ask(inner)
            if (tree.predict_inner(inner) != self._lesson.counted.labels(codes)).any():
                yield from self._relevant(depth)
                return False
        return True
