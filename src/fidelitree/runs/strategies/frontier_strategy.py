"""Trees of many sizes for one set of answers, tested together on one stream of fresh inputs.

Three kinds of answers are kept apart. Those that teach come in portions, each as large as all before it. A portion
judges the trees of the last two before it teaches (a hold-out that costs nothing), which tells whether more labels are
worth their price. When they are not, one tree of each size is fitted to all of them and to free inputs, of which the
target is asked about those that learners of several kinds differ on, if they are few. Then an attempt is opened for
each tree, and only then the tests are drawn that count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.events import Foreseen
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.attempts import LATE, Attempt
from fidelitree.errors import ParameterError
from fidelitree.runs.session import Session, TrainingSet
from fidelitree.runs.strategies.forecast import SLACK, TIGHT, Forecast, forecast, halved, needed_for
from fidelitree.runs.strategies.sized_trees import FREE, MOST_FREE, NumberTrees, SizedTrees, sized_trees
from fidelitree.search.bits.learner import BitLearner
from fidelitree.search.optimal.affordable import QUICK
from fidelitree.search.optimal.substitutes import SmallestSubstitutes
from fidelitree.search.questions import Ask, Steps, Tests
from fidelitree.spaces.draw import Stream
from fidelitree.theory.sequential import FRONTIER, ROUND, level_in
from fidelitree.trees.answers import apart
from fidelitree.trees.nested import build

if TYPE_CHECKING:
    from fidelitree.trees.tree import Tree

FIRST = 400  # labels of the first portion
LEAST = 6_000  # labels from which on they may be enough: before, the gain of a portion is seen too dimly
_TESTS, _PART = 50, 8  # answers between two looks at the bounds: one in so many of those counted
_WALKED, _SHOWN = 1_600, 32  # labels that a learner over bits is shown, and at a time
_APART = 0.5  # of the labels: tests for trees that are hard to tell apart
_DOUBTED, _MANY = 0.05, 0.2  # of the labels that there are may be asked for as well, where learners do not agree
_TIMES = 3  # that they are looked for
_SELDOM, _MANY_FREE = 0.01, 50_000  # an error so low is looked for in many of these, among so many free inputs
_VALUES = 10_000_000  # of all features, in so many inputs
_BRIEF = 5  # times fewer proposals, while labels are still coming


@dataclass(frozen=True)
class Effort:
    """When a frontier has learnt enough: what a size must gain from as many labels again, and labels at most.

    Where the largest tree errs very seldom, an ``early`` end is better: what is left is asked where learners differ.
    """

    gain: float
    most: int
    steps: int
    early: int = 3_000


EFFORTS = {"queries": Effort(0.1, 16_000, 150), "leaves": Effort(0.03, 64_000, 450, 12_000)}


class FrontierStrategy:
    """Portions of labels while they pay, a search for the best tree of every size, and one test of them all."""

    def __init__(self, session: Session, sizes: Sequence[int], effort: Effort, seed: int) -> None:
        self._session, self._counted, self._source = session, session.counted, session.source
        self.sizes, self._effort, self._seed = sizes, effort, seed
        self._pool = TrainingSet(session)
        self._settled = TrainingSet(session)
        """Answers to inputs that were chosen, because learners did not agree on them."""
        self._learner: BitLearner | None = None
        """Over bits: it asks where it is wrong, and so finds what drawn inputs do not show, such as a parity."""
        bits = session.source.independent is not None and session.source.independent.all_bits
        if bits and session.attempts.tolerance is None:
            random = np.random.default_rng(np.random.SeedSequence(list(Stream.named(seed, "walk").key)))
            self._learner = BitLearner(len(session.source.product), random, session.counted.watch)
        self._curves: list[list[Tree]] = []
        """Trees of all sizes for the labels of each portion and those before it."""
        self._rivals: list[Tree] = []
        """Others for the last labels, some of which are tested, too: that costs no label."""
        self.forecast: Forecast | None = None
        """What sizes are likely to reach, once the first labels are there."""
        self.held_out: list[float] = []
        """For each size the share of errors that the trees of the last portion but one made on the last one."""

    def learn(self) -> Steps[str]:
        """Buy labels for as long as they pay; why it ended."""
        wanted = FIRST
        while True:
            before = len(self._pool)
            reason = yield from self._buy(wanted)
            if len(self._pool) > before or not self._curves:
                gain = self._judge(before)
                yield from self._walk(before)
                self._foresee()
                reason = reason or self._hopeless()
                enough = self._enough(gain)
                yield from self._fit(bool(reason or enough))
                reason = enough or reason
            if reason:
                return reason
            wanted = 2 * len(self._pool)

    def _enough(self, gain: float) -> str:
        """Why labels do not pay any more; nothing while they do.

        As many labels again as the run will have taken in all, tests included, are more than as many to learn from.
        """
        if not self.held_out:
            return ""
        free = self._source.most == math.inf and self._session.attempts.tolerance is None  # a table has few inputs more
        if free and len(self._pool) >= self._effort.early and self.held_out[-1] <= 2 * _SELDOM * self.held_out[0]:
            return f"the largest tree errs {0.5 / _SELDOM:.0f} times less often than the best constant"
        level = level_in(FRONTIER, 1, self._session.attempts.delta)
        tests = max(needed_for(error, level) for error in self.held_out)
        if gain * math.log2(2 + tests / len(self._pool)) > self._effort.gain:
            return ""
        return f"no size would gain {self._effort.gain:.0%} of its error from as many labels again"

    def _foresee(self) -> None:
        """Say what the sizes are likely to reach, before the expensive part."""
        if self.forecast is None and len(self._pool) >= FIRST and self._session.attempts.tolerance is None:
            inner, codes, product = self._pool.inner, self._pool.codes, self._source.product
            delta, watch = self._session.attempts.delta, self._counted.watch
            self.forecast = forecast(product, inner, codes, self.sizes, delta, watch)
            for one in self.forecast.prospects:
                self._session.observer(Foreseen(self._counted.asked, one.leaves, one.low, one.high))

    def _hopeless(self) -> str:
        """Why labels would be wasted; nothing where they would not, or a budget says that they may be spent."""
        budget = self._counted.budget
        told = (
            self._effort is not EFFORTS["queries"] or budget.max_queries is not None or budget.max_seconds is not None
        )
        if told or self.forecast is None or not self.forecast.hopeless or self._learner is not None:
            return ""
        return f"hopeless ({self.forecast}); give max_queries to go on"

    def _buy(self, wanted: int) -> Steps[str]:
        """The next portion, as far as there is one; why there will be no other."""
        limit, most, reason = self._counted.budget.max_queries, self._effort.most, ""
        rows = min(wanted, most) - len(self._pool)
        if limit is not None:
            allowed = int(LATE * limit) - self._counted.asked
            if rows >= allowed:
                rows, reason = max(allowed, 0 if len(self._pool) else 1), f"max_queries = {limit}"
        if rows >= self._source.labels_left:
            rows, reason = int(self._source.labels_left), f"the table's {self._source.most:,.0f} rows for learning"
        if len(self._pool) + rows >= most:
            reason = reason or f"{most:,} labels to learn from"
        yield from self._pool.buy(len(self._pool) + rows, self._to_stand)
        return reason

    def _walk(self, before: int) -> Steps[None]:
        """Show the learner over bits the first labels, a few at a time."""
        for start in range(before, min(len(self._pool), _WALKED), _SHOWN):
            if self._learner is not None:
                some = slice(start, start + _SHOWN)
                yield from self._learner.learn(self._pool.inner[some], self._pool.codes[some])

    def _to_stand(self) -> list[Tree]:
        return [*(self._curves[-1][-1:] if self._curves else ()), self._pool.constant()]

    def _judge(self, before: int) -> float:
        """What the best of all sizes gained from the labels of the last portion but one, by those of the last.

        As many labels again are taken to bring half of that: errors fall to a level that is not 0.
        """
        new, codes = self._pool.inner[before:], self._pool.codes[before:]
        if not self._curves or not len(codes):
            return 1.0
        labels = self._counted.labels(codes)
        wrong = partial(self._wrong, new, labels)
        errors = [[wrong(tree) / len(new) for tree in trees] for trees in self._curves[-2:]]
        self.held_out = errors[-1]
        for tree, error in zip(self._curves[-1], errors[-1], strict=True):
            self._session.judge(tree.size, error, None)
        if len(errors) == 1 or len(self._pool) < LEAST:
            return 1.0
        # No error falls below 0, and a bound does not tell an error from another that is closer than SLACK.
        gains = [min((old - now) / 2, now) / max(now, SLACK) for old, now in zip(*errors, strict=True)]
        return float(max(gains))

    def _fit(self, over: bool) -> Steps[None]:
        """One tree of each size for all labels so far; where they are the last ones, a long search, with free inputs.

        Where learners of several kinds do not agree on a few of these, the target is asked about them.
        """
        found = sized_trees(self._session, self._pool, self.sizes, self._seed, self._free() if over else 0)
        steps = self._effort.steps if over else self._effort.steps // _BRIEF
        self._curves.append([])
        self._search(found, over, partial(found.improve, steps, again=over))
        if over and isinstance(found, SizedTrees):
            agreed = yield from self._settle(found)
            self._search(found, over, partial(found.go_on, steps, agreed))
            self._rivals = found.rivals()

    def _settle(self, found: SizedTrees) -> Steps[bool]:
        """Ask about free inputs that learners do not agree on, and about those that they then differ on; if few do."""
        agreed, left = False, self._to_ask()
        for _ in range(_TIMES):
            doubted = found.doubted(left)
            if len(doubted) > left:
                break
            agreed, left = True, left - len(doubted)
            if not len(doubted):
                break
            answered = yield Ask(doubted, "label")
            found.tell(answered.codes)
            self._settled.add(answered)
        return agreed

    def _free(self) -> int:
        """Free inputs that help a search."""
        usual, most = min(FREE * len(self._pool), MOST_FREE), _VALUES // len(self._source.product)
        return max(usual, min(_MANY_FREE, most)) if self._seldom else usual

    @property
    def _seldom(self) -> bool:
        """Whether the largest tree errs so seldom that labels of drawn inputs say little about where."""
        return bool(self.held_out) and self.held_out[-1] <= _SELDOM

    def _to_ask(self) -> int:
        """Labels that may be spent on inputs that are in doubt."""
        limit, some = self._counted.budget.max_queries, int((_MANY if self._seldom else _DOUBTED) * len(self._pool))
        return some if limit is None else min(some, int(LATE * limit) - self._counted.asked)

    def _search(self, found: SizedTrees | NumberTrees, over: bool, search: Callable[[], None]) -> None:
        """Search, and take over the trees that were found.

        Where the last labels need fewer leaves than were allowed, the sizes that are tested lie closer together.
        """
        try:
            search()
        finally:  # where the time is over, what was found is known
            sizes = found.spread() if over else self.sizes
            self._curves[-1] = found.trees(sizes)
        wrong = partial(self._wrong, self._pool.inner, self._counted.labels(self._pool.codes))
        for place, tree in enumerate(self._substitutes(sizes)):
            self._curves[-1][place] = min(self._curves[-1][place], tree, key=wrong)

    def _wrong(self, inner: NDArray[Any], labels: NDArray[Any], tree: Tree) -> int:
        return int(apart(tree.predict_inner(inner), labels, self._session.attempts.tolerance).sum())

    def _substitutes(self, sizes: Sequence[int]) -> list[Tree]:
        """What comes closest to the learner's tree over bits, with each number of leaves."""
        space, book = self._source.independent, self._counted.book
        if self._learner is None or self._learner.sketch is None or space is None:
            return []
        tree = build(space, self._learner.sketch, book.sorted(), book.ranks())
        found = SmallestSubstitutes(tree, space, (), QUICK, self._counted.watch)
        return [found.with_leaves(min(size, tree.size)) for size in sizes]

    def test(self) -> Steps[str]:
        """Open an attempt for each size, and count answers until they say enough of every tree; no reason more."""
        under_test = self.open()
        learnt = {one: self.mistakes(one.tree) for one in under_test}
        while not all(map(_close, under_test)) or self._hidden(learnt):
            yield Tests(max(_TESTS, under_test[0].samples // _PART))
            for attempt in under_test:
                self._session.judge(attempt.tree.size, attempt.rate, attempt)
        return ""

    def mistakes(self, tree: Tree) -> int:
        """A tree's mistakes among all answers that taught, those about chosen inputs too."""
        some = (one for one in (self._pool, self._settled) if len(one))
        return sum(self._wrong(one.inner, self._counted.labels(one.codes), tree) for one in some)

    def _hidden(self, learnt: Mapping[Attempt, int]) -> bool:
        """Whether a tree is behind a smaller one that has twice its mistakes among the answers that taught.

        Where mistakes are rare, bounds are close to them long before they tell such trees apart.
        """
        pairs = ((one, two) for one in learnt for two in learnt if one.tree.size < two.tree.size)
        return any(
            one.samples < _APART * max(len(self._pool), len(self._settled) and LEAST)
            and halved(learnt[two], learnt[one])
            and one.error_bound <= two.error_bound
            for one, two in pairs
        )

    def open(self) -> list[Attempt]:
        """An attempt for the tree of each size, and for the best constant where nothing was fitted; and for rivals.

        Those have what is left of delta, so they take no part of it from the others.
        """
        if not self._curves and len(self._pool):  # the budget ended before anything was fitted
            next(self._fit(over=False), None)  # a short search asks nothing
        trees = self._curves[-1] if self._curves else [self._pool.constant()]
        first = len(dict.fromkeys(trees))
        every = list(dict.fromkeys([*trees, *self._rivals]))[: 2 * ROUND]
        return [self._session.attempts.open(tree) for tree in every][:first]


def _close(attempt: Attempt) -> bool:
    return attempt.samples > 0 and attempt.error_bound <= TIGHT * attempt.rate + SLACK


def learn_and_test(session: Session, strategy: FrontierStrategy) -> str:
    """Learn, then test what was learnt, whatever ended the learning; why the run ended."""
    counted = session.counted
    try:
        reason = session.run(strategy.learn())
    except BudgetSpent as stop:
        reason = str(stop)
    except KeyboardInterrupt:
        if not counted.book.seen:
            raise
        return "interrupted"
    if not counted.book.seen:
        raise ParameterError("max_queries and max_seconds must allow some labels; the budget ended before the first")
    counted.reserve = None
    try:
        return session.run(strategy.test()) or reason
    except BudgetSpent as stop:
        return str(stop)
    except KeyboardInterrupt:
        return "interrupted"
