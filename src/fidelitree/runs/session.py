"""One run: the only place where a target's answers, the attempts to certify a tree, and a budget meet.

A loop asks for inputs (`search.questions`, `runs.loop`), its goal decides what is enough, and the session has every
question answered. What was drawn for tests counts for all open attempts before it teaches anybody; what an inquiry
chose itself is never counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.events import Observer, TreeJudged, nobody
from fidelitree.asking.journal.ledger import LABEL, Ledger, promised
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.attempts import Attempts
from fidelitree.errors import warn
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.runs.amounts import FirstAnswers
from fidelitree.search.numbers.growth import Numbers, best_value
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.search.questions import Answered, Ask, Labels, Question, Steps, T, Tests
from fidelitree.theory.sequential import RUN
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.goal import Goal
    from fidelitree.runs.input_source import Source
    from fidelitree.search.labelled import Binning

Codes = NDArray[np.intp]
_NONE = np.zeros(0, np.bool_)


class Session:
    """What a run has in hand: its inputs, the target with its queries counted, its attempts and their history."""

    def __init__(self, counted: Counted, source: Source, attempts: Attempts, observer: Observer = nobody) -> None:
        self.counted, self.source, self.attempts, self.observer = counted, source, attempts, observer
        self.history: list[TreeJudged] = []
        self._first = FirstAnswers()
        counted.reserve = lambda: not attempts.certified
        points = None if source.independent is None else source.independent.points
        listed = counted.deterministic and points is not None and points <= ENUMERATE_UNASKED
        counted.once = listed and attempts.tolerance is None  # of numbers not even all answers end a run

    @classmethod
    def of(cls, counted: Counted, source: Source, goal: Goal, observer: Observer, part: str = RUN) -> Session:
        """A run without an attempt so far; ``part`` is the ledger that its attempts will be in."""
        promise = promised(source.digest, goal.delta, goal.tolerance, counted.deterministic)
        ledger = Ledger(source, counted.journal, promise)
        return cls(counted, source, Attempts(goal.epsilon, goal.delta, ledger, part, goal.tolerance), observer)

    def run(self, steps: Steps[T]) -> T:
        """Return what the steps come to; BudgetSpent, an interrupt or the target's error end them where they ask."""
        answered: Any = None  # what a generator is sent first
        while True:
            try:
                question = steps.send(answered)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            inner, purpose = self._inputs(question)
            if isinstance(question, Tests) and (some := self.attempts.to_ask(inner)) is not None:
                answered = self._partly(inner, some)
                continue
            codes = np.asarray(self.counted.ask(inner, purpose), np.intp)
            answered = Answered(inner, codes, self._count(question, inner, codes))
            if not isinstance(question, Ask) and self.attempts.tolerance is None and not self.attempts.certified:
                self._doubt(inner, codes)

    def _doubt(self, inner: NDArray[Any], codes: Codes) -> None:
        """Warn of answers that are amounts; who gave no limit need not pay for taking them for classes."""
        if not (said := self._first.amounts(self.counted, inner, codes)):
            return
        limited = self.counted.once or self.counted.budget.limited
        warn(said if limited else f"{said}; or give max_queries to go on as with classes")
        if not limited:
            raise BudgetSpent("the target answers amounts, which need a tolerance")

    def _partly(self, inner: NDArray[Any], some: NDArray[np.bool_]) -> Answered:
        """Ask about some inputs of a test, and count them for the trees that answer them; no tree answers the rest."""
        if not some.any():
            codes = np.zeros(0, np.intp)
            self.attempts.count(inner, np.full(len(inner), self.counted.book.sorted()[0]), some)
        else:
            codes = np.asarray(self.counted.ask(inner[some], "certify"), np.intp)
            labels = self.counted.labels(codes)
            every = np.full(len(inner), labels[0], labels.dtype)
            every[some] = labels
            self.attempts.count(inner, every, some)
        return Answered(inner[some], codes, _NONE)

    def _inputs(self, question: Question) -> tuple[NDArray[Any], str]:
        if isinstance(question, Ask):
            return question.inner, question.purpose
        if isinstance(question, Labels):
            return self.source.label(question.rows), "label"
        return self.source.test(self.counted.affordable(question.rows)), "certify" if self.attempts.all else "label"

    def _count(self, question: Question, inner: NDArray[Any], codes: Codes) -> NDArray[np.bool_]:
        """Count answers to inputs that came as they were drawn; before an attempt of the run is open, those stand."""
        if isinstance(question, Ask):
            return _NONE
        labels = self.counted.labels(codes)
        if isinstance(question, Labels):
            if self.source.labels_test:
                self.attempts.standing.count(inner, labels, LABEL)
        elif self.attempts.all:
            return self.attempts.count(inner, labels)
        else:
            self.attempts.standing.count(inner, labels)
        return _NONE

    def stand(self, trees: Callable[[], Sequence[Tree]]) -> None:
        """Open standing attempts when it is time: for the tree there is, and for the best constant, or the best two."""
        standing = self.attempts.standing
        if not standing.due(self.counted.asked):
            return
        second = None if self.attempts.tolerance is not None else standing.second()
        others = [] if second is None else [self.always(second)]
        standing.open(self.counted.asked, [*others, *trees()])

    def judge(self, size: int, error: float, tested: Attempt | None) -> None:
        """Note a tree with its error on the answers at hand, and what its attempt has counted."""
        judged = self.attempts.judged(self.counted.asked, size, error, tested)
        self.history.append(judged)
        self.observer(judged)

    def constant(self, codes: Codes) -> Tree:
        """The tree that always answers the most frequent of these labels, or a number near most of these."""
        book = self.counted.book
        if self.attempts.tolerance is not None:
            values = np.asarray(self.counted.labels(codes), np.float64)
            return Tree.constant(self.source.product, best_value(values, self.attempts.tolerance)[0])
        return self.always(book.seen[book.majority(np.bincount(codes).tolist())])

    def always(self, label: Any) -> Tree:
        """The tree that always answers this label."""
        if self.attempts.tolerance is not None:
            return Tree.constant(self.source.product, label)
        labels = self.counted.book.sorted()
        return Tree.build(self.source.product, [labels.index(label)], labels)

    def allowed(self, tree: Tree) -> Tree:
        """A tree, cut back where it has too many leaves and masses say how."""
        most, space = self.counted.budget.max_leaves, self.source.masses
        return tree if space is None or most is None or tree.size <= most else Prunings(tree, space).with_leaves(most)


