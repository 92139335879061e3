"""A strong model for labelled rows: boosted trees, which label as many inputs as a search for one tree likes to have.

Friedman, "Greedy function approximation: a gradient boosting machine", 2001. The loss is the squared hinge, one class
against the rest: it needs no logarithm and no exponential, whose last bits differ between machines, so that the same
rows give the same model everywhere. All nodes of a level are split at once, from one count of slopes by node and bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on

if TYPE_CHECKING:
    from fidelitree.search.local.coded import Coded

Floats = NDArray[np.float64]
Small = NDArray[np.uint8]
_BINS = 64
_DEPTH, _ROUNDS, _RATE = 5, 300, 0.12
_SHRINK = 1.0  # rows' worth of zero slope that every node is given
_LEAST = 5.0  # rows that still care, on either side of a split
_PART = 0.5  # of the rows teach a tree
_FINE = 1 << 24  # what leaves add, in whole numbers


@dataclass(frozen=True)
class _Bins:
    """Bins of a search put into at most 64 groups a feature; categories in the order of their share of one label."""

    groups: tuple[Small, ...]

    @classmethod
    def of(cls, coded: Coded) -> _Bins:
        usual = np.bincount(coded.codes, coded.weights).argmax()
        groups = []
        for feature, size in enumerate(coded.sizes):
            line = coded.bins[feature]
            mass = np.bincount(line, coded.weights, minlength=size)
            order = np.arange(size)
            if not coded.ordered[feature]:
                hits = np.bincount(line, coded.weights * (coded.codes == usual), minlength=size)
                order = np.argsort(hits / np.maximum(mass, 1e-9), kind="stable")
            below = np.concatenate([[0.0], np.cumsum(mass[order])[:-1]])
            place = np.empty(size, np.uint8)
            place[order] = np.unique((below * (_BINS / coded.total)).astype(np.intp), return_inverse=True)[1]
            groups.append(place)
        return cls(tuple(groups))

    def lines(self, coded: Coded) -> Small:
        return np.stack([groups[line] for groups, line in zip(self.groups, coded.bins, strict=True)])


@dataclass(frozen=True)
class _Tree:
    """A complete tree: features and cuts of its inner nodes level by level, and what its leaves add."""

    features: NDArray[np.intp]
    cuts: NDArray[np.intp]
    values: Floats

    def __call__(self, lines: Small) -> Floats:
        rows = np.arange(lines.shape[1])
        node = np.zeros(len(rows), np.intp)
        for _ in range(_DEPTH):
            node = 2 * node + 1 + (lines[self.features[node], rows] > self.cuts[node])
        return self.values[node - len(self.features)]


class Boosted:
    """Boosted trees for coded rows; ``predict`` takes rows of the same bins."""

    def __init__(self, coded: Coded, seed: int, watch: Watch = go_on) -> None:
        self._bins = _Bins.of(coded)
        lines = self._bins.lines(coded)
        self._random, self._watch = np.random.default_rng(seed), watch
        self._groups = int(lines.max()) + 1
        self._width = len(lines) * self._groups
        self._keys = (lines.T + np.arange(len(lines)) * self._groups).astype(np.int32)
        classes = coded.classes if coded.classes > 2 else 1
        self._trees: list[list[_Tree]] = []
        sides = [np.where(coded.codes == (code if classes > 1 else 1), 1.0, -1.0) for code in range(classes)]
        scores = np.zeros((classes, len(coded.codes)))
        for _ in range(_ROUNDS):
            trees = []
            for code, side in enumerate(sides):
                trees.append(self._tree(lines, side * np.maximum(0.0, 1 - side * scores[code])))
                scores[code] += trees[-1](lines)
            self._trees.append(trees)

    def predict(self, coded: Coded) -> NDArray[np.intp]:
        """Label codes."""
        lines = self._bins.lines(coded)
        scores = np.zeros((len(self._trees[0]), lines.shape[1]))
        for trees in self._trees:
            for code, tree in enumerate(trees):
                scores[code] += tree(lines)
        return np.asarray(scores.argmax(axis=0) if len(scores) > 1 else scores[0] > 0, np.intp)

    def _tree(self, lines: Small, slopes: Floats) -> _Tree:
        """A tree for the slopes of the loss; rows without one are settled, and do not care."""
        self._watch()
        cares = np.flatnonzero(slopes)
        some = cares[self._random.random(len(cares)) < _PART]
        slopes, keys = slopes[some], self._keys[some]
        inner = (1 << _DEPTH) - 1
        features, cuts = np.zeros(inner, np.intp), np.full(inner, _BINS)
        node = np.zeros(len(some), np.intp)
        for level in range(_DEPTH):
            first, nodes = (1 << level) - 1, 1 << level
            where = (keys + ((node - first) * self._width)[:, None].astype(np.int32)).ravel()
            shape = nodes, len(lines), self._groups
            mass = np.bincount(where, minlength=nodes * self._width).reshape(shape).cumsum(axis=2)
            total = np.bincount(where, np.repeat(slopes, len(lines)), nodes * self._width).reshape(shape).cumsum(axis=2)
            gain = _gain(mass.astype(np.float64), total).reshape(nodes, -1)
            best = gain.argmax(axis=1)
            here = slice(first, first + nodes)
            features[here], cuts[here] = np.divmod(best, self._groups)
            cuts[here][gain[np.arange(nodes), best] <= 0] = _BINS
            node = 2 * node + 1 + (lines[features[node], some] > cuts[node])
        leaf = node - inner
        sums = np.bincount(leaf, slopes, inner + 1)
        return _Tree(features, cuts, _RATE * sums / (np.bincount(leaf, minlength=inner + 1) + _SHRINK))


def _gain(mass: Floats, total: Floats) -> Floats:
    """What dividing a node after each bin gains in squared loss; 0 where too few rows are on one side."""
    rows, slopes = mass[:, :, -1:], total[:, :, -1:]
    other, rest = rows - mass, slopes - total
    gain = total**2 / (mass + _SHRINK) + rest**2 / (other + _SHRINK) - slopes**2 / (rows + _SHRINK)
    return np.where((mass >= _LEAST) & (other >= _LEAST), gain, 0.0)
