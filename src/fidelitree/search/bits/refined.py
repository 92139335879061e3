"""A short local search that begins with a look-ahead's tree, at a price of a leaf.

A look-ahead counts errors, so that many tests look alike, and takes the first of them. Where no small tree fits, what
this search makes of its tree is wrong less often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.sketch import is_one
from fidelitree.search.local.coded import Coded
from fidelitree.search.local.compiled import Compiled
from fidelitree.search.local.moves import engine
from fidelitree.search.local.splitmix import Splitmix
from fidelitree.spaces.features import AtMost, Test
from fidelitree.trees import kernels
from fidelitree.trees.nested import Nested, mapped

if TYPE_CHECKING:
    from fidelitree.search.local.moves import Engine

Bits = NDArray[np.uint8]
Codes = NDArray[np.intp]
STEPS = 60  # proposals of a search


@dataclass(frozen=True, eq=False)
class BitRefiner:
    """Rows of bits with label codes; only ``features`` are tested."""

    bits: Bits
    codes: Codes
    features: Sequence[int]
    watch: Watch = go_on

    def cheapest(self, tree: Nested, price: float) -> Nested:
        """What the search makes of a tree, at a price of a leaf in errors."""
        if isinstance(self._engine, Compiled):
            return self._engine.refine(tree, price, STEPS, is_one)
        return self._as_bits(self._engine.refine(self._as_bins(tree), price, STEPS, Splitmix(0)).nested())

    @cached_property
    def _engine(self) -> Engine:
        if kernels.compiled:
            return Compiled.of_bits(self.bits, self.codes, self.features, self.watch)
        bins = np.ascontiguousarray(self.bits.take(self.features, 1).T, np.uint16)
        coded = Coded(bins, [True] * len(bins), [2] * len(bins), self.codes, np.ones(bins.shape[1]))
        return engine(coded, None, self.watch)

    def _as_bits(self, binned: Nested) -> Nested:
        def change(test: Test, no: Nested, yes: Nested) -> Nested:
            if not isinstance(no, tuple) and no == yes:
                return no
            return is_one(self.features[test.feature]), yes, no  # "at most 0" is no

        return mapped(binned, change)

    def _as_bins(self, nested: Nested) -> Nested:
        place = {feature: k for k, feature in enumerate(self.features)}

        def change(test: Test, no: Nested, yes: Nested) -> Nested:
            return (AtMost(place[test.feature], 0), yes, no) if test.feature in place else no

        return mapped(nested, change)
