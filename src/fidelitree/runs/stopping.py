"""Stopping rules: when the answers are enough, and which tree is returned then.

A rule may return a tree that was not tested itself, where it disagrees with a tested one little enough (`outcome`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import Budget
from fidelitree.certificates.attempts import Attempt, Attempts
from fidelitree.exact.paths import PathSubfunction
from fidelitree.runs.outcome import Outcome, best_so_far
from fidelitree.search.exact_growth import grow_exactly
from fidelitree.search.optimal.affordable import PATIENT, QUICK
from fidelitree.search.optimal.substitutes import SmallestSubstitutes, Substitutes
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.trees.tree import Tree

PATIENCE = 10  # times the queries of the first certificate, for fewer leaves
WORTH = 3  # half the leaves are worth 26 % more queries
FAR = 0.25  # epsilons: a tree with more errors is far from its target
HURRY = 2  # the same where queries are what matters


class Stopping(Protocol):
    """Decides what is returned, and when the answers suffice for it."""

    @property
    def unsettled(self) -> bool:
        """Whether it stopped early, because what it may still spend is better put into other trees."""

    def needed(self, attempts: Attempts) -> int:
        """Answers without an error that would end the run."""

    def to_spend(self) -> int:
        """Queries that it would spend for a better tree, once one is certified."""

    def done(self, attempts: Attempts) -> Outcome | None:
        """The outcome, if the answers suffice."""


@dataclass
class Smallest:
    """A substitute for a certified tree: the one for which (queries)^3 x leaves is least.

    It may go on for as many queries again as the first certificate took (ten times as many, where ``max_leaves`` is
    asked for); answers that turn out wrong on the way do not prolong that.
    """

    counted: Counted
    max_leaves: int | None = None
    unsettled: bool = False
    _substitutes: dict[int, Substitutes] = field(default_factory=dict)
    _certified: Attempt | None = None
    _limit: int = 0

    def needed(self, attempts: Attempts) -> int:
        """For the leading attempt, or for the pruning chosen once one is certified."""
        if self._certified is None:
            return min(attempt.needed_for(attempts.epsilon) for attempt in attempts.all)
        return self._choice(self._certified, attempts.epsilon)[1]

    def to_spend(self) -> int:
        """Nothing: queries are what it saves."""
        return 0

    def done(self, attempts: Attempts) -> Outcome | None:
        """Once the first attempt is certified, as soon as no further answers pay."""
        if self._certified is None:
            good = [attempt for attempt in attempts.all if attempt.certifies(attempts.epsilon)]
            self._certified = min(good, key=lambda attempt: attempt.tree.size, default=None)
        if self._certified is None:
            return None
        leaves, needed = self._choice(self._certified, attempts.epsilon)
        return None if needed else self.outcome(self._certified, leaves)

    def outcome(self, attempt: Attempt, leaves: int) -> Outcome:
        """The best pruning with so many leaves."""
        found = self._of(attempt)
        return Outcome(found.with_leaves(leaves), attempt, float(found.disagreements[leaves - 1]))

    def _choice(self, attempt: Attempt, epsilon: float) -> tuple[int, int]:
        """Leaves, and answers still needed."""
        options, asked = [], self.counted.asked
        self._limit = self._limit or (HURRY if self.max_leaves is None else PATIENCE) * asked
        for leaves, needed in self._affordable(attempt, epsilon):
            options.append(((asked + needed) ** WORTH * leaves, leaves, needed))
        return min(options)[1:] if options else (self._most(attempt), 0)

    def _affordable(self, attempt: Attempt, epsilon: float) -> Iterator[tuple[int, int]]:
        """Leaves, and answers still needed, of all prunings within the limit."""
        for leaves, lost in enumerate(self._of(attempt).disagreements[: self.max_leaves].tolist(), start=1):
            if lost < epsilon:
                needed = attempt.needed_for(epsilon - lost)
                if not needed or self.counted.asked + needed <= self._limit:
                    yield leaves, needed

    def _most(self, attempt: Attempt) -> int:
        return len(self._of(attempt).disagreements[: self.max_leaves])

    def _of(self, attempt: Attempt) -> Substitutes:
        if attempt.number not in self._substitutes:
            self._substitutes[attempt.number] = self.search(attempt.tree)
        return self._substitutes[attempt.number]

    def search(self, tree: Tree) -> Substitutes:
        """Trees that could stand in for a tested one."""
        return SmallestSubstitutes(tree, self.counted.space, [], QUICK, self.counted.watch)


@dataclass
class FewestLeaves(Smallest):
    """The smallest tree that up to ten times the queries, or the budget, can vouch for.

    Where the first certified tree is far from the target, its substitutes are no good: then it stops at once and says
    so (``unsettled``), because what it may still spend (``to_spend``) is better put into other trees.
    """

    def to_spend(self) -> int:
        """What is left of its patience."""
        return max(0, self._limit - self.counted.asked)

    def _choice(self, attempt: Attempt, epsilon: float) -> tuple[int, int]:
        if not self._limit:
            limit = self.counted.budget.max_queries
            self._limit = PATIENCE * self.counted.asked if limit is None else limit
            self.unsettled = attempt.errors > FAR * epsilon * attempt.samples
        affordable = (option for option in self._affordable(attempt, epsilon) if not (self.unsettled and option[1]))
        return next(affordable, (self._most(attempt), 0))

    def search(self, tree: Tree) -> Substitutes:
        space = self.counted.space
        root = PathSubfunction(tree, Region.whole(space))
        watch = self.counted.watch
        greedy = grow_exactly(Counted(tree, space), root, 0.0, Budget(), lambda event: watch()).tree
        watch()  # a tree that is cut short is no substitute
        return SmallestSubstitutes(tree, space, [greedy], PATIENT, watch)


@dataclass
class LowestError(Smallest):
    """The tree with the smallest certified error that the budget allows."""

    def to_spend(self) -> int:
        """All that is left."""
        return self.counted.left or 0

    def needed(self, attempts: Attempts) -> int:
        """For the next step down."""
        return min(attempt.needed_for(attempts.epsilon) for attempt in attempts.all)

    def done(self, attempts: Attempts) -> Outcome | None:
        """Never: the budget ends the run."""
        attempts.raise_the_bar()
        return None


@dataclass
class AsTested:
    """The smallest certified tree among those under test, pruned by what its bound leaves where masses are known.

    While a smaller one may still be certified, up to ``patience`` answers are counted.
    """

    space: ProductSpace | None
    max_leaves: int | None = None
    patience: float = 0.0
    unsettled: bool = False

    def needed(self, attempts: Attempts) -> int:
        """For the first of the attempts that are not certified."""
        needed = [attempt.needed_for(attempts.epsilon) for attempt in attempts.all]
        return min((count for count in needed if count), default=1)

    def to_spend(self) -> int:
        """It does not ask about all inputs."""
        return 0

    def done(self, attempts: Attempts) -> Outcome | None:
        """Once none that is smaller has a chance."""
        epsilon = attempts.epsilon
        certified = [attempt for attempt in attempts.all if attempt.certifies(epsilon)]
        best = min(certified, key=lambda attempt: attempt.tree.size, default=None)
        if best is None or any(self._may_follow(attempt, best, epsilon) for attempt in attempts.all):
            return None
        return best_so_far(attempts, self.space, self.max_leaves)

    def _may_follow(self, attempt: Attempt, best: Attempt, epsilon: float) -> bool:
        if attempt.tree.size >= best.tree.size or attempt.unlucky(epsilon):
            return False
        return attempt.samples + attempt.needed_for(epsilon) <= self.patience
