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

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import ParameterError
from fidelitree.runs.economics import AT_LEAST, FIRST, REFIT, STEPS_ON_THE_WAY, PairedErrors
from fidelitree.search.archive import Archive, LabelLoss, NumberLoss
from fidelitree.search.inquiry import BitInquiry, Inquiry
from fidelitree.search.questions import Answered, Labels, Steps, T, Tests
from fidelitree.trees.answers import apart

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.runs.session import Session
    from fidelitree.search.archive import Loss
    from fidelitree.trees.tree import Tree


@dataclass
class Candidate:
    """A tree of the archive, and how it did beside the one that it replaced on answers that neither had seen."""

    tree: Tree
    older: Tree | None = None
    pair: PairedErrors = field(default_factory=PairedErrors)
    before: PairedErrors | None = None
    """The same of the tree that it replaced, at the time of the fit."""

    @property
    def error(self) -> float:
        """The error to be expected: that of this tree so far, or of the one before it."""
        counted = [one for one in (self.pair, self.before) if one is not None and one.answers]
        answers = sum(one.answers for one in counted)
        return sum(one.errors for one in counted) / answers if answers else 1.0


class RunGoal(Protocol[T]):
    """What a run is for. Only `open` and `close` change anything."""

    @property
    def sizes(self) -> Sequence[int]:
        """The numbers of leaves that trees are fitted for."""

    @property
    def learning(self) -> bool:
        """Whether answers are still to teach."""

    def needed(self, loop: Loop[T]) -> float:
        """Return the answers to the next thing that this goal will do."""

    def done(self, loop: Loop[T]) -> T | None:
        """Return what the run comes to, if it is over."""

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

    @classmethod
    def of(cls, session: Session, goal: RunGoal[T], seed: int) -> Loop[T]:
        """A loop with the archive and the inquiry that suit the inputs and the labels of a session."""
        counted, source = session.counted, session.source
        inquiry = Inquiry()
        bits = source.independent is not None and source.independent.all_bits
        if source.independent is not None and bits and session.attempts.tolerance is None:
            inquiry = BitInquiry(source.independent, counted.book, seed, counted.watch)
        archive = Archive(source.product, counted.book, loss_of(session, seed, counted.watch))
        return cls(session, goal, archive, inquiry)

    @property
    def known(self) -> int:
        """Answers that have taught."""
        return len(self.archive)

    def steps(self) -> Steps[T]:
        """Ask until the goal is done."""
        while True:
            self.goal.open(self)
            seen = yield self._portion()
            self._judge(seen)
            self._tell()
            done = self.goal.done(self)
            if done is not None:
                return done
            yield from self._learn(seen)
            self.session.stand(self.trees)

    def _portion(self) -> Labels | Tests:
        """As many inputs as are known already, unless fewer are needed, or standing attempts are due."""
        rows = min(max(FIRST, self.known), self.goal.needed(self))
        if self.attempts.all:
            return Tests(max(1, int(rows)))
        due = self.attempts.standing.next - self.counted.asked
        return Labels(max(1, int(min(rows, max(1, due)))))

    def _judge(self, seen: Answered) -> None:
        """Count errors of trees that these answers have not taught."""
        labels = self.counted.labels(seen.codes)
        for one in self.candidates.values():
            wrong = self._wrong(one.tree, seen, labels)
            older = wrong if one.older is None else self._wrong(one.older, seen, labels)
            counts = (int(np.count_nonzero(part)) for part in (older, wrong, older != wrong))
            if one.older is not None:
                one.pair = one.pair.and_(len(labels), *counts)

    def _tell(self) -> None:
        """Note how the trees under test are doing."""
        for one in self.attempts.all:
            self.session.judge(one.tree.size, one.rate, one)

    def _wrong(self, tree: Tree, seen: Answered, labels: NDArray[Any]) -> NDArray[np.bool_]:
        return apart(tree.predict_inner(seen.inner), labels, self.attempts.tolerance)

    def _learn(self, seen: Answered) -> Steps[None]:
        if not self.goal.learning:
            return
        self.archive.add(seen.inner, seen.codes)
        yield from self.inquiry.learn(seen.inner, seen.codes)
        if self.known >= REFIT * self.archive.fitted:
            self.fit(self.goal.sizes, STEPS_ON_THE_WAY if self.known >= AT_LEAST else 0)

    def fit(self, focus: Sequence[int], steps: int) -> None:
        """Fit the archive to all answers; trees that replace others are judged beside them from now on."""
        known = [] if self.inquiry.tree is None else [self.inquiry.tree]
        again = self.archive.fitted == self.known
        try:
            self.archive.fit(focus, steps, known)
        finally:  # where the time is over, what was found is known
            if self.archive.fitted:  # the first fit may end before it finds anything
                self.candidates = {size: self._replaced(size, again) for size in self.goal.sizes}

    def _replaced(self, size: int, again: bool) -> Candidate:
        """The candidate for a size; of trees that are fitted ``again`` to the same answers the last one counts."""
        tree, old = self.archive.at(size), self.candidates.get(size)
        if old is None:
            return Candidate(tree)
        return replace(old, tree=tree) if again else Candidate(tree, old.tree, before=old.pair)

    def trees(self) -> list[Tree]:
        """Return the largest tree and the best constant: what is tested on the way, so that no ending is without."""
        largest = [one.tree for one in self.candidates.values()][-1:]
        return [*largest, *([self.session.constant(self.archive.codes)] if self.known else [])]

    def mistakes(self, tree: Tree) -> int:
        """Return the mistakes of a tree among the answers that taught."""
        labels = self.counted.labels(self.archive.codes)
        return int(apart(tree.predict_inner(self.archive.inner), labels, self.attempts.tolerance).sum())

    def ending(self) -> T | str:
        """Run to the end, and return what the goal comes to, or why it ended before.

        Where a limit ends learning, what was learnt is tested for as long as another limit allows.
        """
        self.counted.reserve = lambda: self.goal.learning
        reason = ""
        while True:
            try:
                return self.session.run(self.steps())
            except BudgetSpent as stop:
                if reason or not self.goal.learning:
                    return str(stop)
                reason = str(stop)
            except KeyboardInterrupt:
                if not self.counted.book.seen:
                    raise
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
