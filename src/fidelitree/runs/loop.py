"""The loop behind every run that learns: a portion is drawn, counts, judges and teaches; then trees may be opened.

Each portion goes through the same steps, in this order, which is what makes certificates true (THEORY 4(a)):

1. *count*: it comes as the space gives it, and counts for every attempt that is open (`Session` does so);
2. *judge*: it judges trees that have not seen it, a hold-out that costs no label;
3. *done*: the goal says whether the run is over;
4. *learn*: it joins the archive, and an inquiry may ask about inputs of its own choice, which nobody counts;
5. *open*: the goal opens attempts, which count what is drawn from now on.

Until an attempt is open inputs come from the stream for learning, then from that for tests: of a table these are
different rows. How large a portion is, what is opened and when a run ends may depend on all that came before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import ParameterError
from fidelitree.runs.economics import FIRST_FEW, REFERENCE, Belief, PairedErrors
from fidelitree.runs.portions import Trend
from fidelitree.search.archive import Archive, LabelLoss, NumberLoss
from fidelitree.search.inquiry import BitInquiry, FewRounds, Inquiry
from fidelitree.search.questions import Answered, Labels, Steps, T, Tests
from fidelitree.trees.answers import apart

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.portions import Portions
    from fidelitree.runs.session import Session
    from fidelitree.search.archive import Loss
    from fidelitree.trees.tree import Tree


@dataclass
class Candidate:
    """A tree of the archive, or of an inquiry, and how it did on answers that it had not seen."""

    tree: Tree
    evidence: Belief = field(default_factory=Belief)
    """Its own, and what is left of that of the tree which it replaced."""
    older: Tree | None = None
    """The tree that it replaced, where the two are compared."""
    pair: PairedErrors = field(default_factory=PairedErrors)
    before: PairedErrors | None = None
    """The same of the tree that it replaced, at the time of the fit."""

    @property
    def size(self) -> int:
        """The number of leaves."""
        return self.tree.size

    @property
    def error(self) -> float:
        """The error to be expected: that of this tree so far, or of the one before it."""
        counted = [one for one in (self.pair, self.before) if one is not None and one.answers]
        answers = sum(one.answers for one in counted)
        return sum(one.errors for one in counted) / answers if answers else 1.0


class Focus(NamedTuple):
    """Where an archive is to look for better trees."""

    sizes: Sequence[int]
    steps: int
    """Proposals near each size."""


class RunGoal(Protocol[T]):
    """What a run is for. Only `open` and `close` change anything."""

    portions: Portions
    """How many answers come at a time."""
    refit: float
    """Times the answers of the last fit: when the archive is fitted again."""
    compares: bool
    """Whether a tree is judged beside the one that it replaced."""

    @property
    def learning(self) -> bool:
        """Whether answers are still to teach."""

    @property
    def largest(self) -> float:
        """The most leaves of a tree that may be returned, as far as there is a limit."""

    def may_choose(self, loop: Loop[T]) -> bool:
        """Return whether labels are left for inputs of an inquiry's choice."""

    def wanted(self, loop: Loop[T]) -> Sequence[int]:
        """Return the numbers of leaves that trees are looked at for."""

    def search(self, loop: Loop[T]) -> Focus:
        """Return where a fit is to look for better trees."""

    def testing(self, loop: Loop[T]) -> bool:
        """Return whether the next portion is for tests."""

    def needed(self, loop: Loop[T]) -> float:
        """Return the answers to the next thing that this goal will do."""

    def done(self, loop: Loop[T]) -> T | None:
        """Return what the run comes to, if it is over."""

    def instead(self, loop: Loop[T]) -> RunGoal[T] | None:
        """Return the goal that takes this one's place, where this one is out of reach."""

    def open(self, loop: Loop[T]) -> None:
        """Open attempts for trees that are worth it."""

    def close(self, why: str) -> None:
        """End learning: what was learnt is to be opened before anything else is asked."""


