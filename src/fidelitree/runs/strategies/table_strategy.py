"""Runs over features of any kind: labels, a search for small trees, tests, and more labels where they are not enough.

Labels are bought in growing portions. After each, trees are looked for that fit most of them, and the smallest one that
errs little enough on the others is put to the test: an attempt is opened, and counts answers to inputs drawn since.
What was counted joins the labels afterwards; once they are many more, another search opens attempts beside the others.
Where queries are to be saved the first portion is small; where leaves are, it is large, the search is long, and several
sizes are tested at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from fidelitree.asking.limits import BudgetSpent
from fidelitree.asking.memory import LABELLED_BYTES, inputs_within
from fidelitree.certificates.attempts import LATE, LOOK, Attempt
from fidelitree.display.wording import percent
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.runs.last_tests import OutOfReach, tried
from fidelitree.runs.loop import loss_of
from fidelitree.runs.session import Session, TrainingSet
from fidelitree.runs.size_grid import LARGEST, sizes_up_to
from fidelitree.runs.strategies.fitting import Fitting, LabelFitting, NumberFitting
from fidelitree.runs.strategies.table_limits import LEAVES, Allowance, LearningCurve
from fidelitree.search.archive import Archive
from fidelitree.search.labelled import HELD
from fidelitree.search.questions import Steps, Tests
from fidelitree.trees.nested import Nested, size

if TYPE_CHECKING:
    from fidelitree.runs.outcome import Outcome
    from fidelitree.runs.stopping import Stopping
    from fidelitree.trees.tree import Tree

BATCH = 8
MOST_LABELS = 100_000
_STEPS = 30  # proposals near each size, for the trees that are tested in the end
_HURRIED = 0.8  # of the time: later, no search for trees of other sizes goes on
MISTAKEN = 1.1  # times the answers that a test takes without a mistake, where all are asked at once
AGAIN = 1.25  # times the labels of the last search: what test rows have to add for another one


@dataclass(frozen=True)
class Plan:
    """How a run spends: labels at first, proposals a search, and held-out errors (in epsilons) of what is tested.

    The frugal plan tests a tree as soon as that would take half as many answers as there are labels; the other tests
    several sizes at once, down to one that is likely to be good enough. A ``faithful`` plan tests the tree with the
    fewest held-out errors, because more is asked of it than an error of epsilon.
    """

    first: int
    steps: int
    frugal: bool
    growth: float = 1.6
    faithful: bool = False
    takes_over: bool = False
    """From a learner that found no small tree: a larger one is tested, too, because each failure costs much by now."""
    few_rounds: bool = False
    """Batches are large: each is a round, and what a target takes to answer one is what counts."""
    weighs: bool = False
    """Weighs leaves against the queries of a test, and tests several trees at once: where inputs do not end."""
    portions: int = 64
    """A test counts so many-th a part of the labels at a time; each look at many attempts takes time."""


FRUGAL = Plan(first=64, steps=200, frugal=True, growth=1.4, weighs=True, portions=16)
OF_ROWS = Plan(first=64, steps=60, frugal=True)
FAITHFUL = Plan(first=64, steps=60, frugal=True, faithful=True)
IN_ROUNDS = Plan(first=128, steps=60, frugal=True, growth=2.0, few_rounds=True)
TAKING_OVER = Plan(first=64, steps=60, frugal=True, takes_over=True)
# In standard errors of the held-out share, below epsilon. The test sees many more answers than were held out, so sizes
# are worth a try that the latter leave open (0, 0.5), and some that are safe if the held-out labels flattered (5).
_MARGINS = (0.0, 0.5, 1.0, 1.75, 2.5, 3.5, 5.0)
# Times the largest of those: trees fitted to the held-out labels too, which err less than the others of their size, and
# are there to fall back on if those labels flattered all of them.
_LARGER = (0.85, 1.0, 1.2, 1.45)


def patient(epsilon: float) -> Plan:
    """The plan where leaves cost much and labels little; a small epsilon takes more labels to see."""
    return Plan(first=5_000 if epsilon > 0.05 else 20_000, steps=900, frugal=False, growth=2)


class TableStrategy:
    """Portions of labels, a search for small trees after each, and tests of those that err little on held-out labels.

    It ends by its stopping rule, by a budget, or by the insight that no small tree will do.
    """

    stuck = False

    def __init__(self, session: Session, plan: Plan, seed: int) -> None:
        self._session, self._plan, self._seed = session, plan, seed
        self._counted, self._attempts, self._source = session.counted, session.attempts, session.source
        self._pool = TrainingSet(session)
        self._best: Tree | None = None
        self._late = self._quick = self._outgrown = False
        # Bins, and the parts for learning and for judging, take as much again as the inputs.
        product = session.source.product
        self._most = min(MOST_LABELS, inputs_within(LABELLED_BYTES, 2 * product.dtype.itemsize * len(product)))
        self._leaves = session.counted.budget.max_leaves or LEAVES
        self._allowance = Allowance(session.source)
        leaves = LEAVES if plan.faithful else self._leaves
        self._curve = LearningCurve(session.attempts.epsilon, leaves, self._most, session.source.most)

    def steps(self, stopping: Stopping) -> Steps[Outcome | None]:
        """What the stopping rule makes of an attempt; None where it is cheaper to ask about all inputs."""
        wanted = self._plan.first
        while not self.cheaper_to_ask_all(wanted):
            yield from self._learn(wanted)
            searched = len(self._pool)
            if self._open_attempts():
                done = yield from self._test(stopping)
                if done is not None:
                    return done
            if self._outgrown:
                wanted = len(self._pool)
                continue
            if self._over(searched) and not self._late:
                if self._all_can_be_asked:
                    return None
                yield from self._last_trial()
            wanted = int(self._plan.growth * len(self._pool))
        return None

    def look_once(self, stopping: Stopping) -> Steps[Outcome | None]:
        """One portion of labels, one search, one test; None where nothing comes of it."""
        yield from self._learn(self._plan.first)
        return (yield from self._test(stopping)) if self._open_attempts() else None

    def cheaper_to_ask_all(self, wanted: int) -> bool:
        """Whether as many labels would answer for every input."""
        points, most = self._points, self._asked_at_most
        return points <= min(wanted, most) or (points <= most and points - len(self._pool) <= len(self._pool))

    @property
    def _points(self) -> float:
        """How many inputs there are to know all about the target."""
        points = None if self._source.independent is None else self._source.independent.points
        unknown = points is None or not self._counted.deterministic or self._attempts.tolerance is not None
        return math.inf if unknown or points is None else points

    @property
    def _asked_at_most(self) -> int:
        left = self._counted.left
        return ENUMERATE_UNASKED if left is None else left + len(self._pool)

    @property
    def _all_can_be_asked(self) -> bool:
        """Whether an answer for every input is to be had for what the labels may cost; then epsilon is in reach."""
        return self._counted.budget.max_leaves is None and self._points <= min(2 * self._most, self._asked_at_most)

    def tree(self) -> Tree:
        """The best tree so far; the best constant while nothing was fitted."""
        return self._pool.constant() if self._best is None else self._best

    def trees(self) -> list[Tree]:
        """One of its size for all labels, for some were held out of it; the same; and one of each size for all labels.

        As far as time allows: most of what is left is for tests.
        """
        if not len(self._pool):
            return [self.tree()]
        size = min(self.tree().size, self._leaves)
        sizes = sorted({*sizes_up_to(min(LARGEST, self._leaves)), size})
        loss = loss_of(self._session, self._seed, self._hurry)
        archive = Archive(self._source.product, self._counted.book, loss)
        archive.add(self._pool.inner, self._pool.codes)
        try:
            archive.fit(sizes, _STEPS if self._counted.budget.max_seconds is None else 0)
        except BudgetSpent:
            return [self.tree()]
        return list(dict.fromkeys([archive.at(size), self.tree(), *map(archive.at, sizes)]))

    def _hurry(self) -> None:
        """Ends a search that would eat up the time for the tests it is made for."""
        self._counted.watch()
        if self._counted.over(_HURRIED):
            raise BudgetSpent(self._counted.budget.time_over)

    def _learn(self, wanted: int) -> Steps[None]:
        """Buy labels, but leave enough of the budget for a test that could succeed."""
        rows, left = wanted - len(self._pool), self._counted.left
        if left is not None:
            limit = self._counted.budget.max_queries or 0
            # Where these labels leave too little for a test, the budget will be spent anyhow.
            self._late = rows > left - self._attempts.at_best
            if self._late:
                rows = min(rows, max(int(LATE * limit) - self._counted.asked, 0 if len(self._pool) else 1))
        wanted = len(self._pool) + int(min(rows, self._source.labels_left))
        yield from self._pool.buy(wanted, self._to_stand, self._plan.few_rounds)

    def _to_stand(self) -> list[Tree]:
        """A tree for the labels so far without a search, or the best one where there is one; and the best constant."""
        if self._best is None or self._quick:
            fitting = self._fitting(self._counted.budget.max_leaves)
            self._best, self._quick = fitting.tree(fitting.most_faithful()), True
        return [self._best, self._pool.constant()]

    def _open_attempts(self) -> bool:
        """Look for trees, and open attempts for those worth it; whether there are any, or one was certified before."""
        before = len(self._attempts.all)
        trees = self._fit()
        self._session.stand(self._to_stand)
        for tree in trees or (self.trees() if self._late else []):
            self._attempts.open(tree)
        good = [attempt.tree for attempt in self._attempts.all[:before] if attempt.certifies(self._attempts.epsilon)]
        return len(self._attempts.all) > before or self._late or self._outgrown or any(tree in good for tree in trees)

    def _fitting(self, most: int | None) -> Fitting:
        if self._attempts.tolerance is not None:
            return NumberFitting(self._session, self._pool, most)
        return LabelFitting(self._session, self._pool, most, self._seed)

    def _fit(self) -> list[Tree]:
        """Trees that err little enough on held-out labels, the smallest first."""
        plan, aims = self._plan, self._aims()
        most = None if plan.faithful else self._counted.budget.max_leaves
        fitting = self._fitting(most)
        aim = aims[len(aims) // 2] if aims else self._attempts.epsilon / 2
        try:
            fitting.improve(aim, plan.steps)  # where the tree that will pass is likely to be
        except BudgetSpent:
            self._best = fitting.tree(fitting.most_faithful())
            raise
        if plan.weighs:
            found = self._allowance.best_deals(fitting.points(), len(self._pool), self._attempts)
        else:
            found = [sketch for sketch in map(fitting.reaching, aims) if sketch is not None]
        best = found[-1] if found and not plan.faithful else fitting.most_faithful()
        self._best, self._quick = fitting.tree(best), False
        self._session.judge(self._best.size, fitting.share(best), self._attempts.of(self._best))
        self._curve.see(len(self._pool), fitting.fitted(self._curve.leaves), fitting.held())
        if plan.faithful:
            return [self._best]
        sketches = self._promising(fitting, found, aim)
        return [fitting.tree(sketch) for sketch in sorted(sketches, key=size)]

    def _promising(self, fitting: Fitting, found: list[Nested], aim: float) -> list[Nested]:
        """Trees like those found, and fitted to all labels."""
        sizes, steps = {size(sketch) for sketch in found}, self._plan.steps
        if self._allowance.last:  # no rows are left to learn from, and held-out ones are few: try larger trees too
            sizes.add(size(fitting.most_faithful()))
            sizes.add(2 * max(sizes))
        if not sizes:
            return []
        if self._plan.frugal:
            return fitting.on_all(sorted(sizes), aim, steps)
        sketches = {size(sketch): sketch for sketch in reversed(found)}
        larger = [max(1, int(factor * max(sizes))) for factor in _LARGER]
        return [*sketches.values(), *fitting.carried_on(larger, steps)]

    def _aims(self) -> tuple[float, ...]:
        """Held-out errors of trees that are worth a test, falling; none where more labels come first."""
        epsilon, labels = self._attempts.epsilon, len(self._pool)
        if self._plan.frugal:
            worth = self._allowance.worth(labels, len(self._attempts.all) + 1, self._attempts)
            aims = dict.fromkeys(worth[:1] + worth[-1:]) if self._plan.takes_over else worth[:1]
            return tuple(epsilon * aim for aim in aims)
        error = (epsilon * (1 - epsilon) * HELD / labels) ** 0.5
        return tuple(max(epsilon / 4, epsilon - margin * error) for margin in _MARGINS)

    def _test(self, stopping: Stopping) -> Steps[Outcome | None]:
        """Count answers for all attempts until the rule is content, or none of the attempts is worth it."""
        searched, self._outgrown = len(self._pool), False
        patience = self._counted.asked + self._allowance.tests(searched, self._attempts.epsilon)
        while self._goes_on or self._worth_it(stopping, patience - self._counted.asked):
            rows, needed = max(BATCH, len(self._pool) // self._plan.portions), stopping.needed(self._attempts)
            self._attempts.tell(self._session.observer, self._counted.asked, needed)
            at_once = max(int(MISTAKEN * needed), len(self._pool) // 8)
            seen = yield Tests(at_once if self._plan.few_rounds else min(rows, needed))
            done = stopping.done(self._attempts)
            if done is not None:
                return done
            self._pool.add(seen)
            self._outgrown = self._has_outgrown(searched)
            if self._outgrown:
                break
        return None

    def _has_outgrown(self, searched: int) -> bool:
        """Whether a better tree is likely by now: those under test were wrong, and labels have grown by a portion.

        Old attempts go on counting beside the new ones, so another search costs no label but its share of delta.
        """
        if self._late or not self._plan.frugal or self._plan.faithful or self._plan.few_rounds:
            return False
        grown = self._plan.growth * searched <= len(self._pool) < self._most
        return grown and all(attempt.errors for attempt in self._attempts.all)

    @property
    def _goes_on(self) -> bool:
        """Whether the last trial is under way: a limit ends it, or all inputs are known, which nothing counts again."""
        return self._late and not (self._counted.once and self._counted.asked >= self._points)

    def _worth_it(self, stopping: Stopping, left: float) -> bool:
        hopeful = any(self._hopeful(attempt, left) for attempt in self._attempts.all)
        return hopeful and (not self._plan.faithful or stopping.needed(self._attempts) <= left)

    def _hopeful(self, attempt: Attempt, left: float) -> bool:
        epsilon = self._attempts.epsilon
        if attempt.samples >= LOOK:
            hasty = self._plan.frugal and not self._allowance.last
            if attempt.errors > epsilon * attempt.samples if hasty else attempt.unlucky(epsilon):
                return False
            if self._allowance.finite and not attempt.likely(epsilon, left):
                return False
        return attempt.needed_for(epsilon) <= left

    @property
    def _enough(self) -> bool:
        """Whether no more labels are to be had for learning alone."""
        return len(self._pool) >= self._most or not self._source.labels_left

    def _over(self, searched: int) -> bool:
        """Whether another search, after that of so many labels, is in vain."""
        if self._curve.hopeless:
            return True
        again = len(self._pool) >= AGAIN * searched and len(self._pool) < self._most
        return self._enough and not (again and self._allowance.enough_for_another(self._attempts))

    def _last_trial(self) -> Steps[NoReturn]:
        """No small tree is good enough: give trees of all sizes bounds that mean something, and say so."""
        yield from tried(self._session, self.trees())
        leaves, needs = self._counted.budget.max_leaves, ""
        trouble = "no small tree was found that is good enough" if leaves is None else f"max_leaves = {leaves}"
        if self._allowance.last and not self._curve.hopeless:
            trouble, needs = "the table has too few rows", "more rows"
        elif leaves is None and self._curve.hopeless:
            needs = f"more than {self._curve.leaves} leaves: {self._curve.most:,} labels would leave "
            needs += f"{percent(self._curve.promised)} or more"
        raise OutOfReach(trouble, needs)
