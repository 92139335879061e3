"""A tree that stands in for the target, so that only what it misses has to be estimated.

Influences of a tree are known exactly (`exact.paths`). If a tree answers nearly as the target does, the average of the
difference between the two varies far less than the target's own average: a control variate. The tree is grown from the
stars themselves by the paper's rule, the leaf and feature with the largest score first, and judged on stars that it has
not seen: the stars are dealt into groups, and each group's tree is grown from all the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Budget
from fidelitree.exact.paths import PathSubfunction
from fidelitree.runs.analysis.stars import Star, Stars
from fidelitree.runs.size_grid import LARGEST
from fidelitree.search.grow import Evidence, grow
from fidelitree.trees.growing import GrowingLeaf, GrowingTree

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream
    from fidelitree.targets.labels import Codes
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]

GROUPS = 8
"""Of stars, each of which is judged by a tree that was grown from all others."""


class Corrected(NamedTuple):
    """For every feature the share of inputs whose label changes with it, and the share of every label code."""

    changed: Floats
    labels: Floats


def corrected(stars: Stars) -> Corrected:
    """Better estimates than the plain shares of the stars that are held.

    The difference counts fully where the trees explain the target, and not at all where they do not: its factor is the
    one that makes the average vary least, the same for all features.
    """
    star = Star(*(np.concatenate(part, axis=-1) for part in zip(*stars.held, strict=True)))
    labels, weights = 1 + max(int(star.before.max()), int(star.after.max())), stars.weights[list(stars.changes)]
    changed, named = star.after != star.before, np.arange(labels)[:, None] == star.before
    by_change, by_label = np.zeros(changed.shape), np.zeros(named.shape)
    groups = _deal(stars.rows, stars.stream)
    for group in range(GROUPS if stars.rows > GROUPS else 0):
        unseen = groups == group
        tree = _grow(_some(star, ~unseen), stars, labels)
        by_change[:, unseen], by_label[:, unseen] = _deviations(tree, star.inputs[:, unseen], stars, labels)
    flips = np.zeros(len(stars.weights))
    flips[list(stars.changes)] = _less(changed, by_change, weights)
    shares = np.maximum(_less(named, by_label, np.ones(labels)), 0)
    return Corrected(flips, shares / shares.sum())


def _deal(rows: int, stream: Stream) -> NDArray[np.intp]:
    """A group for each row: every run of rows goes to all groups, because neighbours may be similar on purpose."""
    keys = stream.child("groups").lane(0, 0).random_raw(-(-rows // GROUPS) * GROUPS)
    return np.argsort(keys.reshape(-1, GROUPS), axis=1).ravel()[:rows]


def _less(seen: NDArray[np.bool_], explained: Floats, weights: Floats) -> Floats:
    """Row averages, less what the deviations of control variates explain of them."""
    return np.asarray(seen.mean(axis=1) - _factor(seen, explained, weights) * explained.mean(axis=1))


def _factor(seen: NDArray[np.bool_], explained: Floats, weights: Floats) -> float:
    """The factor from 0 to 1 with which the deviations explain most of how the rows vary, by least squares."""
    apart = explained - explained.mean(axis=1, keepdims=True)
    pull = apart * weights[:, None] ** 2
    spread = float((pull * apart).sum())
    return min(max(float((pull * seen).sum()) / spread, 0.0), 1.0) if spread > 0 else 0.0


def _deviations(tree: Tree, inputs: NDArray[np.uint8], stars: Stars, labels: int) -> tuple[Floats, Floats]:
    """What a tree says about each star, less what it says on average: changes of its label, and its label."""
    exact, scale = PathSubfunction(tree, stars.region), stars.weights[list(stars.changes)]
    with np.errstate(divide="ignore", invalid="ignore"):
        flips = np.where(scale > 0, exact.influences()[list(stars.changes)] / scale, 0.0)
    before, after = _answers(tree, inputs, stars.changes)
    changed = np.where(scale[:, None] > 0, (after != before) - flips[:, None], 0.0)
    shares = np.zeros(labels)
    shares[tree.labels] = exact.label_probabilities()
    return changed, (np.arange(labels)[:, None] == before) - shares[:, None]


def _answers(tree: Tree, inputs: NDArray[np.uint8], changes: Sequence[int]) -> tuple[Codes, Codes]:
    """A tree's labels of inputs and of the same with each bit flipped; a bit that it does not test changes nothing."""
    before, tested = tree.predict_inner(inputs.T), set(tree.feature.tolist())
    after = np.repeat(before[None, :], len(changes), axis=0)
    for place, i in enumerate(changes):
        if i in tested:
            flipped = inputs.copy()
            flipped[i] ^= 1
            after[place] = tree.predict_inner(flipped.T)
    return before, after


def _some(star: Star, rows: NDArray[np.bool_]) -> Star:
    return Star(star.inputs[:, rows], star.before[rows], star.after[:, rows])


def _grow(star: Star, stars: Stars, labels: int) -> Tree:
    """The paper's loop on the stars alone, as long as any label was seen to change.

    A leaf gets the label seen most often in it, also by flips that come from other leaves.
    """
    bare, probe = GrowingTree(stars.region.space), _StarProbe(star, stars)
    grow(bare, probe, probe, Budget(max_leaves=LARGEST))
    places = {number: place for place, number in enumerate(bare.leaves)}
    before, after = _answers(bare.complete(places, range(bare.size)), star.inputs, stars.changes)
    reached = np.concatenate([before, after.ravel()]) * labels + np.concatenate([star.before, star.after.ravel()])
    best = np.bincount(reached, minlength=bare.size * labels).reshape(-1, labels).argmax(axis=1)
    return bare.complete({number: int(best[place]) for number, place in places.items()}, range(labels))


class _StarProbe:
    """Knows which stars reach a leaf; judges nothing."""

    def __init__(self, star: Star, stars: Stars) -> None:
        self._star, self._weights, self._changes = star, stars.weights, list(stars.changes)
        self._changed = star.after != star.before
        self._rows: dict[int, NDArray[np.intp]] = {}

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Only new leaves have new evidence."""
        if made[0].parent is None:
            self._rows[made[0].number] = np.arange(len(self._star.before))
        else:
            rows = self._rows.pop(made[0].parent)
            yes = bare.test(made[0].parent).answers(self._star.inputs[bare.test(made[0].parent).feature, rows])
            self._rows.update(zip((leaf.number for leaf in made), (rows[~yes], rows[yes]), strict=True))
        return {leaf.number: Evidence(self._scores(leaf)) for leaf in made}

    def _scores(self, leaf: GrowingLeaf) -> Floats:
        scores = np.zeros(len(self._weights))
        scores[self._changes] = np.count_nonzero(self._changed[:, self._rows[leaf.number]], axis=1)
        scores[list(leaf.region.restrictions)] = 0
        return scores * self._weights

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        """Nothing is judged."""

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        """The number of leaves ends growth, or that no label changes any more."""
        return False