class Loop(Generic[T]):
    """One run: a session, an archive of trees, an inquiry, and a goal."""

    def __init__(self, session: Session, goal: RunGoal[T], archive: Archive, inquiry: Inquiry) -> None:
        self.session, self.goal, self.archive, self.inquiry = session, goal, archive, inquiry
        self.counted, self.attempts, self.source = session.counted, session.attempts, session.source
        self.candidates: dict[int, Candidate] = {}
        """By the number of leaves that each was fitted for, which is at least its own."""
        self.asked_for: Candidate | None = None
        """The tree that chosen inputs have led to."""
        self.history: list[tuple[int, float]] = []
        """The answers at each fit, and the least error that was expected then."""
        self._errors: list[tuple[int, float]] = []
        """How many answers taught the trees, and the least share of the next ones that one of them had wrong."""
        self._evidence: dict[int, Belief] = {}
        """What led to an attempt, by its number."""
        self.cut_short = False
        """Whether a limit or an interrupt has ended learning."""

    @classmethod
    def of(cls, session: Session, goal: RunGoal[T], seed: int) -> Loop[T]:
        """A loop with the archive and the inquiry that suit the inputs and the labels of a session."""
        counted, source = session.counted, session.source
        inquiry = Inquiry()
        bits = source.independent is not None and source.independent.all_bits
        if source.independent is not None and bits and session.attempts.tolerance is None:
            kind = FewRounds if goal.portions.in_rounds else BitInquiry
            inquiry = kind(source.independent, counted.book, seed, counted.watch)
        archive = Archive(source.product, counted.book, loss_of(session, seed, counted.watch))
        return cls(session, goal, archive, inquiry)

    @property
    def known(self) -> int:
        """Answers that came as they were drawn, and have taught."""
        return len(self.archive)

    @property
    def proposals(self) -> list[Candidate]:
        """All trees that there are to test."""
        return [*self.candidates.values(), *([] if self.asked_for is None else [self.asked_for])]

    def open(self, candidate: Candidate) -> Attempt:
        """Open an attempt for a candidate."""
        attempt = self.attempts.open(candidate.tree)
        self._evidence.setdefault(attempt.number, candidate.evidence)
        return attempt

    def evidence(self, attempt: Attempt) -> Belief:
        """Return what is known of a tree under test: what led to its attempt, and what was counted since."""
        return self._evidence.get(attempt.number, Belief()).and_(attempt.errors, attempt.samples)

    def steps(self) -> Steps[T]:
        """Ask until the goal is done."""
        done = self.goal.done(self)
        while done is None:
            self.goal = self.goal.instead(self) or self.goal
            self.goal.open(self)
            for seen in self._parts((yield self._portion())):
                self._judge(seen)
                self._tell()
                done = self.goal.done(self)
                if done is not None:
                    break
                yield from self._learn(seen)
                self.session.stand(self.trees)
        return done

    def _portion(self) -> Labels | Tests:
        """What the goal needs, and no more than its portions allow; standing attempts are opened when they are due."""
        portions = self.goal.portions
        lucky = max((one.samples / (1 + one.errors) for one in self.attempts.all), default=0.0)
        needed = self.goal.needed(self)
        rows = max(1, int(portions.rows(self.known, needed, Trend(self._errors, lucky))))
        if self.goal.testing(self):
            if self.attempts.epsilon:
                self.attempts.tell(self.session.observer, self.counted.asked, int(needed))
            return Tests(rows)
        due = math.inf if portions.in_rounds else self.attempts.standing.next - self.counted.asked
        return Labels(self.counted.affordable(int(min(rows, max(1, due)))))

    def _parts(self, seen: Answered) -> list[Answered]:
        """Halves of a long portion that is a round, each of which judges what the one before it has taught."""
        if not self.goal.portions.in_rounds or len(seen.codes) < 2 * FIRST_FEW:
            return [seen]
        half = len(seen.codes) // 2
        halves = slice(half), slice(half, None)
        return [Answered(seen.inner[part], seen.codes[part], seen.wrong[part]) for part in halves]

    def _judge(self, seen: Answered) -> None:
        """Count errors of trees that these answers have not taught."""
        if not len(seen.codes):
            return
        labels, errors = self.counted.labels(seen.codes), []
        for one in self.proposals:
            wrong = self._wrong(one.tree, seen, labels)
            errors.append(int(np.count_nonzero(wrong)))
            one.evidence = one.evidence.and_(errors[-1], len(labels))
            if one.older is not None:
                older = self._wrong(one.older, seen, labels)
                one.pair = one.pair.and_(len(labels), int(np.count_nonzero(older)), errors[-1])
        if errors:
            self._errors.append((self.known, min(errors) / len(labels)))

    def _tell(self) -> None:
        """Note how the trees under test are doing; before there are any, how the best one is."""
        if not self.attempts.all and self.proposals:
            best = min(self.proposals, key=lambda one: (one.evidence.rate, one.size))
            self.session.judge(best.size, best.evidence.rate, None)
        for one in self.attempts.all:
            self.session.judge(one.tree.size, one.rate, one)

    def _wrong(self, tree: Tree, seen: Answered, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return apart(tree.predict_inner(seen.inner), labels, self.attempts.tolerance)

    def _learn(self, seen: Answered) -> Steps[None]:
        if not self.goal.learning:
            return
        self.archive.add(seen.inner, seen.codes)
        if self.goal.may_choose(self):
            yield from self.inquiry.learn(seen.inner, seen.codes)
        self._take_over()
        if len(self.archive) >= self.goal.refit * self.archive.fitted:
            self.fit(*self.goal.search(self))

    def _take_over(self) -> None:
        """Make the inquiry's tree a candidate; answers that it did not need, and that agree with it, are evidence."""
        tree, confirmed = self.inquiry.tree, self.inquiry.confirmed
        if tree is None:
            self.asked_for = None
            return
        if self.asked_for is None or tree is not self.asked_for.tree:
            before = Belief() if self.asked_for is None else self.asked_for.evidence
            self.asked_for = Candidate(tree, before.mended(tree.size))
        if confirmed > self.asked_for.evidence.answers:
            self.asked_for.evidence = Belief(0.0, confirmed)

    def fit(self, focus: Sequence[int], steps: int) -> None:
        """Fit the archive to all answers; trees that replace others are judged beside them from now on."""
        known = [] if self.inquiry.tree is None else [self.inquiry.tree]
        again = self.archive.fitted == len(self.archive)
        if self.candidates and not again:
            self.history.append((len(self.archive), min(one.evidence.rate for one in self.proposals)))
        try:
            self.archive.fit(focus, steps, known)
        finally:  # where the time is over, what was found is known
            if self.archive.fitted:  # the first fit may end before it finds anything
                self.candidates = {size: self._replaced(size, again) for size in self.goal.wanted(self)}

    def _replaced(self, size: int, again: bool) -> Candidate:
        """The candidate for a size; of trees that are fitted ``again`` to the same answers the last one counts."""
        tree = self.archive.at(size)
        near = min(self.candidates, key=lambda other: abs(math.log(other / size)), default=size)
        old = self.candidates.get(near)
        found = self._successor(old, tree)
        if old is None or not self.goal.compares:
            return found
        if again:
            return replace(old, tree=tree, evidence=found.evidence)
        return replace(found, older=old.tree, before=old.pair)

    def _successor(self, old: Candidate | None, tree: Tree) -> Candidate:
        """A candidate that inherits what is known of another one, as far as the two agree."""
        fitted = self.mistakes(tree), self.known
        if old is None:
            return Candidate(tree, Belief(fitted=fitted))
        differ = apart(self._said(old.tree), self._said(tree), self.attempts.tolerance)
        deviation = float(np.mean(differ)) if len(differ) else 0.0
        return Candidate(tree, old.evidence.refitted(deviation, fitted))

    def _said(self, tree: Tree) -> NDArray[Any]:
        """What a tree answers to the inputs that two trees are compared on."""
        return tree.predict_inner(self._reference)

    @cached_property
    def _reference(self) -> NDArray[Any]:
        return self.source.free(REFERENCE)

    def trees(self) -> list[Tree]:
        """Return the best tree and the best constant: what is tested on the way, so that no ending is without."""
        allowed = (one for one in self.proposals if one.size <= self.goal.largest)
        best = sorted(allowed, key=lambda one: (one.evidence.rate, -one.size))[:1]
        return [*(one.tree for one in best), *([self.session.constant(self.archive.codes)] if self.known else [])]

    @property
    def best(self) -> Tree:
        """The best tree; before the first portion has taught, the most frequent label of what was answered of it."""
        trees = self.trees()
        if trees:
            return trees[0]
        usual, cut = self.attempts.standing.usual(), self.counted.cut
        if usual is not None or cut is None:
            return self.session.always(self.counted.book.sorted()[0] if usual is None else usual)
        return self.session.constant(np.asarray(cut, np.intp))

    def mistakes(self, tree: Tree) -> int:
        """Return the mistakes of a tree among the answers that taught."""
        labels = self.counted.labels(self.archive.codes)
        return int(apart(tree.predict_inner(self.archive.inner), labels, self.attempts.tolerance).sum())

    def ending(self) -> T | str:
        """Run to the end, and return what the goal comes to, or why it ended before.

        Where a limit ends learning, what was learnt is tested for as long as another limit allows.
        """
        self.counted.reserve = lambda: self.goal.learning and not self.attempts.certified
        reason = ""
        while True:
            try:
                return self.session.run(self.steps())
            except BudgetSpent as stop:
                self.cut_short = True
                if reason or not self.goal.learning or self.attempts.certified:
                    return str(stop)
                reason = str(stop)
            except KeyboardInterrupt:
                if not self.counted.book.seen:
                    raise
                self.cut_short = True
                self.counted.interrupted()
                return "interrupted"
            if not self.counted.book.seen:
                raise ParameterError(
                    "max_queries and max_seconds must allow some labels; the budget ended before the first"
                )
            self.counted.reserve = None
            self.goal.close(reason)


def loss_of(session: Session, seed: int, watch: Watch) -> Loss:
    """What is lost on a row: a label, or a number that is too far away."""
    near = session.attempts.tolerance
    return LabelLoss(seed, watch) if near is None else NumberLoss(near, watch)
