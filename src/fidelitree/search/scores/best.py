"""The best test of a feature in a region, with its score and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fidelitree.errors import check_delta
from fidelitree.search.probes.evidence import NEAR_TIE
from fidelitree.search.scores.drop import Drops, Range, drops, share
from fidelitree.search.scores.paired import Pairs
from fidelitree.search.scores.subsets import subset_drops
from fidelitree.search.scores.thresholds import threshold_drops
from fidelitree.spaces.features import AtMost, Boolean, Categorical, IsIn, IsOne, Test


@dataclass(frozen=True)
class Scored:
    """A test and the score of splitting a leaf by it: what the split takes off the cost.

    With probability 1 - delta, the true score of ``test`` lies between ``low`` and ``high`` *and* no other candidate's
    is above ``most``. This holds although the test was chosen by the same pairs, because the ends were made to hold
    for all candidates at once. So the best candidate's true score lies between ``low`` and ``most``. Candidates are the
    cuts of a number, midway between observed values or, where any number may occur, between the numbers drawn; every
    set of up to 10 categories; of more, the sets that an order leaves.
    """

    test: Test
    score: float
    low: float
    high: float
    most: float


def best_test(pairs: Pairs, delta: float = 0.05) -> Scored | None:
    """The test with the largest estimated score; near ties go to the lowest cut, or the first set.

    The estimate of the chosen test is, like every largest of several, too large on average; the ends are not misled by
    that. None where the region leaves the feature nothing to part.

    >>> from fidelitree.spaces.draw import Stream
    >>> from fidelitree.spaces.features import Numeric
    >>> from fidelitree.spaces.region import Region
    >>> from fidelitree.search.scores import draw_pairs
    >>> from fidelitree.spaces.product import ProductSpace
    >>> from fidelitree.asking.counted import Counted
    >>> space = ProductSpace([Numeric("age", 18, 90)])
    >>> counted = Counted(lambda batch: batch["age"] > 54, space)
    >>> pairs = draw_pairs(counted, Region.whole(space), 0, Stream.named(0, "grow"), 4000)
    >>> found = best_test(pairs)
    >>> abs(found.test.cut - 54) < 0.1, found.low < 0.499 < found.high
    (True, True)
    """
    found, test = _candidates(pairs, check_delta(delta))
    if not len(found.high) or not found.high.max() > 0:
        return None
    largest = float(found.value.max())
    first = int(np.argmax(found.value >= largest - abs(largest) * NEAR_TIE))
    low, high = found.low[first], found.high[first]
    ends = (min(max(largest, low), high), low, high, found.high.max())
    return Scored(test(first), *(pairs.region.mass * float(end) for end in ends))


def _candidates(pairs: Pairs, delta: float) -> tuple[Drops, Callable[[int], Test]]:
    """Drops of the candidates of a feature, given the region, and how to make the test at a place among them."""
    i = pairs.feature
    if isinstance(pairs.drawn, Boolean):
        return _bit_drop(pairs, delta), lambda place: IsOne(i)
    if isinstance(pairs.drawn, Categorical):
        codes, sets, found = subset_drops(pairs, delta)
        return found, lambda place: IsIn(i, frozenset(codes[sets[place]].astype(int).tolist()))
    cuts, found = threshold_drops(pairs, delta)
    return found, lambda place: AtMost(i, float(cuts[place]))


def _bit_drop(pairs: Pairs, delta: float) -> Drops:
    """A bit has one test, and values on one side of it are equal: nothing of the influence is left."""
    none = np.zeros(1)
    q1 = pairs.drawn.mass(1) if pairs.left is None else float(pairs.left)
    influence = share(np.array([np.count_nonzero(pairs.changed)]), len(pairs), delta)
    return drops(influence, Range(none, none, none), Range(none, none, none), np.array([q1]))
