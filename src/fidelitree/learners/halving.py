"""The query that halves the trees that are still possible, by counting them.

After Z. Huang, C. Jin, *Approximate optimal active learning of decision trees*, arXiv 2512.03971 (2025), of which we
could read a summary only. Theirs is the idea to ask what splits the trees of bounded depth that are still possible most
evenly, and to end when all of them are one function. They count approximately, by a SAT solver. Here trees are counted
exactly, by a dynamic program over restrictions: those of depth d under a restriction are its possible leaves, and for
each free feature the product of those of its two sides with depth d - 1. It is the anchor that shows how few queries
could do; trees are counted, not functions, so a function of many trees counts for more.

Running time: C(n, depth) 2^depth counts for each query, and (inputs looked at) x C(n, depth) more. Where its guarantee
ends: if the target is a tree of depth at most ``depth`` (three unless told) over at most 12 bits, it is found exactly;
of more inputs than 4096 only 256 drawn ones are looked at. Other targets are not what it is made for.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import check_count
from fidelitree.learners.consistent import AskedInputs, FittingTrees, shallowest
from fidelitree.learners.lesson import CERTIFIED, Lesson, learner
from fidelitree.search.questions import Ask, Steps
from fidelitree.spaces.draw import Stream, draw
from fidelitree.spaces.features import IsOne

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation

DEPTH = 3
_ALL, _SOME = 4096, 256  # inputs that are all looked at, and as many as are drawn where there are more
Floats = NDArray[np.float64]
_Set = tuple[int, ...]  # the features that a restriction fixes


@learner("after Huang, Jin 2025", "queries", bits_only=True)
def halving(lesson: Lesson, *, depth: int = DEPTH) -> Distillation:
    """The tree that is left when every query halved those that were possible; certified.

    ``depth`` is that of the trees that are thought possible.

    >>> from fidelitree import ProductSpace
    >>> from fidelitree.targets import multiplexer
    >>> found = halving(multiplexer(2), ProductSpace.bernoulli(6))
    >>> found.tree.size, found.queries.asked["grow"]
    (8, 21)
    """
    depth = check_count("depth", depth)
    depth = min(depth, len(lesson.product))
    # Where all inputs are no more than a test would take, they are asked.
    most = int(min(_ALL, 3 / lesson.epsilon)) if lesson.epsilon else 0
    return lesson.learn(lambda: shallowest(lesson), lambda: _halved(lesson, depth), most)


def _halved(lesson: Lesson, depth: int) -> Steps[str]:
    known, count = AskedInputs(lesson), _Count(_looked_at(lesson), depth)
    fitting = FittingTrees([IsOne(i) for i in range(len(lesson.product))], lesson.watch)
    while (place := count.best()) is not None and not lesson.late:
        lesson.watch()
        inner = count.inputs[place][None]
        answered = yield Ask(inner, "grow")
        known.add(answered)
        fitting.add(inner[0].astype(np.bool_), int(answered.codes[0]))
        count.add(inner[0], int(answered.codes[0]))
        if (found := fitting.tree(depth)) is not None:
            known.propose(found)
    ended = f"no tree of depth {depth} fits" if fitting.tree(depth) is None else "more than one function is left"
    return CERTIFIED if (yield from lesson.test(lesson.tree())) else ended


def _looked_at(lesson: Lesson) -> NDArray[np.uint8]:
    """All inputs, or some that are drawn."""
    whole, points = lesson.product.whole, lesson.product.points
    if points is not None and points <= _ALL:
        return np.asarray(whole.inputs(0, points), np.uint8)
    drawn = draw(whole, Stream.named(lesson.goal.seed, "grow").child("looked"), 0, _SOME)
    return np.ascontiguousarray(drawn.T)


class _Count:
    """How many trees are possible under each restriction, and how many of them give an input each label."""

    def __init__(self, inputs: NDArray[np.uint8], depth: int) -> None:
        self.inputs, self._depth, self._labels = inputs, depth, 2
        n = inputs.shape[1]
        self._sets = [fixed for size in range(depth + 1) for fixed in combinations(range(n), size)]
        self._places = {fixed: self._place(inputs, fixed) for fixed in self._sets}
        # seen[fixed][place, code]: answers under a restriction with a label
        self._seen = {fixed: np.zeros((1 << len(fixed), 2), np.int64) for fixed in self._sets}
        self._free = list(range(n))

    @staticmethod
    def _place(inputs: NDArray[np.uint8], fixed: tuple[int, ...]) -> NDArray[np.intp]:
        return np.asarray(inputs[:, fixed].astype(np.intp) @ (1 << np.arange(len(fixed))), np.intp)

    def add(self, row: NDArray[np.uint8], code: int) -> None:
        """One more answer."""
        if code >= self._labels:
            self._labels = code + 1
            self._seen = {
                key: np.pad(seen, ((0, 0), (0, code + 1 - seen.shape[1]))) for key, seen in self._seen.items()
            }
        for fixed, seen in self._seen.items():
            seen[int(self._place(row[None], fixed)[0]), code] += 1

    def best(self) -> int | None:
        """The input whose label is the least certain; None where all trees agree on every input, or none is left."""
        possible = {fixed: self._leaves(seen) for fixed, seen in self._seen.items()}
        totals = {fixed: leaves.sum(axis=1) for fixed, leaves in possible.items()}
        saying = {fixed: possible[fixed][self._places[fixed]] for fixed in self._sets}  # inputs by labels
        for fixed in reversed(self._sets):
            if len(fixed) == self._depth:
                continue
            for i in self._free:
                if i not in fixed:
                    self._split(fixed, i, totals, saying)
        counts = saying[()]
        total = counts.sum(axis=1)
        largest = counts.max(axis=1)
        open_ = largest < total * (1 - 1e-12)
        return int(np.argmin(np.where(open_, largest / np.maximum(total, 1), 2))) if open_.any() else None

    @staticmethod
    def _leaves(seen: NDArray[np.int64]) -> Floats:
        """For each label 1 if a leaf of it fits what was seen, else 0."""
        return np.asarray(seen.sum(axis=1, keepdims=True) == seen, np.float64)

    def _split(self, fixed: _Set, i: int, totals: dict[_Set, Floats], saying: dict[_Set, Floats]) -> None:
        """Add the trees that test feature i first: those of one side times those of the other."""
        below = tuple(sorted((*fixed, i)))
        at = below.index(i)
        places = np.arange(1 << len(fixed))
        low = (places & ((1 << at) - 1)) | (places >> at << (at + 1))
        one, two = totals[below][low], totals[below][low | 1 << at]
        totals[fixed] = totals[fixed] + one * two
        other = self._places[below] ^ (1 << at)
        saying[fixed] = saying[fixed] + saying[below] * totals[below][other][:, None]
