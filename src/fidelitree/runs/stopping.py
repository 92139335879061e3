"""Stopping rules: when the answers are enough, and which tree is returned then.

How often two trees disagree is known exactly, without a query. So any tree that disagrees with a tested one, whose
error is certified to be at most b, on d of the inputs has an error of at most b + d; a rule may return such a tree.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import NoDiagramError
from fidelitree.exact.diagram import DiagramSubfunction
from fidelitree.exact.engine import all_answers_of, error_inside
from fidelitree.runs.outcome import Outcome, best_so_far
from fidelitree.search.bits.junta import crowds
from fidelitree.search.exact_growth import as_grown
from fidelitree.search.optimal.affordable import PATIENT, QUICK
from fidelitree.search.optimal.substitutes import Prunings, SmallestSubstitutes
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.table import TruthTable
from fidelitree.theory.sequential import divergence, log_e_value

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt, Attempts
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.spaces.world import Weighed
    from fidelitree.trees.tree import Tree

PATIENCE = 10  # times the queries of the first certificate, for fewer leaves
WORTH, OF_TABLES = 1.5, 4.0  # half the leaves are worth 59 % more queries; 19 % where features are not all bits
READABLE = 64  # leaves: of a larger tree, which nobody reads, each counts for less
FAR = 0.25  # epsilons: a tree with more errors is far from its target
FEWER = 0.75  # of the leaves of a tree that is about a table: only so few are worth an error
HURRY, TESTS = 2, 4  # the same where queries are what matters; but not more than so many tests without an error
GRACE = 1.1  # of the time: when the building of a diagram is given up
MANY, UNFOLDED = 2_000, 1 << 16  # labels after which a diagram's paths will do, and leaves that they may have
PRIOR = 20  # answers, half of epsilon of them wrong, that a forecast begins with


def price(labels: float, leaves: int, worth: float = WORTH) -> float:
    """What a tree is to be judged by where both cost something; leaves of a tree that nobody reads count for less."""
    counted = leaves if leaves <= READABLE else math.sqrt(READABLE * leaves)
    return float(labels**worth * counted)


def forecast(attempt: Attempt, epsilon: float) -> float:
    """Answers that an attempt will still take, if its tree goes on as it has; infinite where it errs too often."""
    if attempt.certifies(epsilon):
        return 0
    rate = (attempt.errors + PRIOR * epsilon / 2) / (attempt.samples + PRIOR)
    if rate >= epsilon:
        return math.inf
    missing = -math.log(attempt.level) - log_e_value(attempt.errors, attempt.samples, epsilon)
    return max(float(attempt.needed_for(epsilon)), missing / divergence(rate, epsilon))


class Stopping(ABC):
    """Decides what is returned, and when the answers suffice for it."""

    unsettled = False
    """Whether it stopped early, because what it may still spend is better put into other trees."""

    @abstractmethod
    def needed(self, attempts: Attempts) -> int:
        """Answers without an error that would end the run."""

    def to_spend(self) -> int:
        """Queries that it would spend for a better tree, once one is certified."""
        return 0

    @abstractmethod
    def done(self, attempts: Attempts) -> Outcome | None:
        """The outcome, if the answers suffice."""


@dataclass
class Smallest(Stopping):
    """A substitute for a certified tree: the one for which (queries)^1.5 x leaves is least.

    Over other features than bits it is (queries)^4: trees of thresholds are small when they are certified. It may go on
    for as many queries again as the first certificate took, or a few tests if that is less (ten times as many, where
    ``max_leaves`` is asked for); answers that turn out wrong on the way do not prolong that.
    """

    counted: Counted
    max_leaves: int | None = None
    masses: Weighed | None = None
    """Those of the inputs that are drawn for tests; of the target's features where they are independent."""
    few_rounds: bool = False
    """Whether another round for fewer leaves is too much: then the first certificate ends the run."""
    _substitutes: dict[int, SmallestSubstitutes] = field(default_factory=dict)
    _certified: Attempt | None = None
    _limit: int = 0
    _deal: float = math.inf

    def needed(self, attempts: Attempts) -> int:
        """For the leading attempt, or for the pruning chosen once one is certified."""
        if self._certified is None or not self._certified.certifies(attempts.epsilon):
            return min(attempt.needed_for(attempts.epsilon) for attempt in attempts.all)
        choice = self._choice(self._certified, attempts.epsilon)
        rival = self._rival(attempts, *choice)
        return choice[1] if rival is None else rival.needed_for(attempts.epsilon)

    def done(self, attempts: Attempts) -> Outcome | None:
        """Once the first attempt is certified, as soon as no further answers pay."""
        good = [attempt for attempt in attempts.all if attempt.certifies(attempts.epsilon)]
        if not good:
            return None
        # The closest to the target goes first: how far it is decides whether substitutes are any good.
        choices = [(self._choice(one, attempts.epsilon), one) for one in sorted(good, key=lambda one: one.rate)]
        (leaves, needed), self._certified = min(choices, key=self._of_choice)
        if needed or self._rival(attempts, leaves, needed) is not None:
            return None
        return self.outcome(self._certified, leaves)

    def _rival(self, attempts: Attempts, leaves: int, needed: int) -> Attempt | None:
        """Another tree under test that is smaller, and likely to be certified soon enough to be worth it."""
        epsilon = attempts.epsilon
        best, found = min(self._deal, self._cost(self._after(needed), leaves)), None
        for attempt in attempts.all:
            if attempt.tree.size < leaves:
                expected = self._after(forecast(attempt, epsilon))
                cost = self._cost(expected, attempt.tree.size)
                if expected <= self._limit and cost < best:
                    best, found = cost, attempt
        return found

    def _of_choice(self, choice: tuple[tuple[int, int], Attempt]) -> tuple[float, int]:
        (leaves, needed), _ = choice
        return self._cost(self._after(needed), leaves), needed

    def _after(self, answers: float) -> float:
        """Labels asked, once so many more answers have been counted."""
        return self.counted.asked + self.counted.labels_for(answers)

    def _cost(self, asked: float, leaves: int) -> float:
        """What an outcome is to be judged by."""
        return price(asked, leaves, WORTH if self.counted.space.all_bits else OF_TABLES)

    def outcome(self, attempt: Attempt, leaves: int) -> Outcome:
        """The best pruning with so many leaves."""
        found = self._of(attempt)
        return Outcome(found.with_leaves(leaves), attempt, float(found.disagreements[leaves - 1]))

    def _choice(self, attempt: Attempt, epsilon: float) -> tuple[int, int]:
        """Leaves, and answers still needed."""
        options = []
        self._limit = self._limit or self._patience(attempt, epsilon)
        for leaves, needed in self._affordable(attempt, epsilon):
            options.append((self._cost(self._after(needed), leaves), leaves, needed))
        # What was spent in vain must not look like a reason to spend more: a hope must beat the best that was in hand.
        self._deal = min([self._deal, *(cost for cost, _, missing in options if not missing)])
        options = [one for one in options if not one[2] or one[0] < self._deal]
        leaves, needed = min(options)[1:] if options else (self._most(attempt), 0)
        whole = attempt.tree.size
        if leaves > FEWER * whole and self.max_leaves is None and self._tabular(attempt.tree):
            return whole, 0
        return leaves, needed

    def _patience(self, attempt: Attempt, epsilon: float) -> int:
        """Labels that the run may have asked in the end."""
        asked = self.counted.asked
        if self.max_leaves is not None:
            return PATIENCE * asked
        test = math.ceil(-math.log(attempt.level) / epsilon)
        return asked if self.few_rounds else min(HURRY * asked, asked + TESTS * test)

    def _tabular(self, tree: Tree) -> bool:
        """Whether a tree is about the whole table of its bits: it has no structure that an error would make simpler."""
        return self.counted.space.all_bits and crowds(tree.size, len(np.unique(tree.feature)) - 1)

    def _affordable(self, attempt: Attempt, epsilon: float) -> Iterator[tuple[int, int]]:
        """Leaves, and answers still needed, of all prunings within the limit."""
        for leaves, lost in enumerate(self._of(attempt).disagreements[: self.max_leaves].tolist(), start=1):
            if lost < epsilon:
                needed = attempt.needed_for(epsilon - lost)
                if not needed or self._after(needed) <= self._limit:
                    yield leaves, needed

    def _most(self, attempt: Attempt) -> int:
        return len(self._of(attempt).disagreements[: self.max_leaves])

    def _of(self, attempt: Attempt) -> SmallestSubstitutes:
        if attempt.number not in self._substitutes:
            self._substitutes[attempt.number] = self.search(attempt.tree)
        return self._substitutes[attempt.number]

    def search(self, tree: Tree) -> SmallestSubstitutes:
        """Trees that could stand in for a tested one."""
        space = self.counted.space if self.masses is None else self.masses
        return SmallestSubstitutes(tree, space, [], QUICK, self.counted.watch)


