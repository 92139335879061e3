"""Smaller trees beside the learner's own, from answers that are paid for: CART's prunings, judged by cross-validation.

The learner's tree fits all that it can. Where a smaller one errs a little more, and little enough, it is the better
answer, and where no small tree fits, CART's may pass a test sooner. How often a pruning errs is told by answers that
did not teach it: in turn, each quarter of them judges what the others taught.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import Watch, go_on
from fidelitree.search.bits.sketch import is_one
from fidelitree.search.local.by_leaves import SLACK, Held, RowPrunings
from fidelitree.search.local.coded import Coded
from fidelitree.search.local.compiled import Compiled
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.local.moves import Engine, engine
from fidelitree.search.local.splitmix import Splitmix
from fidelitree.spaces.features import AtMost, Test
from fidelitree.trees import kernels
from fidelitree.trees.nested import Nested, mapped

if TYPE_CHECKING:
    from fidelitree.search.local.grown import Grown

Bits = NDArray[np.uint8]
Codes = NDArray[np.intp]
Weights = NDArray[np.float64]

FOLDS = 4
ANSWERS = 5  # that a leaf must have on average
STEP = 1.4  # between neighbouring sizes
STEPS = 60  # proposals of a search
DOUBT = 0.5  # standard errors that are added to an estimate


@dataclass(frozen=True, eq=False)
class Rivals:
    """Prunings for rows of bits with label codes and weights; only ``features`` are tested."""

    bits: Bits
    codes: Codes
    weights: Weights
    features: Sequence[int]
    watch: Watch = go_on
    unknown: float = 1.0
    """The probability of all inputs that are none of these rows, where so few are left that it counts."""

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of leaves that are tried."""
        most = len(self.codes) // ANSWERS
        return sorted({int(2 * STEP**k) for k in range(40) if 2 * STEP**k <= most})

    def shares(self, hopeless: Callable[[int, float], bool] = lambda leaves, share: False) -> list[tuple[int, float]]:
        """How often a tree of each size errs, as far as answers that did not teach it can tell, and a little more.

        What it has learnt it gets wrong less often, which counts for as much of the space as the rows are. A size that
        is ``hopeless`` even if it errs on no more answers than it has by then is left out.
        """
        total = float(self.weights.sum())
        missed = {leaves: 0.0 for leaves in self.sizes if not hopeless(leaves, 0.0)}
        for held in range(FOLDS):
            if missed:
                errors = self._missed(held, list(missed))
                missed = {leaves: missed[leaves] + wrong for leaves, wrong in errors.items()}
                missed = {leaves: wrong for leaves, wrong in missed.items() if not hopeless(leaves, wrong / total)}
        sizes, share = list(missed), np.minimum(np.array(list(missed.values())) / total, 1.0)
        spread = float((self.weights**2).sum()) / total**2  # one over the number of answers, if all weigh the same
        share += DOUBT * self.unknown * np.sqrt(np.maximum(share * (1 - share), spread) * spread)
        return list(zip(sizes, share.tolist(), strict=True))

    def cheapest(self, other: Nested, price: float) -> Nested:
        """What a short search makes of another tree, or of CART's, at a price of a leaf in errors."""
        if isinstance(self._engine, Compiled):
            return self._engine.refine(other, price, STEPS, is_one)
        return self._as_bits(self._engine.refine(self._as_bins(other), price, STEPS, Splitmix(0)).nested())

    def with_leaves(self, leaves: int) -> Nested:
        """The best tree that a short search finds with at most so many leaves."""
        self._refiner.improve_at(leaves, STEPS)
        return self._as_bits(self._refiner.with_leaves(leaves).tree)

    @cached_property
    def _refiner(self) -> Refiner:
        return Refiner(self._coded(slice(None)), None, 0, self.watch)

    @cached_property
    def _engine(self) -> Engine:
        if kernels.compiled:
            return Compiled.of_bits(self.bits, self.codes, self.features, self.watch)
        return engine(self._coded(slice(None)), None, self.watch)

    def _missed(self, held: int, sizes: list[int]) -> dict[int, float]:
        """What the best pruning for the other folds with at most so many leaves gets wrong of as many as a fold has."""
        most = max(self.sizes)
        if isinstance(self._engine, Compiled) and self.unknown == 1:
            missed = self._engine.missed(self.weights, sizes, most, (held, FOLDS))
            return dict(zip(sizes, missed, strict=True))
        fold = np.arange(len(self.codes)) % FOLDS
        coded = self._coded(fold != held)
        tree = engine(coded, None, self.watch).cart(most)
        prunings, alone = RowPrunings(tree, Held(None, coded, self.watch)), self._missed_alone(tree, fold == held)
        best = [1]
        for leaves in range(2, tree.leaves + 1):
            best.append(leaves if prunings.both[leaves - 1] < prunings.both[best[-1] - 1] - SLACK else best[-1])
        fewest = {leaves: best[min(leaves, tree.leaves) - 1] for leaves in sizes}
        # one after the other, as it is compiled: from Python 3.12 on, `sum` is more exact than that
        nodes = {leaves: prunings.leaf_nodes(few) for leaves, few in fewest.items()}
        new = {leaves: reduce(add, (alone[node] for node in some), 0.0) for leaves, some in nodes.items()}
        if self.unknown == 1:
            return new
        learnt = prunings.errors / len(coded.codes) * float(self.weights[fold == held].sum())
        known = 1 - self.unknown
        return {leaves: self.unknown * new[leaves] + known * learnt[few - 1] for leaves, few in fewest.items()}

    def _missed_alone(self, tree: Grown, held: NDArray[np.bool_]) -> list[float]:
        """For each node what a leaf in its place gets wrong of the held-out rows."""
        feature, _, no = tree.shape[:3]
        rows, columns = np.flatnonzero(held), np.array(self.features)
        nodes, missed = np.zeros(len(rows), np.intp), np.zeros(len(feature))
        while len(rows):
            wrong = self.codes[rows] != tree.code[nodes]
            missed += np.bincount(nodes, self.weights[rows] * wrong, len(feature))
            inside = feature[nodes] >= 0
            rows, nodes = rows[inside], nodes[inside]
            nodes = np.where(self.bits[rows, columns[feature[nodes]]] != 0, nodes + 1, no[nodes])
        found: list[float] = missed.tolist()
        return found

    def _coded(self, rows: slice | NDArray[np.bool_]) -> Coded:
        """Some of the rows; each counts 1, which the compiled search wants."""
        bins = np.ascontiguousarray(self.bits[rows].take(self.features, 1).T, np.uint16)
        return Coded(bins, [True] * len(bins), [2] * len(bins), self.codes[rows], np.ones(bins.shape[1]))

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
