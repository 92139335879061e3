"""Smaller trees for a function of bits whose answers are all known, however many bits it has.

At the top one feature is tested at each node, the most influential one; where no more than a handful of features
matter any longer, all trees are considered (`exact.optimum`, `exact.frontier`), once for every different function. What
comes up from there are curves of least error against leaves, added over both sides of every test. These are all
prunings of the paper's tree with optimal subtrees at its bottom: no pruning of that tree is smaller.

While there is time, better ways to choose a test follow: at each node several candidates are tried with the last way
below them, and the best of them then with the new way. No curve is higher than by the last way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Budget
from fidelitree.exact.diagram import DiagramSubfunction
from fidelitree.exact.frontier import Frontier
from fidelitree.exact.lattice import Axis, axes_of
from fidelitree.exact.optimum import Optimum
from fidelitree.exact.subfunction import Subfunction
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.trees.nested import of

Floats = NDArray[np.float64]
Answer = Callable[[NDArray[np.uint8]], NDArray[np.intp]]
"""Label codes of inputs, which cost nothing."""
FEW = (6, 9, 11)
"""Features of which all trees are considered: in a first search, in later ones, and where no error is allowed."""
STEPS = 10_000
"""Steps after the first search, where no time is given: half a minute or less, and the same tree on every machine."""
_ROUNDING = 1e-12
_STEP = (2_000, 250)  # restrictions that take as long as one node of a search: their optimum, their frontier


class Enough(Exception):  # noqa: N818 - a signal between our own layers
    """The time is up, or all steps are made."""


class Way(NamedTuple):
    """A way to choose tests: among so many candidates, each tried with a way that is one rank lower below it."""

    rank: int
    candidates: int

    def below(self) -> Way:
        """The way that candidates are tried with."""
        return Way(self.rank - 1, self.candidates) if self.rank > 1 else GREEDY


GREEDY = Way(0, 1)
WAYS = (GREEDY, *(Way(1, k) for k in (2, 3, 4, 6, 12)), Way(2, 4), Way(2, 6), Way(3, 6))
"""Of one search after the other."""


@dataclass(frozen=True)
class Curve:
    """``errors[s - 1]`` is the least error with s leaves, as a share of the restriction; ``build`` gives the tree."""

    errors: Floats
    build: Callable[[int], Any]

    def first_within(self, error: float) -> int | None:
        """The fewest leaves with at most an error, if that is reached."""
        good = np.flatnonzero(self.errors <= error + _ROUNDING)
        return int(good[0]) + 1 if len(good) else None


_Split = tuple[IsOne, Curve, Curve]


@dataclass
class Descent:
    """Searches for one function; ``exact`` where no error is allowed, ``most`` leaves are of interest."""

    space: ProductSpace
    answer: Answer
    most: int
    exact: bool
    budget: Budget = field(default_factory=Budget)
    few: int = FEW[0]
    over: Callable[[], bool] | None = None
    """Says whether the time is over, where the budget is not asked itself."""
    _steps: float = 0.0
    _curves: dict[Any, Curve] = field(default_factory=dict)
    _bottoms: dict[Any, Curve] = field(default_factory=dict)

    def curves(self, root: Subfunction, error: float = 0.0) -> Iterator[Curve]:
        """What each search finds until `Enough`; the first takes no account of steps.

        Later ones look at trees that are no larger than the first with at most this ``error``.
        """
        whole = Region.whole(self.space)
        first = self.curve(root, whole, GREEDY)
        yield first
        self.most = min(self.most, first.first_within(error) or self.most)
        self.few, self._steps = FEW[2 if self.exact else 1], 0.0
        self._curves.clear()
        self._bottoms.clear()
        for way in WAYS:
            yield self.curve(root, whole, way)

    def curve(self, part: Subfunction, region: Region, way: Way) -> Curve:
        """The best that a way finds in a region; what is known about a function is known wherever it is left."""
        same = part.root if isinstance(part, DiagramSubfunction) else frozenset(region.restrictions.items())
        key = same, way
        if key not in self._curves:
            self._curves[key] = self._look(part, region, way)
        return self._curves[key]

    def _step(self, steps: float) -> None:
        """Count steps; a clock ends the search where there is one."""
        self._steps += steps
        self._watch()
        if self.budget.max_seconds is None and self.few > FEW[0] and self._steps > STEPS:
            raise Enough

    def _watch(self) -> None:
        if self.budget.gone > 1 if self.over is None else self.over():
            raise Enough

    def _look(self, part: Subfunction, region: Region, way: Way) -> Curve:
        self._step(1)
        shares = part.label_probabilities()
        label = int(shares.argmax())
        best = Curve(np.array([1 - float(shares.max()) if (shares > 0).sum() > 1 else 0.0]), lambda leaves: label)
        influences = part.influences()
        relevant = np.flatnonzero(influences > 0)
        if not len(relevant):
            return best
        if len(relevant) <= self.few:
            return self._bottom(region, relevant.tolist())
        order = np.argsort(-influences, kind="stable")[: min(way.candidates, len(relevant))].tolist()
        if way.rank:
            tried = [self._split(part, region, feature, way.below()) for feature in order]
            best = self._best_of(best, tried)
            order = [order[min(range(len(order)), key=lambda place: self._measure(tried[place]))]]
        return self._best_of(best, [self._split(part, region, order[0], way)])

    def _split(self, part: Subfunction, region: Region, feature: int, way: Way) -> _Split:
        """A test with what a way finds on both of its sides."""
        test = IsOne(feature)
        sides = zip(part.split(test), region.split(test), strict=True)
        no, yes = (self.curve(*side, way) for side in sides)
        return test, no, yes

    def _best_of(self, best: Curve, splits: list[_Split]) -> Curve:
        for split in splits:
            best = _fewer(best, split) if self.exact else _better(best, split, self._shares(split[0]), self.most)
        return best

    def _shares(self, test: IsOne) -> tuple[float, float]:
        bias = float(self.space.biases[test.feature])
        return 1 - bias, bias

    def _measure(self, split: _Split) -> float:
        """How good a split is: leaves, or the errors of all numbers of leaves together."""
        test, no, yes = split
        if self.exact:
            return len(no.errors) + len(yes.errors)
        alone = Curve(np.ones(1), lambda leaves: 0)
        errors = _better(alone, split, self._shares(test), self.most).errors
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
            self._step(3.0 ** len(relevant) / _STEP[0 if self.exact else 1])
            self._bottoms[key] = self._solved(*axes_of(self.space, codes, features=relevant))
        return self._bottoms[key]

    def _solved(self, axes: list[Axis], grid: NDArray[Any]) -> Curve:
        labels = range(int(grid.max()) + 1)
        if self.exact:
            best = Optimum(axes, grid, watch=self._watch)
            return Curve(_only(int(best.cost)), lambda leaves: of(best.tree(self.space, labels)))
        frontier = Frontier(axes, grid, self.most, watch=self._watch)
        useful = np.flatnonzero(np.diff(frontier.errors) < 0)
        errors = frontier.errors[: useful[-1] + 2 if len(useful) else 1]
        return Curve(errors, lambda leaves: of(frontier.tree(self.space, labels, leaves)))


def _only(leaves: int) -> Floats:
    """The errors of a tree that counts only as a whole."""
    errors = np.ones(leaves)
    errors[-1] = 0.0
    return errors


def _fewer(one: Curve, split: _Split) -> Curve:
    """The smaller of two trees without an error."""
    test, no, yes = split
    sizes = len(no.errors), len(yes.errors)
    if one.errors[-1] == 0 and len(one.errors) <= sum(sizes):
        return one
    return Curve(_only(sum(sizes)), lambda leaves: (test, no.build(sizes[0]), yes.build(sizes[1])))


def _better(one: Curve, split: _Split, shares: tuple[float, float], most: int) -> Curve:
    """The lower of a curve and that of a split, for every number of leaves up to ``most``."""
    test, no, yes = split
    left, right = shares[0] * no.errors, shares[1] * yes.errors
    width = min(most, max(len(one.errors), len(left) + len(right)))
    errors = np.pad(one.errors[:width], (0, max(0, width - len(one.errors))), mode="edge")
    choice = np.zeros(width, np.intp)  # leaves of the no side; 0 where the split is not taken
    for k in range(min(len(left), width - 1)):
        sums = left[k] + right[: width - k - 1]
        part = slice(k + 1, k + 1 + len(sums))
        lower = sums < errors[part] - 1e-15
        errors[part] = np.where(lower, sums, errors[part])
        choice[part] = np.where(lower, k + 1, choice[part])

    def build(leaves: int) -> Any:
        place = min(leaves, width) - 1
        # More leaves than the best number of them are never needed.
        place = int(np.argmin(errors[: place + 1]))
        if not choice[place]:
            return one.build(place + 1)
        return test, no.build(int(choice[place])), yes.build(place + 1 - int(choice[place]))

    return Curve(np.minimum.accumulate(errors), build)