class TrainingSet:
    """What has been told so far, in the order of the answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        product = session.source.product
        self.inner = np.empty((0, len(product)), product.dtype)
        self.codes: NDArray[np.intp] = np.empty(0, np.intp)

    def __len__(self) -> int:
        return len(self.codes)

    def add(self, seen: Answered) -> None:
        """Some more."""
        self.inner = np.concatenate([self.inner, seen.inner])
        self.codes = np.concatenate([self.codes, seen.codes])

    def buy(self, wanted: int, to_stand: Callable[[], Sequence[Tree]], at_once: bool = False) -> Steps[None]:
        """Labels up to a number; unless they come ``at_once``, standing attempts are opened where they are many."""
        standing, counted = self._session.attempts.standing, self._session.counted
        while len(self) < wanted:
            if len(self):
                self._session.stand(to_stand)
            missing = wanted - len(self)
            self.add((yield Labels(missing if at_once else max(1, min(missing, standing.next - counted.asked)))))

    def numbers(
        self, binning: Binning, rows: slice | NDArray[np.bool_] = slice(None), like: Numbers | None = None
    ) -> Numbers:
        """Some of the answers, all unless told, where they are numbers."""
        tolerance, answers = self._session.attempts.tolerance, self._session.counted.labels(self.codes)
        assert tolerance is not None, "labels have a search of their own"
        return Numbers.of(binning, rows, np.asarray(answers, np.float64)[rows], tolerance, like)

    def constant(self) -> Tree:
        """The most frequent label of those that taught, or that came as they were drawn, or of what there is."""
        usual, cut = self._session.attempts.standing.usual(), self._session.counted.cut
        if usual is not None and not len(self):  # of numbers this is any that came
            return self._session.always(usual)
        return self._session.constant(self.codes if len(self) or cut is None else np.asarray(cut, np.intp))