@dataclass
class FewestLeaves(Smallest):
    """The smallest tree that up to ten times the queries, or the budget, can certify.

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

    def _cost(self, asked: float, leaves: int) -> float:
        return leaves

    def _rival(self, attempts: Attempts, leaves: int, needed: int) -> Attempt | None:
        return None if self.unsettled else super()._rival(attempts, leaves, needed)

    def search(self, tree: Tree) -> SmallestSubstitutes:
        space, watch = self.counted.space, self.counted.watch
        return SmallestSubstitutes(tree, space, [as_grown(tree, space, watch).tree], PATIENT, watch)


@dataclass
class AsTested(Stopping):
    """The smallest certified tree among those under test, pruned by what its bound leaves where masses are known.

    While a smaller one may still be certified, up to ``patience`` answers are counted.
    """

    space: Weighed | None
    max_leaves: int | None = None
    patience: float = 0.0

    def needed(self, attempts: Attempts) -> int:
        """For the first of the attempts that are not certified."""
        needed = [attempt.needed_for(attempts.epsilon) for attempt in attempts.all]
        return min((count for count in needed if count), default=1)

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


def lists_its_answers(counted: Counted) -> bool:
    """Whether the target's error can be known without asking it."""
    return counted.deterministic and isinstance(counted.target, (Circuit, TruthTable))


