"""A learner for each region: one that stalls is divided by the feature that is most influential there.

Where the learner's tree keeps erring though it has had many answers, and is no shorter than what it was told, the
target is deeper than a look-ahead sees. Stars find the first test (`stars`), and each side has a learner of its own,
which begins with all that is known there. So regions become shallower, until a look-ahead fits what is left of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.learner import BitLearner
from fidelitree.search.bits.pool import Bits, Codes
from fidelitree.search.bits.sketch import is_one
from fidelitree.search.bits.stars import Stars, most_influential
from fidelitree.trees.nested import size

if TYPE_CHECKING:
    from fidelitree.search.questions import Steps
    from fidelitree.trees.nested import Nested

STALLED = 192  # drawn answers of a region: a target that a look-ahead sees into is known by then
BY_HEART = 6  # drawn answers for each leaf: a tree with fewer has only learnt them by heart
WALKS = 24  # walks between drawn inputs that name the features of a race, where there are too many to flip them all


class RegionLearner:
    """The learner of a region, or a split and the learners of its sides."""

    def __init__(
        self, features: int, random: np.random.Generator, watch: Watch = go_on, parts: int = 2, path: list[int] | None = None
    ) -> None:
        """Walks are in this many ``parts``; the features of the ``path`` do not vary here."""
        self._features, self._random, self._watch, self._parts = features, random, watch, parts
        self._path = path or []
        self.learner = BitLearner(features, random, watch, parts)
        self._bits, self._codes = np.empty((0, features), np.uint8), np.empty(0, np.intp)  # as they were drawn
        self._split: tuple[int, RegionLearner, RegionLearner] | None = None
        self._given_up = False
        self._made: Nested | None = None

    @property
    def known(self) -> int:
        """Inputs whose answers are known."""
        return self.learner.pool.size if self._split is None else sum(side.known for side in self._split[1:])

    @property
    def confirmations(self) -> int:
        """Answers that a complete table of the region did not need, and that agree with it."""
        return self.learner.confirmations if self._split is None else 0

    @property
    def sketch(self) -> Nested | None:
        """The tree that all learners have come to; the same object as long as none has another."""
        if self._split is None:
            return self.learner.sketch
        feature, no, yes = self._split[0], self._split[1].sketch, self._split[2].sketch
        assert no is not None
        assert yes is not None
        if no == yes:
            return no
        if not (isinstance(self._made, tuple) and self._made[1] is no and self._made[2] is yes):
            self._made = is_one(feature), no, yes
        return self._made

    def learn(self, bits: Bits, codes: Codes) -> Steps[None]:
        """Take answers to drawn inputs in, and ask about others; a region that stalls is divided."""
        if self._split is not None:
            feature, *sides = self._split
            for value, side in enumerate(sides):
                here = bits[:, feature] == value
                if here.any():
                    yield from side.learn(bits[here], codes[here])
            return
        self._keep(bits, codes)
        yield from self.learner.learn(bits, codes)
        if self._stalled:
            yield from self._divide()

    def _keep(self, bits: Bits, codes: Codes) -> None:
        self._bits, self._codes = np.concatenate([self._bits, bits]), np.concatenate([self._codes, codes])

    @property
    def _stalled(self) -> bool:
        """Whether the tree keeps being wrong, and has about as many leaves as it was told answers."""
        sketch = self.learner.sketch
        if self._given_up or len(self._codes) < STALLED or not self.learner.misses or sketch is None:
            return False
        return size(sketch) * BY_HEART > len(self._codes)

    def _divide(self) -> Steps[None]:
        """Split the region by its most influential feature, unless no feature is influential enough."""
        candidates = [feature for feature in range(self._features) if feature not in self._path]
        if not self.learner.all_searched:
            candidates = yield from self._walked()
        stars = Stars(self._bits, self._codes, self.learner.answers)
        feature = yield from most_influential(stars, candidates)
        if feature is None:
            self._given_up = True
            return
        no = yield from self._side(feature, 0)
        yes = yield from self._side(feature, 1)
        self._split = feature, no, yes

    def _walked(self) -> Steps[list[int]]:
        """Features by walks between drawn inputs with different labels: likelier the more influence they have."""
        found, codes = set[int](), self._codes
        for one in self._random.integers(len(codes), size=WALKS).tolist():
            others = np.flatnonzero(codes != codes[one])
            two = others[self._random.integers(len(others))]
            found.add((yield from self.learner.walk(self._bits[one], self._bits[two], int(codes[one]))))
        return sorted(found)

    def _side(self, feature: int, value: int) -> Steps[RegionLearner]:
        """The learner of one side of a split, which knows all that is known there."""
        side = RegionLearner(self._features, self._random, self._watch, self._parts, [*self._path, feature])
        drawn, pool = self._bits[:, feature] == value, self.learner.pool
        here = pool.bits[:, feature] == value
        side._keep(self._bits[drawn], self._codes[drawn])
        yield from side.learner.learn(pool.bits[here], pool.codes[here])
        return side
