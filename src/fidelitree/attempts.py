"""Attempts to certify a tree while answers are still coming in (the prequential protocol).

An attempt is opened by writing down its number, its tree and its level. From then on it counts every input that is
drawn independently from the whole space, and nothing that was drawn before: whatever led to opening it is never
counted for it. Each attempt's e-value is a bet that cannot win on average while its tree is not good enough, so all
attempts together fail with probability at most the sum of their levels, which is below delta. A journal keeps one
numbering for all runs that share it (`journal.ledger`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.answers import Kept
from fidelitree.events import Observer, TreeJudged, UnderTest, nobody
from fidelitree.journal.ledger import Ledger
from fidelitree.sequential import Bet, level_of_attempt, log_e_value
from fidelitree.tree import Tree

LATE = 0.6  # of a budget that will be spent goes into learning, the rest into tests
LOOK = 20  # answers before an attempt may be given up
FAIR_TRIAL = 200  # over epsilon: answers by which a tree is judged in the end that is not good enough
_FIRST = 0.25


class Attempt(Bet):
    """A tree, what it may spend of delta, and how it has fared since the attempt was opened.

    The next ``passed`` inputs are not for it: an earlier run has drawn them.
    """

    def __init__(self, number: int, tree: Tree, level: float, passed: int = 0) -> None:
        super().__init__(level)
        self.number, self.tree, self.passed = number, tree, passed


class Attempts:
    """All attempts of a run; they read one stream of answers.

    ``epsilon`` is the error that they are to certify. A run that wants the smallest error within a budget
    (``open_ended``) starts with a large one and goes on to half of it whenever it is certified.
    """

    def __init__(self, epsilon: float | None, delta: float, ledger: Ledger | None = None) -> None:
        self._ledger = ledger
        self.open_ended = epsilon is None
        self.epsilon, self.delta = _FIRST if epsilon is None else epsilon, delta
        self.all: list[Attempt] = []
        self.kept = Kept()
        """All that was counted: an attempt's own answers are the last ones, as many as it has samples."""

    def open(self, tree: Tree, written_down: bool = True) -> Attempt:
        """Begin to count for a tree; a tree that has an attempt already gets no second one.

        An attempt that will count nothing, and promises nothing, need not be written down.
        """
        found = self.of(tree)
        if found is None:
            number, passed = len(self.all) + 1, 0
            if self._ledger is not None and written_down:
                number, passed = self._ledger.open(tree.digest)
            found = Attempt(number, tree, level_of_attempt(number, self.delta), passed)
            self.all.append(found)
        return found

    def of(self, tree: Tree) -> Attempt | None:
        """The attempt for a tree, if there is one."""
        return next((attempt for attempt in self.all if attempt.tree == tree), None)

    @property
    def opened(self) -> int:
        """How many attempts have numbers up to the last one's."""
        return max(attempt.number for attempt in self.all)

    def judged(self, asked: int, size: int, error: float, tested: Attempt | None) -> TreeJudged:
        """One tree's own figures: what its attempt has counted; without one, an estimate of its error and no bound."""
        self.look()
        if tested is None or not tested.samples:
            return TreeJudged(asked, size, error, 1.0)
        return TreeJudged(asked, size, tested.errors / tested.samples, tested.error_bound)

    def look(self) -> None:
        """Let attempts keep what they certify now: what was certified at one look stays so."""
        _ = self.error_bound

    @property
    def at_best(self) -> int:
        """Answers that the first attempt takes if none is wrong."""
        return Bet(level_of_attempt(1, self.delta)).needed_for(self.epsilon)

    def count(self, batch: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Count answers to inputs drawn since; which of them the last tree has wrong."""
        self.kept.keep(batch, labels)
        wrong = np.zeros(len(labels), np.bool_)
        for attempt in self.all:
            wrong = attempt.tree.predict_inner(batch) != labels
            new = wrong[attempt.passed :]
            attempt.passed = max(0, attempt.passed - len(wrong))
            attempt.count(int(np.count_nonzero(new)), len(new))
        return wrong

    def raise_the_bar(self) -> None:
        """Go on to half the error for as long as it is certified already."""
        while any(attempt.certifies(self.epsilon) for attempt in self.all):
            self.epsilon /= 2

    def tell(self, observer: Observer, asked: int, needed: int) -> None:
        """Describe the attempt with the most evidence for it; nothing is recorded by looking at it."""
        if observer is not nobody:
            best = max(self.all, key=lambda attempt: log_e_value(attempt.errors, attempt.samples, self.epsilon))
            observer(UnderTest(asked, best.tree.size, best.errors, best.samples, best.level, needed))

    @property
    def error_bound(self) -> float:
        """The smallest error certified so far."""
        least = 1.0
        for attempt in reversed(self.all):  # the last tree is the best, most often
            least = attempt.lower(least)
        return least
