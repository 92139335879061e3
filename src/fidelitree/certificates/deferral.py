"""Tests of a tree that defers (THEORY 4(n)): its error where it answers, and how much it answers.

An attempt fixes the tree, and with it the region that it answers, before the first of its test inputs is drawn. Given
the past, those inputs are independent draws from the whole space. An input that the tree defers is passed over.
Whether it is depends on the tree and the input alone, never on an answer. So the others, in the order in which they
come, are independent draws from the region (rejection sampling). Their errors are coins with the probability
Pr[tree != target | answered]. That is what the e-values of `theory.sequential` are about, at any time, and an adaptive
opening is paid for as always (`attempts`).

Several trees read one stream. An input is asked about if one of them answers it, and each counts those that it answers
itself. An input that all of them defer costs nothing. What was passed over is missing from the answers, so attempts of
trees that answer everything must not count the rest.

Coverage is the mass of the region, exact where masses are known. Elsewhere all inputs drawn since the attempt was
opened are coins too, heads where the tree answers. A second bet gives a lower bound. It is paid for by the part of
the level that other certificates spend on the lower end of their error: a tree that defers states none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.journal.ledger import TEST, LedgerEntry
from fidelitree.certificates.attempts import Attempt, BatchCounts
from fidelitree.theory.sequential import Bet, coverage_bound
from fidelitree.trees.answers import DEFER, answered

if TYPE_CHECKING:
    from fidelitree.spaces.world import Weighed
    from fidelitree.trees.tree import Tree


class DrawnBet(Bet):
    """A bet about some of the inputs that are drawn: ``samples`` of them count."""

    drawn = 0
    """Inputs drawn since the bet was placed."""

    def draw(self, rows: int) -> None:
        """Note how many were drawn, before those that count are counted."""
        self.drawn += rows


class DeferringAttempt(DrawnBet, Attempt):
    """A tree under test that may defer; it counts the inputs that it answers."""

    def __init__(self, tree: Tree, delta: float, entry: LedgerEntry) -> None:
        Attempt.__init__(self, tree, delta, entry)

    def tally(self, batch: NDArray[Any], labels: NDArray[Any], stream: str = TEST) -> BatchCounts:
        """The inputs that the tree answers; ``labels`` of all others may be anything."""
        own = answered(self.tree, batch)
        wrong = np.asarray(self.tree.predict_inner(batch) != labels, np.bool_) & own
        passed, waits = self._passed(len(batch), stream)
        errors = self.errors + int(np.count_nonzero(wrong[passed:]))
        counts = errors, self.samples + int(np.count_nonzero(own[passed:]))
        return BatchCounts(wrong, counts, waits, self.drawn + len(batch) - passed)

    def add(self, tally: BatchCounts) -> None:
        """The same, and how many were drawn."""
        self.drawn = tally.drawn
        super().add(tally)


def certified_coverage(tree: Tree, bet: DrawnBet, ledger: str, masses: Weighed | None) -> float:
    """The share of inputs that the tree answers, or a lower bound where nobody knows masses."""
    if masses is not None or not tree.defers:
        return 1.0 if masses is None else coverage_of(tree, masses)
    return coverage_bound(bet.counts[1], bet.drawn, ledger, bet.level)


def coverage_of(tree: Tree, masses: Weighed) -> float:
    """The mass of the leaves that answer."""
    if not tree.defers:
        return 1.0
    regions = tree.regions(masses.product)
    parts = [masses.mass(region) for node, region in regions if tree.feature[node] < 0 and tree.label(node) is DEFER]
    return min(1.0, max(0.0, 1.0 - sum(parts)))
