"""Between inputs of any features and rows of small integers, which the search for small trees works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.local.coded import Coded, Sketch, bins_of, cut_of, cuts_of
from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Node, Tree

Codes = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Binning:
    """Bins of every feature: a category is its own bin, numbers are told apart by cuts midway between known values."""

    space: ProductSpace
    cuts: tuple[Floats | None, ...]

    @classmethod
    def of(cls, space: ProductSpace, inner: NDArray[Any]) -> Binning:
        """Cuts between the values of some inputs, rows by features."""
        cuts: list[Floats | None] = []
        for i, feature in enumerate(space):
            if feature.kind == "numeric":
                found = cuts_of(inner[:, i])
                # Midway between known values is where a reader expects a cut, but for what rounding adds to it.
                digits = range(-3, 16) if feature.points is None else range(9, 10)
                cuts.append(short_cuts(found, inner[:, i], digits))
            else:
                cuts.append(np.array([0.5]) if feature.kind == "boolean" else None)
        return cls(space, tuple(cuts))

    def coded(self, inner: NDArray[Any], codes: Codes, weights: Floats | None = None) -> Coded:
        """Labelled inputs as rows of bins; without weights every row counts 1."""
        # Numbers have at most 2^16 bins; categories may have more values.
        many = any(len(feature.values or ()) > 1 << 16 for feature in self.space)
        bins = np.empty((len(self.space), len(inner)), np.uint32 if many else np.uint16)
        for i, cuts in enumerate(self.cuts):
            bins[i] = inner[:, i] if cuts is None else bins_of(inner[:, i], cuts)
        sizes = [
            len(feature.values or ()) if cuts is None else len(cuts) + 1
            for feature, cuts in zip(self.space, self.cuts, strict=True)
        ]
        ordered = [cuts is not None for cuts in self.cuts]
        return Coded(bins, ordered, sizes, codes, np.ones(len(codes)) if weights is None else weights)

    def tree(self, sketch: Sketch, ranks: Sequence[int], labels: Sequence[Any]) -> Tree:
        """A tree of bins as a tree of tests; ``ranks`` are the places of label codes among ``labels``."""
        nodes: list[Node] = []
        self._append(nodes, sketch, ranks)
        return Tree.build(self.space, nodes, labels)

    def _append(self, nodes: list[Node], sketch: Sketch, ranks: Sequence[int]) -> int:
        place = len(nodes)
        nodes.append(0)
        if isinstance(sketch, tuple):
            feature, asked, no, yes = sketch
            test = self._test(feature, asked)
            if isinstance(test, IsOne):  # "at most 0" is no
                no, yes = yes, no
            below = self._append(nodes, no, ranks)
            nodes[place] = (test, below, self._append(nodes, yes, ranks))
        else:
            nodes[place] = ranks[sketch]
        return place

    def _test(self, feature: int, asked: int | frozenset[int]) -> Test:
        cuts = self.cuts[feature]
        if isinstance(asked, frozenset):
            return IsIn(feature, asked)
        assert cuts is not None, "categories have no order"
        bit = self.space.features[feature].kind == "boolean"
        return IsOne(feature) if bit else AtMost(feature, cut_of(asked, cuts))


def short_cuts(cuts: Floats, values: Floats, decimals: Iterable[int] = range(-3, 16)) -> Floats:
    """Cuts that part the same values with as few decimals as possible: 39.9 reads better than 39.94155354473887."""
    known = np.unique(values)
    place = np.searchsorted(known, cuts, side="right")
    low, high = known[place - 1], known[place]
    short, found = cuts.copy(), np.zeros(len(cuts), np.bool_)
    for digits in decimals:
        with np.errstate(over="ignore"):  # what becomes infinite does not fit
            rounded = np.round(cuts, digits)
        fits = ~found & (low <= rounded) & (rounded < high)
        short[fits] = rounded[fits]
        found |= fits
    return short
