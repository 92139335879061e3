"""Between inputs of any features and rows of small integers, which the search for small trees works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.local.coded import Coded, bins_of, cuts_of
from fidelitree.spaces.features import AtMost, IsOne, Test
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.nested import Nested, build, mapped
from fidelitree.trees.tree import Tree

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

    def tree(self, nested: Nested, ranks: Sequence[int], labels: Sequence[Any]) -> Tree:
        """A tree over bins as a tree of inputs; ``ranks`` are the places of label codes among ``labels``."""
        return build(self.space, mapped(nested, self._split), labels, ranks)

    def _split(self, test: Test, no: Nested, yes: Nested) -> Nested:
        cuts, feature = self.cuts[test.feature], test.feature
        if not isinstance(test, AtMost) or cuts is None:
            return test, no, yes
        if self.space.features[feature].kind == "boolean":
            return IsOne(feature), yes, no  # "at most 0" is no
        return AtMost(feature, float(cuts[int(test.cut)])), no, yes


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
