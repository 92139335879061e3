"""Inputs of one's own choice, and the tree that they lead to; what is asked here teaches, and is never counted.

Over bits, walks between two inputs find the features that matter, whatever correlates with the label (`BitLearner`),
and stars find the first splits of trees that are deeper than a look-ahead sees (`RegionLearner`). Elsewhere nothing is
chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.bits.regions import RegionLearner
from fidelitree.spaces.draw import Stream
from fidelitree.trees.nested import build, size

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.questions import Steps
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook
    from fidelitree.trees.tree import Tree

Codes = NDArray[np.intp]
SHOWN = 32  # answers that the learner over bits takes in at a time: it asks about the mistakes among them
BY_HEART = 2_000  # answers from which on a tree with few of them a leaf only repeats what it was told
A_LEAF = 5  # answers a leaf, at least


class Inquiry:
    """Chooses nothing."""

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

    def __init__(self, space: ProductSpace, book: LabelBook, seed: int, watch: Watch, parts: int = 2) -> None:
        """Walks are in this many ``parts``."""
        random = np.random.default_rng(np.random.SeedSequence(list(Stream.named(seed, "walk").key)))
        self._space, self._book = space, book
        self._learner = RegionLearner(len(space), random, watch, parts)
        self._ended = False

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
        for start in range(0, len(codes), SHOWN):
            if self._ended:
                return
            some = slice(start, start + SHOWN)
            before = self._learner.sketch
            yield from self._learner.learn(inner[some], codes[some])
            sketch = self._learner.sketch
            assert sketch is not None, "a learner that was told something has a tree"
            if sketch is not before:
                self.tree = build(self._space, sketch, self._book.sorted(), self._book.ranks())
            if self.known >= BY_HEART and size(sketch) * A_LEAF > self.known:
                self._ended, self.tree = True, None
