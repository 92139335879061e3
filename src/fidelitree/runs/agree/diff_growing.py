"""Where two targets differ, as a small tree: found by drawing where changes were seen; nothing here is ever counted.

The tree tests features, and one thing more: what the old target answers. It is free wherever the tree is used, and a
patch that answers 0 changes only what was 1: with it four leaves are exact where sixteen are needed without. Every
border of a number in the boxes that a first tree flags is bisected, and then once more for a second tree: draws beyond
the borders, to places with one condition less, cost more labels than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import go_on
from fidelitree.runs.agree.difference import SAME, says_where
from fidelitree.runs.input_source import BoxDraws
from fidelitree.search.archive import Archive, LabelLoss
from fidelitree.search.labelled import Binning
from fidelitree.search.local.iterated import Refiner
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import Categorical, Numeric
from fidelitree.spaces.features.marginals import Pieces
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.targets.labels import LabelBook
from fidelitree.trees.nested import build, of, simplest

if TYPE_CHECKING:
    from fidelitree.runs.agree.pair import Pair
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

CLOSE = 0.02
"""Of all changes: a tree that is wrong about so few is good enough to be tested."""
FEW = 5
"""Changes before a first tree is grown, trees one after the other, and flagged boxes that are a patch."""
Answers = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Codes of the old and of the new answers."""


class Seen:
    """Inputs with both answers."""

    def __init__(self) -> None:
        self._parts: list[tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]] = []

    def add(self, inner: NDArray[Any], answers: Answers) -> None:
        """Add some more."""
        self._parts.append((inner.astype(np.float64), *answers))

    def columns(self) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[np.intp]]:
        """All inputs, and both answers."""
        inner, old, new = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return inner, old, new