_KNOWN: WeakKeyDictionary[Counted, Subfunction | None] = WeakKeyDictionary()
"""All answers of a run's target, as one function; None where they are too many. A diagram takes seconds to build."""


def exact_error(tree: Tree, counted: Counted) -> float | None:
    """The error of a tree; None where the circuit is too large for it, or the time is over before it is known."""
    root = _answers_of(counted)
    return None if root is None else error_inside(tree, root, counted.space)


def _answers_of(counted: Counted) -> Subfunction | None:
    """All answers of a run's target; None where they are too many, or the time is over before they are known."""

    def watch() -> None:
        if counted.over(GRACE):
            raise BudgetSpent(counted.budget.time_over)

    if counted not in _KNOWN:
        try:
            _KNOWN[counted] = all_answers_of(counted.target, counted.space, watch)
        except BudgetSpent:
            return None
        except NoDiagramError:
            _KNOWN[counted] = None
    return _KNOWN[counted]


@dataclass
class Known(Stopping):
    """Ends a run with the first tree under test that is good enough, pruned as far as it stays so.

    The paths of a diagram are a tree as well, a large one, which takes no label: where many were asked, and more than
    it has leaves, it ends the run. Where an error cannot be known, ``otherwise`` decides.
    """

    otherwise: Stopping
    counted: Counted
    _judged: int = field(default=0)
    _paths: dict[float, tuple[Tree, float] | None] = field(default_factory=dict)

    def needed(self, attempts: Attempts) -> int:
        """One answer: a tree is judged when its attempt has been opened."""
        return self.otherwise.needed(attempts) if self._judged == len(attempts.all) else 1

    def to_spend(self) -> int:
        """Nothing of its own."""
        return self.otherwise.to_spend()

    def done(self, attempts: Attempts) -> Outcome | None:
        """As soon as a new tree is good enough."""
        while self._judged < len(attempts.all):
            attempt = attempts.all[self._judged]
            self._judged += 1
            error = exact_error(attempt.tree, self.counted)
            if error is not None and error <= attempts.epsilon:
                return self._smallest(attempt, error, attempts.epsilon)
        done, asked = self.otherwise.done(attempts), self.counted.asked
        return self.unfolded(attempts, asked) if done is None and asked >= MANY else done

    def unfolded(self, attempts: Attempts, most: float = UNFOLDED) -> Outcome | None:
        """The tree of a diagram's paths, if it has no more leaves than so many, and than there may be."""
        epsilon, limit = attempts.epsilon, self.counted.budget.max_leaves or UNFOLDED
        if epsilon not in self._paths:
            root, space = _answers_of(self.counted), self.counted.space
            diagram = root if isinstance(root, DiagramSubfunction) else None
            most_leaves = min(limit, UNFOLDED)
            self._paths[epsilon] = None if diagram is None else diagram.unfolded(space, epsilon, most_leaves)
        tree, error = self._paths[epsilon] or (None, 0.0)
        return None if tree is None or tree.size > most else Outcome(tree, attempts.open(tree), 0.0, error=error)

    def _smallest(self, attempt: Attempt, error: float, epsilon: float) -> Outcome:
        prunings, most = Prunings(attempt.tree, self.counted.space), self.counted.budget.max_leaves
        for leaves, lost in enumerate(prunings.disagreements[:most].tolist(), start=1):
            if lost - error > epsilon:  # it cannot be better than that
                continue
            tree = prunings.with_leaves(leaves)
            own = exact_error(tree, self.counted)
            if own is not None and own <= epsilon:
                return Outcome(tree, attempt, lost, error=own)
        tree = prunings.with_leaves(most or attempt.tree.size)
        return Outcome(tree, attempt, 0.0, error=exact_error(tree, self.counted))
