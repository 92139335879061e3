"""Inputs of one's own choice, and the tree that they lead to; what is asked here teaches, and is never counted.

Over bits, walks between two inputs find the features that matter, whatever correlates with the label (`BitLearner`),
and stars find the first splits of trees that are deeper than a look-ahead sees (`RegionLearner`). Elsewhere nothing is
chosen.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.bits.learner import SHOWN, STALLED, BitLearner
from fidelitree.search.bits.regions import RegionLearner
from fidelitree.search.labelled import ENOUGH
from fidelitree.spaces.draw import Stream
from fidelitree.trees.nested import build, size

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.questions import Steps
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook
    from fidelitree.trees.tree import Tree

Codes = NDArray[np.intp]
BY_HEART = 2_000  # answers from which on a tree with few of them a leaf only repeats what it was told
ABREAST = 8  # parts of a walk, whose inputs are asked about in one call; walks that share their calls


class Inquiry:
    """Chooses nothing."""

    chooses = False
    """Whether it asks about inputs of its own choice."""
    tree: Tree | None = None
    """The tree that it has come to, if any."""
    known = 0
    """Inputs whose answers it knows."""
    confirmed = 0
    """Answers that its tree did not need, and that agree with it."""

    def learn(self, inner: NDArray[Any], codes: Codes) -> Steps[None]:
        """Take answers in, and ask about inputs of its own choice."""
        yield from ()


class BitInquiry(Inquiry):
    """Asks where its tree is wrong, until there are so many answers that the tree only repeats them."""

    shown = SHOWN
    """Answers that are taken in at a time."""

    def __init__(self, space: ProductSpace, book: LabelBook, seed: int, watch: Watch) -> None:
        random = np.random.default_rng(np.random.SeedSequence(list(Stream.named(seed, "walk").key)))
        self._space, self._book = space, book
        self._learner = self._begun(random, watch)
        self._ended = False

    def _begun(self, random: np.random.Generator, watch: Watch) -> BitLearner | RegionLearner:
        return RegionLearner(len(self._space), random, watch)

    @property
    def chooses(self) -> bool:  # type: ignore[override]
        """Whether it asks about inputs of its own choice."""
        return not self._ended

    @property
    def known(self) -> int:  # type: ignore[override]
        """Inputs whose answers it knows."""
        return self._learner.known

    @property
    def confirmed(self) -> int:  # type: ignore[override]
        """Answers that its tree did not need, and that agree with it."""
        return 0 if self._ended else self._learner.confirmations

    def learn(self, inner: NDArray[Any], codes: Codes) -> Steps[None]:
        """Take answers in, a few at a time, and ask about inputs of its own choice."""
        start = 0
        while start < len(codes) and not self._ended:
            some = slice(start, start + max(self.shown, self.known // SHOWN))
            start = some.stop
            before = self._learner.sketch
            yield from self._told(inner[some], codes[some])
            sketch = self._learner.sketch
            assert sketch is not None, "a learner that was told something has a tree"
            if sketch is not before:
                self.tree = build(self._space, sketch, self._book.sorted(), self._book.ranks())
            if self.known >= BY_HEART and size(sketch) * ENOUGH > self.known:
                self._ended, self.tree = True, None

    def _told(self, inner: NDArray[Any], codes: Codes) -> Steps[None]:
        yield from self._learner.learn(inner, codes)


class FewRounds(BitInquiry):
    """Asks nothing while a search over all features does well; elsewhere it takes many steps of walks in one call."""

    shown = sys.maxsize
    _lost = False
    """Whether a search only repeated what it was told."""
    _learner: BitLearner

    def _begun(self, random: np.random.Generator, watch: Watch) -> BitLearner:
        return BitLearner(len(self._space), random, watch, parts=ABREAST, side_by_side=ABREAST)

    def _told(self, inner: NDArray[Any], codes: Codes) -> Steps[None]:
        learner = self._learner
        wrong = learner.wrong(inner, codes)
        self._lost = self._lost or (self.known >= STALLED and learner.by_heart)
        if self._lost or not learner.all_searched:
            yield from learner.learn(inner, codes, wrong)
        else:
            learner.search(inner, codes, wrong)
