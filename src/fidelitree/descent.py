"""Smaller trees for a function of bits whose answers are all known, however many bits it has.

At the top a few of the most influential features are tried at each node; where no more than a handful of features
matter any longer, all trees are considered (`exact.optimum`, `exact.frontier`), once for every different function. What
comes up from there are curves of least error against leaves, added over both sides of every test. With one candidate at
each node these are all prunings of the paper's tree with optimal subtrees at its bottom: no pruning of that tree is
smaller. Wider searches follow while there is time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.frontier import Frontier
from fidelitree.exact.lattice import Axis, axes_of
from fidelitree.exact.optimum import Optimum
from fidelitree.exact.subfunction import Subfunction
from fidelitree.features import IsOne
from fidelitree.region import Region
from fidelitree.space import ProductSpace
from fidelitree.tree import Tree

Floats = NDArray[np.float64]
Answer = Callable[[NDArray[np.uint8]], NDArray[np.intp]]
"""Label codes of inputs, which cost nothing."""
WIDTHS: tuple[tuple[int, ...], ...] = ((), (2,), (2, 2), (3, 2), (3, 2, 2), (4, 3, 2), (4, 3, 2, 2), (6, 4, 3, 2))
"""Candidates at the root, below it, and so on, of one search after the other; one further down."""
FEW = (6, 9, 11)
"""Features of which all trees are considered: in a first search, in later ones, and where no error is allowed."""


STEPS = 10_000
"""Steps after the first search, where no time is given: half a minute or less, and the same tree on every machine."""
_STEP = 2_000  # restrictions that take as long to solve as one node of a search


class Enough(Exception):  # noqa: N818 - a signal between our own layers
    """The time is up, or all steps are made."""


@dataclass(frozen=True)
class Curve:
    """``errors[s - 1]`` is the least error with s leaves, as a share of the restriction; ``build`` gives the tree."""

    errors: Floats
    build: Callable[[int], Any]


@dataclass
class Descent:
    """Searches for one function; ``exact`` where no error is allowed, ``most`` leaves are of interest."""

    space: ProductSpace
    answer: Answer
    most: int
    exact: bool
    end: float | None = None
    few: int = FEW[0]
    _steps: float = 0.0
    _curves: dict[Any, Curve] = field(default_factory=dict)
    _bottoms: dict[Any, Curve] = field(default_factory=dict)

    def look_deeper(self) -> None:
        """From now on consider all trees of more features."""
        self.few = FEW[2 if self.exact else 1]
        self._steps = 0.0
        self._curves.clear()

    def curve(self, part: Subfunction, region: Region, widths: tuple[int, ...]) -> Curve:
        """The best that a search of these widths finds in a region."""
        key = frozenset(region.restrictions.items()), widths
        if key not in self._curves:
            self._curves[key] = self._look(part, region, widths)
        return self._curves[key]

    def _step(self, steps: float) -> None:
        """Count steps; a clock ends the search where there is one."""
        self._steps += steps
        late = self._steps > STEPS and self.few > FEW[0] if self.end is None else time.monotonic() > self.end
        if late:
            raise Enough

    def _look(self, part: Subfunction, region: Region, widths: tuple[int, ...]) -> Curve:
        self._step(1)
        shares = part.label_probabilities()
        label = int(shares.argmax())
        alone = Curve(np.array([1 - float(shares.max()) if (shares > 0).sum() > 1 else 0.0]), lambda leaves: label)
        influences = part.influences()
        relevant = np.flatnonzero(influences > 0)
        if not len(relevant):
            return alone
        if len(relevant) <= self.few:
            return self._bottom(region, relevant.tolist())
        order = np.argsort(-influences, kind="stable")[: widths[0] if widths else 1]
        best = alone
        for feature in order.tolist():
            test, bias = IsOne(feature), float(self.space.biases[feature])
            parts, regions = part.split(test), region.split(test)
            no, yes = (self.curve(*side, widths[1:]) for side in zip(parts, regions, strict=True))
            if self.exact:
                best = _fewer(best, (test, no, yes))
            else:
                best = _better(best, (test, no, yes), (1 - bias, bias), self.most)
        return best

    def _bottom(self, region: Region, relevant: list[int]) -> Curve:
        """All trees for a function of few features."""
        inputs = np.zeros((1 << len(relevant), len(self.space)), np.uint8)
        for feature, value in region.restrictions.items():
            inputs[:, feature] = value
        inputs[:, relevant] = (np.arange(len(inputs))[:, None] >> np.arange(len(relevant))) & 1
        codes = self.answer(inputs)
        key = tuple(relevant), codes.tobytes()
        if key not in self._bottoms:
            self._step(3.0 ** len(relevant) / _STEP)
            self._bottoms[key] = self._solved(*axes_of(self.space, codes, features=relevant))
        return self._bottoms[key]

    def _solved(self, axes: list[Axis], grid: NDArray[Any]) -> Curve:
        labels = range(int(grid.max()) + 1)
        if self.exact:
            best = Optimum(axes, grid)
            return Curve(_only(int(best.cost)), lambda leaves: _nested(best.tree(self.space, labels), 0))
        frontier = Frontier(axes, grid, self.most)
        useful = np.flatnonzero(np.diff(frontier.errors) < 0)
        errors = frontier.errors[: useful[-1] + 2 if len(useful) else 1]
        return Curve(errors, lambda leaves: _nested(frontier.tree(self.space, labels, leaves), 0))


def _only(leaves: int) -> Floats:
    """The errors of a tree that counts only as a whole."""
    errors = np.ones(leaves)
    errors[-1] = 0.0
    return errors


def _fewer(one: Curve, split: tuple[IsOne, Curve, Curve]) -> Curve:
    """The smaller of two trees without an error."""
    test, no, yes = split
    sizes = len(no.errors), len(yes.errors)
    if one.errors[-1] == 0 and len(one.errors) <= sum(sizes):
        return one
    return Curve(_only(sum(sizes)), lambda leaves: (test, no.build(sizes[0]), yes.build(sizes[1])))


def _better(one: Curve, split: tuple[IsOne, Curve, Curve], shares: tuple[float, float], most: int) -> Curve:
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


def _nested(tree: Tree, node: int) -> Any:
    if tree.feature[node] < 0:
        return int(tree.labels[tree.code[node]])
    return tree.test(node), _nested(tree, int(tree.no[node])), _nested(tree, int(tree.yes[node]))