class ChangeExplorer:
    """Asks both targets about inputs of its own choice, and fits trees to all that is known.

    ``world`` is the one that tests are drawn from: draws in its boxes are tests of precision, too.
    """

    def __init__(self, pair: Pair, world: World, max_leaves: int) -> None:
        self._pair, self._world, self._most = pair, world, max_leaves
        self.boxes = BoxDraws(world, Stream.named(pair.seed, "explore"))
        self.seen, self.drawn = Seen(), Seen()
        """All that is known; and what was drawn from the whole space."""
        self._names = free_name(world.names)

    @property
    def extended(self) -> ProductSpace:
        """The features, after what the old target answers."""
        return ProductSpace([Categorical(self._names, self._pair.book.seen), *self._world.product.features])

    def extend(self, inner: NDArray[Any], old: NDArray[np.intp]) -> NDArray[np.float64]:
        """Inputs as such a tree takes them."""
        return np.column_stack([old, inner]).astype(np.float64)

    def know(self, inner: NDArray[Any], answers: Answers) -> None:
        """Inputs of the whole space with their answers."""
        for seen in (self.seen, self.drawn):
            seen.add(inner, answers)

    def sharpened(self) -> bool:
        """Bisect the border of every number in what a tree flags, from the changed input inside that is nearest to it.

        Not where it flags more boxes than a patch has, which is told.
        """
        flagged = self.flagged_leaves(self.fit())
        if len(flagged) > FEW:
            return False
        for _, box in flagged:
            for i, left in box.restrictions.items():
                if isinstance(left, tuple):
                    for end, inwards in ((left[0], 1), (left[1], -1)):
                        if np.isfinite(end):
                            self._bisect(box, i, end, inwards)
        return True

    def _bisect(self, box: Region, i: int, border: float, inwards: int) -> None:
        """Between a changed input and one beyond the border that is not: neighbours of both kinds are known then."""
        inner, old, new = self.seen.columns()
        known = np.flatnonzero(box.contains(inner) & (old != new) & np.isfinite(inner[:, i]))
        feature = self._world.product.features[i]
        assert isinstance(feature, Numeric), "only numbers have intervals"
        if len(known):
            row = inner[known[np.argmin(np.abs(inner[known, i] - border))]]
            self._search(row, i, _ladder(feature, float(row[i]), -inwards))

    def _search(self, row: NDArray[Any], i: int, ladder: NDArray[np.float64]) -> None:
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

    def _changed(self, row: NDArray[Any], i: int, value: float) -> bool:
        inner = row[None].copy()
        inner[0, i] = value
        inner = inner.astype(self._world.product.dtype)
        answers = self._pair.ask(inner, "border")
        self.seen.add(inner, answers)
        return bool(answers[0][0] != answers[1][0])

    def fit(self, steps: int = 0) -> Tree:
        """The smallest tree that is wrong about few changes; the best one where none is.

        It is CART's, or a pruning of it; with some ``steps``, one that a local search makes smaller.
        """
        inner, old, new = self.seen.columns()
        changed = old != new
        binning = Binning.of(self.extended, self.extend(inner, old))
        error = CLOSE * float(changed.mean())
        refiner = Refiner(binning.coded(changed.astype(np.intp)), self._pair.seed)
        refiner.improve(error, steps)
        points = [point for point in refiner.points() if point.leaves <= self._most]
        good = [point for point in points if point.share <= error]
        return self._in_words(binning.tree(simplest((good or points[-1:])[0].tree), [0, 1], [0, 1]))

    def fit_sizes(self, sizes: Sequence[int], steps: int) -> list[Tree]:
        """A tree of each size, where no small one explains the changes: from draws of the whole space alone."""
        inner, old, new = self.drawn.columns()
        book = LabelBook()
        archive = Archive(self.extended, book, LabelLoss(self._pair.seed, go_on))
        archive.add(self.extend(inner, old), np.asarray(book.encode(old != new), np.intp))
        archive.fit(sizes, steps)
        trees = [self._in_words(archive.at(size)) for size in sizes]
        return list({tree.digest: tree for tree in trees if says_where(tree)}.values())

    def _in_words(self, plain: Tree) -> Tree:
        """A tree of 0 and 1 with what changes in each leaf that says 1: from what, to what."""
        inner, old, new = self.seen.columns()
        leaves = plain.reached_inner(self.extend(inner, old))
        texts: dict[int, str] = {}
        for leaf in np.flatnonzero(plain.feature < 0).tolist():
            inside = (leaves == leaf) & (old != new)
            each, flagged = np.ones(int(inside.sum())), plain.label(leaf) == 1
            texts[leaf] = from_what_to_what(old[inside], new[inside], each, self._pair.book.seen) if flagged else SAME
        labels = sorted({SAME, *texts.values()})
        return build(self.extended, simplest(of(plain, lambda leaf: labels.index(texts[leaf]))), labels)

    def inside(self, tree: Tree, rows: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Draws in the boxes of flagged leaves, each as often as its mass asks, and the leaf that each is drawn for.

        An input counts where it reaches that very leaf: then it is drawn as the whole space would draw it there.
        """
        leaves = self.flagged_leaves(tree)
        inner, places = self.boxes.among([box for _, box in leaves], rows)
        return inner, np.array([node for node, _ in leaves], np.intp)[places]

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


def _ladder(feature: Numeric, start: float, direction: int) -> NDArray[np.float64]:
    """Values from one on in a direction: those that were observed, or some that share the mass evenly.

    These are as many as tell both ends of a patch apart: it has CLOSE of a feature, and is known to CLOSE of that.
    """
    if isinstance(feature.marginal, Pieces):
        edges, shares = feature.marginal.edges, feature.marginal.shares
        values = np.unique(np.interp(np.linspace(0, 1, round(1 / CLOSE**2)), np.append(0, np.cumsum(shares)), edges))
    else:
        values = feature.listed(None)[0]
        values = values[np.isfinite(values)]
    ahead = values[values > start] if direction > 0 else values[values < start][::-1]
    return np.concatenate([[start], ahead])


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
