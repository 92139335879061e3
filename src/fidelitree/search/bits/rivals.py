"""Smaller trees beside the learner's own, from answers that are paid for: CART's prunings, judged by cross-validation.

The learner's tree fits all that it can. Where a smaller one errs a little more, and little enough, it is the better
answer, and where no small tree fits, CART's may pass a test sooner. How often a pruning errs is told by answers that
did not teach it: in turn, each quarter of them judges what the others taught.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.local.archive import Archive, Point
from fidelitree.search.local.coded import Coded
from fidelitree.search.local.iterated import Refiner, engine
from fidelitree.spaces.features import AtMost, IsOne, Test
from fidelitree.trees.nested import Nested, mapped, simplest

if TYPE_CHECKING:
    from collections.abc import Sequence

Bits = NDArray[np.uint8]
Codes = NDArray[np.intp]
Weights = NDArray[np.float64]

FOLDS = 4
ANSWERS = 5  # that a leaf must have on average
STEP = 1.4  # between neighbouring sizes
PRICE, STEPS = 1.0, 60  # of a leaf, in errors; proposals of a search
DOUBT = 0.5  # standard errors that are added to an estimate


@dataclass(frozen=True, eq=False)
class Rivals:
    """Prunings for rows of bits with label codes and weights; only ``features`` are tested."""

    bits: Bits
    codes: Codes
    weights: Weights
    features: Sequence[int]
    watch: Watch = go_on

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of leaves that are tried."""
        most = len(self.codes) // ANSWERS
        return sorted({int(2 * STEP**k) for k in range(40) if 2 * STEP**k <= most})

    def shares(self, below: float = math.inf) -> list[tuple[int, float]]:
        """How often a tree of each size errs, as far as answers that did not teach it can tell, and a little more.

        Only sizes ``below`` a number of leaves are looked at.
        """
        sizes = [leaves for leaves in self.sizes if leaves < below]
        wrong, fold = np.zeros(len(sizes)), np.arange(len(self.codes)) % FOLDS
        for held in range(FOLDS if sizes else 0):
            points, judge = self._archive(fold != held).points(), self._coded(fold == held, self.weights)
            trees = [_within(points, most) for most in sizes]
            errors = {id(tree): judge.errors(tree) for tree in trees}
            wrong += [errors[id(tree)] for tree in trees]
        total = float(self.weights.sum())
        share = np.minimum(wrong / total, 1.0)
        spread = float((self.weights**2).sum()) / total**2  # one over the number of answers, if all weigh the same
        share += DOUBT * np.sqrt(np.maximum(share * (1 - share), spread) * spread)
        return list(zip(sizes, share.tolist(), strict=True))

    def cheapest(self, other: Nested) -> Nested:
        """What a short search makes of another tree, or of CART's, where a leaf costs as much as an error."""
        return self._as_bits(self._refiner.cheapest(self._as_bins(other), PRICE, STEPS))

    def with_leaves(self, leaves: int) -> Nested:
        """The best tree that a short search finds with at most so many leaves."""
        self._refiner.improve_at(leaves, STEPS)
        return self._as_bits(self._refiner.with_leaves(leaves).tree)

    @cached_property
    def _refiner(self) -> Refiner:
        return Refiner(self._coded(np.ones(len(self.codes), np.bool_)), None, 0, self.watch)

    def _archive(self, rows: NDArray[np.bool_]) -> Archive:
        coded = self._coded(rows)
        archive = Archive(coded, None, self.watch)
        archive.add(engine(coded, None, self.watch).cart(max(self.sizes, default=1)))
        return archive

    def _coded(self, rows: NDArray[np.bool_], weights: Weights | None = None) -> Coded:
        """Some of the rows; those that a tree is grown from count 1 each, which the compiled search wants."""
        bins = np.ascontiguousarray(self.bits[rows][:, self.features].T, np.uint16)
        weights = np.ones(len(self.codes)) if weights is None else weights
        return Coded(bins, [True] * len(bins), [2] * len(bins), self.codes[rows], weights[rows])

    def _as_bits(self, binned: Nested) -> Nested:
        def change(test: Test, no: Nested, yes: Nested) -> Nested:
            return IsOne(self.features[test.feature]), yes, no  # "at most 0" is no

        return simplest(mapped(binned, change))

    def _as_bins(self, nested: Nested) -> Nested:
        place = {feature: k for k, feature in enumerate(self.features)}

        def change(test: Test, no: Nested, yes: Nested) -> Nested:
            return (AtMost(place[test.feature], 0), yes, no) if test.feature in place else no

        return mapped(nested, change)


def _within(points: list[Point], most: int) -> Nested:
    """The tree with the fewest errors that has at most so many leaves."""
    return [point for point in points if point.leaves <= most][-1].tree
