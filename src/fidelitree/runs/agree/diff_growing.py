"""Where two targets differ, as a small tree: found by drawing where changes were seen; nothing here is ever counted.

The tree tests features, and one thing more: what the old target answers. It is free wherever the tree is used, and a
patch that answers 0 changes only what was 1: with it four leaves are exact where sixteen are needed without. Draws go
into the boxes that a first tree flags, beyond each of their borders and to places with one condition less; then every
border of a number is bisected. An input weighs 1 / sum of (draws / mass) over all boxes that contain it, so that trees
are fitted as if all of them had been drawn from the whole space.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.runs.agree.difference import SAME, says_where
from fidelitree.runs.input_source import BoxDraws
from fidelitree.search.labelled import Binning
from fidelitree.search.local.iterated import Refiner
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import Categorical, Numeric
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.trees.nested import Nested, build, of, simplest

if TYPE_CHECKING:
    from fidelitree.runs.agree.pair import Pair
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

_INSIDE, _BEYOND, _DROPPED = 12, 24, 12  # draws in a flagged box, beyond each border, with one condition less
BOXES = 4
"""Flagged boxes that are looked at closely; more are no patch."""
_LIGHT = 0.01  # what an input weighs that was put somewhere, not drawn
_POINTS = 3  # changed inputs from which a border is looked for
_STEPS = 24  # of one bisection
_FINE = 2e-4  # mass that a border may leave open
_MOST_ROWS = 4_000  # that a tree is fitted to; changed ones are all among them
_PROPOSALS = 150


@dataclass
class Seen:
    """Inputs with both answers, and where they were drawn."""

    inner: list[NDArray[Any]] = field(default_factory=list)
    old: list[NDArray[np.intp]] = field(default_factory=list)
    new: list[NDArray[np.intp]] = field(default_factory=list)
    put: list[NDArray[np.bool_]] = field(default_factory=list)
    """Which inputs were put somewhere, not drawn."""
    whole: list[NDArray[np.bool_]] = field(default_factory=list)
    """Which inputs were drawn from the whole space."""
    boxes: list[tuple[Region, int, float]] = field(default_factory=list)
    """Each box that was drawn from: how many draws, and its mass."""

    def columns(self) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
        """All inputs, and both answers."""
        return np.concatenate(self.inner), np.concatenate(self.old), np.concatenate(self.new)

    def weights(self) -> NDArray[np.float64]:
        """What each input stands for."""
        inner = np.concatenate(self.inner)
        often = np.zeros(len(inner))
        for box, draws, mass in self.boxes:
            often += box.contains(inner) * (draws / mass)
        put = np.concatenate(self.put)
        return np.asarray(np.where(put, _LIGHT, 1.0) / np.maximum(often, 1e-300))


class ChangeExplorer:
    """Asks both targets about inputs of its own choice, and fits trees to all that is known.

    ``world`` is the one that tests are drawn from: draws in its boxes are tests of precision, too.
    """

    def __init__(self, pair: Pair, world: World, seed: int, max_leaves: int) -> None:
        self._pair, self._world, self._most, self._seed = pair, world, max_leaves, seed
        self.boxes = BoxDraws(world, Stream.named(seed, "explore"))
        self.seen = Seen()
        self._names = free_name(world.names)

    @property
    def extended(self) -> ProductSpace:
        """The features, after what the old target answers."""
        return ProductSpace([Categorical(self._names, self._pair.book.seen), *self._world.product.features])

    def extend(self, inner: NDArray[Any], old: NDArray[np.intp]) -> NDArray[np.float64]:
        """Inputs as such a tree takes them."""
        return np.column_stack([old, inner]).astype(np.float64)

    def know(
        self,
        inner: NDArray[Any],
        answers: tuple[NDArray[np.intp], NDArray[np.intp]],
        put: bool = False,
        box: Region | None = None,
    ) -> None:
        """Inputs with their answers, drawn from the whole space, from a ``box``, or ``put`` somewhere."""
        self.seen.inner.append(inner.astype(np.float64))
        self.seen.old.append(answers[0])
        self.seen.new.append(answers[1])
        self.seen.put.append(np.full(len(inner), put and box is None))
        self.seen.whole.append(np.full(len(inner), not put))
        if not put:
            self.seen.boxes.append((self._world.product.whole, len(inner), 1.0))
        elif box is not None:
            self.seen.boxes.append((box, len(inner), self.boxes.mass(box)))

    def _look(self, box: Region, rows: int) -> None:
        if self.boxes.mass(box) > 0 and len(inner := self.boxes.draw(box, rows)):
            self.know(inner, self._pair.ask(inner, "explore"), put=True, box=box)

    def explore(self, tree: Tree) -> None:
        """Inside every flagged box, beyond its borders, and with one condition less."""
        boxes = self.flagged_boxes(tree)
        if len(boxes) > BOXES:
            return
        for box in boxes:
            self._look(box, _INSIDE)
            for i in box.restrictions:
                others = {k: left for k, left in box.restrictions.items() if k != i}
                self._look(Region(box.space, others), _DROPPED)
                for beyond in _beyond(box, i):
                    self._look(Region(box.space, {**others, i: beyond}), _BEYOND)

    def sharpen(self, tree: Tree) -> None:
        """Bisect the border of every number, from changed inputs inside each flagged box."""
        boxes = self.flagged_boxes(tree)
        if len(boxes) > BOXES:
            return
        for box in boxes:
            for i, left in box.restrictions.items():
                if isinstance(left, tuple):
                    for end, inwards in ((left[0], 1), (left[1], -1)):
                        if np.isfinite(end):
                            self._bisect(box, i, end, inwards)

    def _bisect(self, box: Region, i: int, border: float, inwards: int) -> None:
        """Between a changed input and one beyond the border that is not: neighbours of both kinds are known then."""
        inner, old, new = self.seen.columns()
        known = np.flatnonzero(box.contains(inner) & (old != new) & np.isfinite(inner[:, i]))
        feature = self._world.product.features[i]
        assert isinstance(feature, Numeric), "only numbers have intervals"
        nearest = known[np.argsort(np.abs(inner[known, i] - border), kind="stable")][:_POINTS]
        for row in nearest.tolist():
            ladder = _ladder(feature, float(inner[row, i]), -inwards)
            self._search(inner[row], i, ladder, feature)

    def _search(self, row: NDArray[Any], i: int, ladder: NDArray[np.float64], feature: Numeric) -> None:
        """Gallop along values of one feature until the change ends, then halve what is left."""
        changed, step = 0, 1
        while changed + step < len(ladder) and self._changed(row, i, ladder[changed + step]):
            changed, step = changed + step, 2 * step
        ended = min(changed + step, len(ladder) - 1)
        if ended == changed or (ended == len(ladder) - 1 and self._changed(row, i, ladder[ended])):
            return  # it has no border on this side
        while ended - changed > 1:
            middle = (changed + ended) // 2
            changed, ended = (middle, ended) if self._changed(row, i, ladder[middle]) else (changed, middle)
        low, high = float(ladder[changed]), float(ladder[ended])
        for _ in range(_STEPS if feature.points is None else 0):
            if feature.mass((min(low, high), max(low, high))) < _FINE:
                return
            middle_value = (low + high) / 2
            low, high = (middle_value, high) if self._changed(row, i, middle_value) else (low, middle_value)

    def _changed(self, row: NDArray[Any], i: int, value: float) -> bool:
        inner = row[None].copy()
        inner[0, i] = value
        inner = inner.astype(self._world.product.dtype)
        answers = self._pair.ask(inner, "border")
        self.know(inner, answers, put=True)
        return bool(answers[0][0] != answers[1][0])

    def fit(self, error: float, polished: bool = False) -> Tree:
        """The smallest tree with at most this share of all changes wrong; the best one where none is as good.

        It is CART's, or a pruning of it; where it is to be ``polished``, one that a local search makes smaller.
        """
        refiner, binning, share = self._refiner()
        if polished:
            refiner.improve(error * share, _PROPOSALS)
        points = [point for point in refiner.points() if point.leaves <= self._most]
        good = [point for point in points if point.share <= error * share]
        return self._tree(binning, (good or points[-1:])[0].tree)

    def fit_sizes(self, sizes: Sequence[int], proposals: int) -> list[Tree]:
        """One tree of each size, where no small one explains the changes: from whole-space draws alone."""
        refiner, binning, _ = self._refiner(drawn=True)
        for size in sizes:
            refiner.improve_at(size, proposals)
        trees = [self._tree(binning, refiner.with_leaves(size).tree) for size in sizes]
        return list({tree.digest: tree for tree in trees if says_where(tree)}.values())

    def _refiner(self, drawn: bool = False) -> tuple[Refiner, Binning, float]:
        """A search over what is known, or over ``drawn`` inputs, which weigh the same and are searched faster."""
        inner, old, new = self.seen.columns()
        weights, changed = self.seen.weights(), old != new
        some = np.flatnonzero(np.concatenate(self.seen.whole)) if drawn else _some(changed, self._seed)
        binning = Binning.of(self.extended, self.extend(inner[some], old[some]))
        scaled = np.ones(len(some)) if drawn else weights[some] / weights[some].mean()
        coded = binning.coded(changed[some].astype(np.intp), weights=scaled)
        share = float(scaled[changed[some]].sum() / scaled.sum())
        return Refiner(coded, None, self._seed), binning, share

    def _tree(self, binning: Binning, nested: Nested) -> Tree:
        """The tree with what changes in each flagged leaf: from what, to what."""
        inner, old, new = self.seen.columns()
        plain = binning.tree(simplest(nested), [0, 1], [0, 1])
        rows = self.extend(inner, old)
        leaves, weights = plain.reached_inner(rows), self.seen.weights()
        texts: dict[int, str] = {}
        for leaf in np.flatnonzero(plain.feature < 0).tolist():
            inside = (leaves == leaf) & (old != new)
            flagged = plain.label(leaf) == 1
            texts[leaf] = (
                from_what_to_what(old[inside], new[inside], weights[inside], self._pair.book.seen) if flagged else SAME
            )
        labels = sorted({SAME, *texts.values()})
        return build(self.extended, simplest(of(plain, lambda leaf: labels.index(texts[leaf]))), labels)

    def flagged_boxes(self, tree: Tree) -> list[Region]:
        """The feature boxes of flagged leaves, whatever the old target answers there; each once."""
        return [box for _, box in self.flagged_leaves(tree)]

    def flagged_leaves(self, tree: Tree) -> list[tuple[int, Region]]:
        """Each flagged leaf with the box of features that leads there."""
        found = []
        for node, region in tree.regions(self.extended):
            if tree.feature[node] < 0 and tree.label(node) != SAME:
                left = {i - 1: part for i, part in region.restrictions.items() if i}
                found.append((node, Region(self._world.product, left)))
        return found


def free_name(names: Sequence[str]) -> str:
    """What the old answer is called as a feature."""
    name = "old answer"
    while name in names:
        name += "_"
    return name


def _beyond(box: Region, i: int) -> Iterator[Any]:
    """What is left of a feature beyond the box."""
    left, feature = box.restrictions[i], box.space.features[i]
    if isinstance(left, tuple):
        if np.isfinite(left[0]):
            yield -np.inf, left[0]
        if np.isfinite(left[1]):
            yield left[1], np.inf
    elif isinstance(left, frozenset):
        yield frozenset(range(len(feature.values or ()))) - left
    else:
        yield 1 - left


def _ladder(feature: Numeric, start: float, direction: int) -> NDArray[np.float64]:
    """Values from one on in a direction: those that were observed, or some that share the mass evenly."""
    if feature.points is not None:
        values = feature.listed(None)[0]
        values = values[np.isfinite(values)]
    else:
        edges = feature.marginal.edges  # type: ignore[union-attr]
        values = np.unique(np.concatenate([np.linspace(a, b, 17) for a, b in itertools.pairwise(edges)]))
    ahead = values[values > start] if direction > 0 else values[values < start][::-1]
    return np.concatenate([[start], ahead])


def _some(changed: NDArray[np.bool_], seed: int) -> NDArray[np.intp]:
    """Places of the rows that a tree is fitted to: all changed ones, and as many of the others as there is room."""
    others = np.flatnonzero(~changed)
    if len(others) > _MOST_ROWS:
        order = np.argsort(Stream.named(seed, "some").lane(0, 0).random_raw(len(others)), kind="stable")
        others = others[order[:_MOST_ROWS]]
    return np.sort(np.concatenate([np.flatnonzero(changed), others]))


def from_what_to_what(
    old: NDArray[np.intp], new: NDArray[np.intp], weights: NDArray[np.float64], labels: Sequence[Any]
) -> str:
    """From what to what: the changes that make up nine in ten, the most frequent first."""
    shares: dict[tuple[int, int], float] = {}
    for pair, weight in zip(zip(old.tolist(), new.tolist(), strict=True), weights.tolist(), strict=True):
        shares[pair] = shares.get(pair, 0.0) + weight
    total, told, named = sum(shares.values()), 0.0, list[str]()
    for (before, after), weight in sorted(shares.items(), key=lambda one: (-one[1], one[0])):
        named.append(f"{labels[before]} -> {labels[after]}")
        told += weight
        if told >= 0.9 * total or len(named) == 3:
            break
    return " or ".join(named) or "changed"
