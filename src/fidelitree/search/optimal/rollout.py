"""Nested rollouts: small trees for a function of bits whose answers are all known, however many bits it has.

The base policy tests the most influential feature at each node, as the paper does; where no more than a handful of
features matter any longer, all trees are considered, once for every different function. What comes up from there are
curves of least error against leaves, merged over both sides of every test. These are all prunings of the paper's tree
with optimal subtrees at its bottom: no pruning of that tree is smaller.

While there is time, better policies follow (rollout algorithms: Bertsekas, Tsitsiklis, Wu 1997; nested: Cazenave 2009).
At each node several candidates are tried with the policy one level lower below them, and the best of them then with
the policy itself. No curve is higher than by the policy before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.diagram import DiagramSubfunction
from fidelitree.search.best_first import NEAR_TIE
from fidelitree.search.optimal import affordable
from fidelitree.search.optimal.affordable import SearchEnded
from fidelitree.search.optimal.lattice import Axis, Codes, axes_of
from fidelitree.search.optimal.optimum import Optimum, least_errors
from fidelitree.spaces.features import IsOne
from fidelitree.trees.curve import Curve, CurveSplit, Floats

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.region import Region

Answer = Callable[[NDArray[np.uint8]], NDArray[np.intp]]
"""Label codes of inputs, which cost nothing."""


class Policy(NamedTuple):
    """How a test is chosen: among so many candidates, each tried with a policy that is one level lower below it."""

    level: int
    candidates: int

    def below(self) -> Policy:
        """What candidates are tried with."""
        return Policy(self.level - 1, self.candidates) if self.level > 1 else GREEDY


GREEDY = Policy(0, 1)
POLICIES = (GREEDY, *(Policy(1, k) for k in (2, 3, 4, 6, 12)), Policy(2, 4), Policy(2, 6), Policy(3, 6))
"""Of one search after the other."""


@dataclass
class Rollouts:
    """Searches for one function; ``exact`` where no error is allowed, ``most`` leaves are of interest."""

    space: ProductSpace
    answer: Answer
    most: int
    exact: bool
    clock: Counted
    steps: float = field(default_factory=lambda: affordable.NUMBERS / affordable.NODE)
    """After the first search, where no time is given: as long as the largest program takes."""
    room: float = affordable.NODE
    """Numbers for all trees over few features: no more than a node takes, more after the first search."""
    _steps: float = 0.0
    _curves: dict[Any, Curve] = field(default_factory=dict)
    _bottoms: dict[Any, Curve] = field(default_factory=dict)

    def curves(self, root: Subfunction, error: float = 0.0) -> Iterator[Curve]:
        """What each search finds until `SearchEnded`; the first takes no account of steps.

        Later ones look at trees that are no larger than the first with at most this ``error``.
        """
        whole = self.space.whole
        first = self.curve(root, whole, GREEDY)
        yield first
        self.most = min(self.most, first.first_within(error) or self.most)
        self.room, self._steps = affordable.PASSING, 0.0
        self._curves.clear()
        self._bottoms.clear()
        for policy in POLICIES:
            yield self.curve(root, whole, policy)

    def curve(self, part: Subfunction, region: Region, policy: Policy) -> Curve:
        """The best that a policy finds in a region; what is known about a function is known wherever it is left."""
        same = part.root if isinstance(part, DiagramSubfunction) else frozenset(region.restrictions.items())
        key = same, policy
        if key not in self._curves:
            self._curves[key] = self._look(part, region, policy)
        return self._curves[key]

    def _step(self, steps: float) -> None:
        """Count steps; a clock ends the search where there is one."""
        self._steps += steps
        self._watch()
        if self.clock.budget.max_seconds is None and self.room > affordable.NODE and self._steps > self.steps:
            raise SearchEnded

    def _watch(self) -> None:
        if self.clock.over():
            raise SearchEnded

    def _look(self, part: Subfunction, region: Region, policy: Policy) -> Curve:
        self._step(1)
        shares = part.label_probabilities()
        best = Curve.leaf(int(shares.argmax()), 1 - float(shares.max()) if (shares > 0).sum() > 1 else 0.0)
        influences = part.influences()
        relevant = np.flatnonzero(influences > 0)
        if not len(relevant):
            return best
        if self._numbers(relevant) <= self.room:
            return self._bottom(region, relevant.tolist())
        order = np.argsort(-influences, kind="stable")[: min(policy.candidates, len(relevant))].tolist()
        if policy.level:
            tried = [self._split(part, region, feature, policy.below()) for feature in order]
            for split in tried:
                best = self._lower(best, split)
            order = [order[min(range(len(order)), key=lambda place: self._measure(tried[place]))]]
        return self._lower(best, self._split(part, region, order[0], policy))

    def _split(self, part: Subfunction, region: Region, feature: int, policy: Policy) -> CurveSplit:
        """A test with what a policy finds on both of its sides."""
        test, bias = IsOne(feature), float(self.space.biases[feature])
        sides = zip(part.split(test), region.split(test), strict=True)
        no, yes = (self.curve(*side, policy) for side in sides)
        return CurveSplit(test, no, yes, (1 - bias, bias))

    def _lower(self, best: Curve, split: CurveSplit) -> Curve:
        return _fewer(best, split) if self.exact else best.or_split(split, self.most, NEAR_TIE)

    def _measure(self, split: CurveSplit) -> float:
        """How good a split is: leaves, or the errors of all numbers of leaves together."""
        if self.exact:
            return len(split.no.errors) + len(split.yes.errors)
        errors = self._lower(Curve.leaf(0, 1.0), split).errors
        return float(errors.sum() + (self.most - len(errors)) * errors[-1])

    def _bottom(self, region: Region, relevant: list[int]) -> Curve:
        """All trees for a function of few features."""
        inputs = np.tile(self.space.biases == 1, (1 << len(relevant), 1)).astype(np.uint8)  # values that are drawn
        for feature, value in region.restrictions.items():
            inputs[:, feature] = value
        inputs[:, relevant] = (np.arange(len(inputs))[:, None] >> np.arange(len(relevant))) & 1
        codes = self.answer(inputs)
        key = tuple(relevant), codes.tobytes()
        if key not in self._bottoms:
            self._step(self._numbers(relevant) / affordable.NODE)
            self._bottoms[key] = self._solved(*axes_of(self.space, codes, features=relevant))
        return self._bottoms[key]

    def _numbers(self, relevant: Sized) -> float:
        """One for each restriction; with their curves, each as long as it has inputs."""
        return (3.0 if self.exact else 4.0) ** len(relevant)

    def _solved(self, axes: list[Axis], grid: Codes) -> Curve:
        if self.exact:
            best = Optimum(axes, grid, watch=self._watch)
            return Curve(_only(int(best.cost)), lambda leaves: best.nested())
        found = least_errors(axes, grid, self.most, watch=self._watch)
        useful = np.flatnonzero(np.diff(found.errors) < 0)
        return Curve(found.errors[: useful[-1] + 2 if len(useful) else 1], found.build)


def _only(leaves: int) -> Floats:
    """The errors of a tree that counts only as a whole."""
    errors = np.ones(leaves)
    errors[-1] = 0.0
    return errors


def _fewer(one: Curve, split: CurveSplit) -> Curve:
    """The smaller of two trees without an error."""
    sizes = len(split.no.errors), len(split.yes.errors)
    if one.errors[-1] == 0 and len(one.errors) <= sum(sizes):
        return one
    return Curve(_only(sum(sizes)), lambda leaves: (split.test, split.no.build(sizes[0]), split.yes.build(sizes[1])))
