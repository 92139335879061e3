"""A learner for each region: one that stalls is divided by the feature that is most influential there.

Where the learner's tree keeps erring though it was told much, and is no shorter than what it was told, the target is
deeper than a look-ahead sees. Stars find the first test (`stars`), and each side has a learner of its own, which begins
with all that is known there. So regions become shallower, until a look-ahead fits what is left of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.learner import STALLED, BitLearner
from fidelitree.search.bits.pool import Bits, Codes, Pool
from fidelitree.search.bits.sketch import is_one, predict
from fidelitree.search.bits.stars import CENTRES, DrawnRegion, clearly_ahead, most_influential
from fidelitree.search.labelled import ENOUGH
from fidelitree.trees.nested import size, tested

if TYPE_CHECKING:
    from fidelitree.search.questions import Steps
    from fidelitree.trees.nested import Nested


class RegionSplit(NamedTuple):
    """How a region was divided."""

    feature: int
    no: RegionLearner
    yes: RegionLearner


class RegionLearner:
    """The learner of a region, or a split and the learners of its sides."""

    def __init__(
        self,
        features: int,
        random: np.random.Generator,
        watch: Watch = go_on,
        path: tuple[int, ...] = (),
    ) -> None:
        """The features of the ``path`` do not vary here."""
        self._features, self._random, self._watch, self._path = features, random, watch, path
        self._learner = BitLearner(features, random, watch)
        self._drawn = Pool(features)  # without what was asked: these inputs are a sample of the region
        self._split: RegionSplit | None = None
        self._tried = set[int]()  # features that it was split by
        self._given_up = False
        self._looked = 0  # drawn answers when the order of splits was looked at
        self._made: Nested | None = None

    @property
    def known(self) -> int:
        """Inputs whose answers are known."""
        return sum(learner.pool.size for learner in self._learners())

    @property
    def confirmations(self) -> int:
        """Answers that a complete table did not need, and that agree with it; 0 where there is none."""
        return self._learner.confirmations if self._split is None else 0

    @property
    def divided_by(self) -> int | None:
        """The feature that parts its sides; None as long as one learner has the whole region."""
        return None if self._split is None else self._split.feature

    @property
    def sketch(self) -> Nested | None:
        """The tree that its learners have come to; the same object as long as no learner has another."""
        if self._split is None:
            return self._learner.sketch
        feature, no, yes = self._split.feature, self._split.no.sketch, self._split.yes.sketch
        assert no is not None, "both sides were told something"
        assert yes is not None, "both sides were told something"
        if no == yes:
            return no
        if not (isinstance(self._made, tuple) and self._made[1] is no and self._made[2] is yes):
            self._made = is_one(feature), no, yes
        return self._made

    def learn(self, bits: Bits, codes: Codes) -> Steps[None]:
        """Take answers to drawn inputs in, and ask about others; a region that stalls is divided."""
        self._drawn.add(bits, codes)
        if self._split is None:
            yield from self._learner.learn(bits, codes)
            if self._stalled:
                yield from self._divide()
            return
        for value, side in enumerate(self._split[1:]):
            here = bits[:, self._split.feature] == value
            if here.any():
                yield from side.learn(bits[here], codes[here])
        yield from self._reorder()

    @property
    def _stalled(self) -> bool:
        """Whether the tree repeats what it was told."""
        learner, drawn = self._learner, self._drawn.size
        if self._given_up or drawn < STALLED or learner.tabulates or learner.sketch is None:
            return False
        return size(learner.sketch) * ENOUGH > drawn

    def _divide(self) -> Steps[None]:
        """Split the region by its most influential feature, unless no feature is influential enough."""
        free = [feature for feature in range(self._features) if feature not in self._path]
        if not self._learner.all_searched:
            free = yield from self._walked()
        drawn = DrawnRegion(self._drawn.bits, self._drawn.codes, self._learner.answers)
        feature = yield from most_influential(drawn, free)
        self._given_up = feature is None
        if feature is not None:
            yield from self._split_by(feature, (False, False))

    def _walked(self) -> Steps[list[int]]:
        """Features by walks between drawn inputs with different labels: likelier the more influence they have."""
        found, (bits, codes) = set[int](), (self._drawn.bits, self._drawn.codes)
        for one in self._random.integers(len(codes), size=CENTRES if len(codes) else 0).tolist():
            others = np.flatnonzero(codes != codes[one])
            if len(others):
                two = int(others[self._random.integers(len(others))])
                found.add((yield from self._learner.walk(bits[one], bits[two], int(codes[one]))))
        return sorted(found)

    def _split_by(self, feature: int, deep: tuple[bool, bool]) -> Steps[None]:
        """Give each side a learner that knows all that is known there; which sides are ``deep`` is known already."""
        pools = [learner.pool for learner in self._learners()]
        bits = np.concatenate([pool.bits for pool in pools])
        codes = np.concatenate([pool.codes for pool in pools])
        sides = list[RegionLearner]()
        for value in (0, 1):
            side = RegionLearner(self._features, self._random, self._watch, (*self._path, feature))
            drawn, here = self._drawn.bits[:, feature] == value, bits[:, feature] == value
            side._drawn.add(self._drawn.bits[drawn], self._drawn.codes[drawn])
            yield from side._learner.learn(bits[here], codes[here])
            if deep[value]:
                yield from side._divide()
            sides.append(side)
        self._split = RegionSplit(feature, *sides)
        self._tried.add(feature)
        self._looked = self._drawn.size

    def _reorder(self) -> Steps[None]:
        """Put another feature first if it should have been: its race was lost by chance."""
        assert self._split is not None, "only a split has sides"
        no, yes = self._split.no._split, self._split.yes._split
        if no is not None and yes is not None and no.feature == yes.feature:
            feature = no.feature
            deep = [any(side.divided_by is not None for side in pair) for pair in zip(no[1:], yes[1:], strict=True)]
        else:
            feature, deep = self._by_sketch(), [no is not None or yes is not None] * 2
        if feature not in self._tried:
            yield from self._split_by(feature, (deep[0], deep[1]))

    def _by_sketch(self) -> int:
        """The feature with the largest influence on the tree so far; that which was chosen, unless it is behind."""
        assert self._split is not None, "only a split is reconsidered"
        chosen, sketch = self._split.feature, self.sketch
        if self._drawn.size < 2 * self._looked or not isinstance(sketch, tuple):
            return chosen
        self._looked = self._drawn.size
        if sketch[0].feature != chosen:  # both sides are the same
            return chosen
        return clearly_ahead(self._drawn.bits, sorted(tested(sketch)), chosen, lambda bits: predict(sketch, bits))

    def _learners(self) -> Iterator[BitLearner]:
        """The learners of all its parts."""
        if self._split is None:
            yield self._learner
            return
        for side in self._split[1:]:
            yield from side._learners()
