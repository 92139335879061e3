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
MISSED, MISSED_BELOW = 1 / 3, 1 / 6
UNION = 0
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
        self._tried = set[int]()
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
        self._keep(bits, codes)
        if self._split is None:
            yield from self.learner.learn(bits, codes)
            if self._stalled:
                yield from self._race()
            return
        feature, *sides = self._split
        for value, side in enumerate(sides):
            here = bits[:, feature] == value
            if here.any():
                yield from side.learn(bits[here], codes[here])
        yield from self._turn()

    def _keep(self, bits: Bits, codes: Codes) -> None:
        self._bits, self._codes = np.concatenate([self._bits, bits]), np.concatenate([self._codes, codes])

    @property
    def _stalled(self) -> bool:
        """Whether the tree keeps being wrong, and has about as many leaves as it was told answers."""
        learner, drawn = self.learner, len(self._codes)
        if self._given_up or drawn < STALLED or learner.tabulates or learner.sketch is None:
            return False
        return learner.missed >= (MISSED_BELOW if self._path else MISSED) and size(learner.sketch) * BY_HEART > drawn

    def _race(self) -> Steps[None]:
        """Split the region by its most influential feature, unless no feature is influential enough."""
        candidates = [feature for feature in range(self._features) if feature not in self._path]
        if not self.learner.all_searched:
            candidates = yield from self._walked()
        stars = Stars(self._bits, self._codes, self.learner.answers)
        feature = yield from most_influential(stars, candidates)
        self._given_up = feature is None
        if feature is not None:
            yield from self._divide(feature, self.learner.pool.bits, self.learner.pool.codes)

    def _divide(self, feature: int, bits: Bits, codes: Codes, deep: tuple[bool, bool] = (False, False)) -> Steps[None]:
        self._tried.add(feature)
        no = yield from self._side(feature, 0, bits, codes, deep[0])
        yes = yield from self._side(feature, 1, bits, codes, deep[1])
        self._split = feature, no, yes

    def _turn(self) -> Steps[None]:
        """Put first what both sides are split by."""
        if self._split is None: return
        _, no, yes = self._split
        if no._split is None or yes._split is None or no._split[0] != yes._split[0]:
            return
        feature = no._split[0]
        if feature in self._tried: return
        deep = tuple(any(side._split[1 + value]._split is not None for side in (no, yes)) for value in (0, 1))
        pools = [one.learner.pool for one in self._ends()]
        bits, codes = (np.concatenate([getattr(pool, name) for pool in pools]) for name in ("bits", "codes"))
        yield from self._divide(feature, bits, codes, deep)

    def _ends(self):
        return [self] if self._split is None else [*self._split[1]._ends(), *self._split[2]._ends()]

    def _walked(self) -> Steps[list[int]]:
        """Features by walks between drawn inputs with different labels: likelier the more influence they have."""
        found, codes = set[int](), self._codes
        for one in self._random.integers(len(codes), size=WALKS).tolist():
            others = np.flatnonzero(codes != codes[one])
            two = others[self._random.integers(len(others))]
            found.add((yield from self.learner.walk(self._bits[one], self._bits[two], int(codes[one]))))
        return sorted(found.union(self.learner.relevant) if UNION else found)

    def _side(self, feature: int, value: int, bits: Bits, codes: Codes, deep: bool) -> Steps[RegionLearner]:
        """The learner of one side of a split, which knows all that is known there."""
        side = RegionLearner(self._features, self._random, self._watch, self._parts, [*self._path, feature])
        drawn = self._bits[:, feature] == value
        here = bits[:, feature] == value
        side._keep(self._bits[drawn], self._codes[drawn])
        yield from side.learner.learn(bits[here], codes[here])
        if deep:
            yield from side._race()
        return side
