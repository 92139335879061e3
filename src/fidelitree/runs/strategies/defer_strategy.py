"""``distill(defer=True)``: trees of many sizes that ask the target where no small tree will do.

Three kinds of answers are kept apart. Of those that teach, three quarters grow trees, for several prices of a deferred
input (`search.local.deferred`). The last quarter chooses for each size the tree, and how many of its leaves answer: the
most coverage with an error that is likely to pass its test, once boldly, once as usual and once with caution. Then an
attempt is opened for each, and only then the tests are drawn that count, for all of them together. Where they fail,
safer ones follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.deferral import DeferringAttempt
from fidelitree.errors import ParameterError
from fidelitree.runs.frontier_result import Frontier
from fidelitree.runs.goal import Goal, result_of
from fidelitree.runs.input_source import source_of
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.session import Session
from fidelitree.runs.strategies.frontier_strategy import EFFORTS, Effort, FrontierStrategy, learn_and_test
from fidelitree.runs.strategies.sized_trees import LARGEST
from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.local.deferred import improve, searches
from fidelitree.search.questions import Steps, Tests
from fidelitree.theory.sequential import FRONTIER, ROUND, level_in
from fidelitree.trees.answers import DEFER, tally
from fidelitree.trees.nested import build, of, simplest

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.asking.events import Observer
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]
NIL = 0.1
"""A tree that answers less than this is not worth a test."""
PATIENT = {"queries": Effort(0.03, 32_000, 150), "leaves": Effort(0.03, 64_000, 450)}
"""When it has learnt enough where a budget is given: purer leaves take more labels than a smaller error."""
DOUBTS = ((0.0, 1.2, 3.0), (4.0, 6.0))
"""Standard deviations of a held-out error between it and what is likely to pass: where attempts fail, safer ones
follow."""
TESTS = 20_000
"""Answers that tests may take where no budget is given."""
_OVERSHOOT = 1.5  # times ln(1/level)/divergence: what a test takes
_LOWEST = 1 / 3  # over epsilon: no lower error is aimed at
_WORTH = 0.01  # of coverage must be gained by another attempt
_SEARCHED = 5  # sizes, the largest ones: their searches find the smaller trees, too
_WORK = 2e6  # label counts of one look at all rows, up to which all proposals of an effort are made
_FEWEST = 10  # proposals
_TOGETHER = 3 * ROUND  # attempts that are opened at once
_SMALLEST = 3  # leaves, from which on sizes are evenly spread
_LARGER = 1.15  # times the leaves: where siblings defer they are one leaf
_PORTION, _PART = 100, 8  # answers between two looks: at least, and one in so many of those counted


@dataclass(frozen=True)
class Candidate:
    """A tree with what it answers, and how well, by answers that did not grow it."""

    tree: Tree
    coverage: float
    error: float


class DeferStrategy(FrontierStrategy):
    """Learns as a frontier does; what it tests may defer."""

    def __init__(self, session: Session, sizes: Sequence[int], effort: Effort, seed: int) -> None:
        super().__init__(session, sizes[-_SEARCHED:], effort, seed)
        self._allowed = sizes
        self._coverage: dict[Tree, float] = {}
        """Of trees under test, by the answers that chose them."""

    def _hopeless(self) -> str:
        return ""  # a target that no small tree follows is what deferring is for

    def _enough(self, gain: float) -> str:
        """By the labels alone: how many tests there will be, and of what, is not known."""
        told = f"no size would gain {self._effort.gain:.0%} of its error from as many labels again"
        return told if gain <= self._effort.gain else ""

    def _fit(self, over: bool) -> Steps[None]:
        """Trees that defer nothing, which only tell whether more labels pay: no long search for them."""
        yield from super()._fit(over=False)

    def test(self) -> Steps[str]:
        """Open an attempt for each size, and safer ones for those that fail, until nothing is to be gained; why."""
        epsilon, shapes = self._session.attempts.epsilon, list(self._shapes())
        for doubts in DOUBTS:
            chosen = self._chosen(shapes, doubts)
            if not chosen and not self._session.attempts.all:
                return self._nil()
            yield from self._count(chosen)
        done = any(one.certifies(epsilon) for one in self._session.attempts.all)
        return "certified" if done else "no attempt is likely to succeed"

    def _nil(self) -> str:
        """An attempt for a tree that defers everything, which needs no test."""
        labels, epsilon = [*self._counted.book.sorted(), DEFER], self._session.attempts.epsilon
        tree = build(self._source.product, len(labels) - 1, labels)
        self._session.attempts.open(tree, made=DeferringAttempt)
        return f"coverage is nil: no tree was found that answers {NIL:.0%} of inputs with an error of {epsilon:g}"

    def _count(self, under_test: Sequence[Candidate]) -> Steps[None]:
        """Tests until each attempt is certified, or has no chance, or answers no more than others that are."""
        start, attempts = self._counted.asked, self._session.attempts
        opened = [(one, attempts.open(one.tree, made=DeferringAttempt)) for one in under_test]
        while any(self._open(*both, self._left(start)) for both in opened):
            yield Tests(max(_PORTION, max(attempt.samples for _, attempt in opened) // _PART))
            for _, attempt in opened:
                self._session.judge(attempt.tree.size, attempt.rate, attempt)

    def _open(self, one: Candidate, attempt: Attempt, left: int) -> bool:
        """Whether answers may still certify it, and that would tell more."""
        epsilon = self._session.attempts.epsilon
        return not attempt.certifies(epsilon) and attempt.likely(epsilon, left) and self._gains(one)

    def _gains(self, one: Candidate) -> bool:
        """Whether it answers more than what is certified with as many leaves."""
        attempts = self._session.attempts
        sure = [
            self._coverage[two.tree]
            for two in attempts.all
            if two.tree.size <= one.tree.size and two.certifies(attempts.epsilon)
        ]
        return one.coverage > max(sure, default=0.0) + _WORTH

    def _left(self, start: int) -> int:
        """Answers that tests may still take."""
        most = self._counted.budget.max_queries
        return (TESTS + start if most is None else most) - self._counted.asked

    def _chosen(self, shapes: Sequence[_Shape], doubts: Sequence[float]) -> list[Candidate]:
        """For each size and doubt the best tree, if it answers more than what is certified; the largest sizes first."""
        found = sorted((one for doubt in doubts for one in self._best(shapes, doubt)), key=lambda one: -one.tree.size)
        chosen = [one for one in found if self._session.attempts.of(one.tree) is None and self._gains(one)]
        self._coverage |= {one.tree: one.coverage for one in chosen[:_TOGETHER]}
        return list({one.tree: one for one in chosen[:_TOGETHER]}.values())

    def _best(self, shapes: Sequence[_Shape], doubt: float) -> list[Candidate]:
        """From one leaf up, each larger tree with more coverage."""
        found = [shape.candidate(partial(self._aim, doubt)) for shape in shapes]
        chosen: list[Candidate] = []
        for size in self._allowed:
            options = [one for one in found if one is not None and one.tree.size <= size]
            best = max(options, key=lambda one: (one.coverage, -one.tree.size, -one.error), default=None)
            if best is not None and best.coverage > (chosen[-1].coverage if chosen else 0):
                chosen.append(best)
        return chosen

    def _aim(self, doubt: float, coverage: Floats, held: int) -> Floats:
        """The held-out error at which a tree that answers so much is likely to pass its test.

        ``doubt`` is in standard deviations of that error: 0 is bold.
        """
        attempts, limit = self._session.attempts, self._counted.budget.max_queries
        epsilon, tests = attempts.epsilon, TESTS if limit is None else max(1, limit - self._counted.asked)
        tests = int(min(tests, self._source.tests_left))
        spread_of = 2 * epsilon * (1 - epsilon) / np.maximum(coverage, 1e-9)
        level = level_in("frontier", 1, attempts.delta)
        margin = np.sqrt(spread_of * _OVERSHOOT * -math.log(level) / max(1, tests))
        deviation = np.sqrt(spread_of / 2 / max(1, held))
        return np.asarray(np.maximum(_LOWEST * epsilon, epsilon - margin - doubt * deviation))

    def _shapes(self) -> Iterator[_Shape]:
        """Trees of all sizes and prices; none where labels are few.

        The frontier's own trees are not among them: the answers that choose have taught them. Over bits its learner has
        seen few answers as they come, and finds what no search for splits does.
        """
        pool, book = self._pool, self._counted.book
        if len(pool) < HELD:
            return
        growing = np.arange(len(pool)) % HELD != HELD - 1
        sides = [(pool.inner[some], self._counted.labels(pool.codes[some])) for some in (growing, ~growing)]
        classes = book.sorted()
        for tree in [*self._substitutes(self._allowed), *self._deferring(growing)]:
            counts = [tally(tree, *side, classes) for side in sides]
            yield _Shape(self._source.product, tree, classes, *counts)

    def _deferring(self, growing: NDArray[np.bool_]) -> Iterator[Tree]:
        """Trees grown for several prices of a deferred input.

        Some are larger than allowed: where siblings come to defer they are one leaf.
        """
        pool, book, watch = self._pool, self._counted.book, self._counted.watch
        binning, epsilon = Binning.of(self._source.product, pool.inner), self._session.attempts.epsilon
        rows, code, sizes = binning.coded(pool.codes[growing], growing), len(book.seen), self.sizes
        share = _WORK / (rows.bins.size * (code + 1) * len(sizes))
        steps = max(_FEWEST, int(self._effort.steps * min(1.0, share)))
        ranks, labels = [*book.ranks(), code], [*book.sorted(), DEFER]
        wanted = sorted({round(some * size) for size in self._allowed for some in (1, _LARGER)})
        for search in searches(rows, code, epsilon, sizes, self._seed, watch):
            improve(search, sizes, steps)
            yield from (binning.tree(search.with_leaves(size).tree, ranks, labels) for size in wanted)


def sizes_of(most: int) -> list[int]:
    """Numbers of leaves up to ``most``, nine of them evenly spread from three leaves on, on a logarithmic scale.

    >>> sizes_of(64), sizes_of(4), sizes_of(1)
    ([1, 2, 3, 4, 6, 9, 14, 20, 30, 44, 64], [1, 2, 3, 4], [1])
    """
    spread = np.geomspace(min(_SMALLEST, most), most, ROUND).tolist()
    return sorted({*range(1, min(_SMALLEST, most)), *map(round, spread)})


@dataclass(frozen=True, eq=False)
class _Shape:
    """A tree whose leaves are still to answer or to defer; counts by leaf and label of growing and of held rows."""

    product: ProductSpace
    tree: Tree
    classes: Sequence[Any]
    grown: NDArray[Any]
    held: NDArray[Any]

    def candidate(self, aim: Callable[[Floats, int], Floats]) -> Candidate | None:
        """With the most leaves that answer and are good enough together, those with the smallest error first.

        ``aim`` is the error for each coverage, judged by so many held-out answers.
        """
        grown, rows = self.grown, self.held.sum(axis=1)
        own, each = grown.argmax(axis=1), np.arange(len(grown))
        # A leaf with few rows looks better than it is: one error more.
        rate = (grown.sum(axis=1) - grown[each, own] + 1) / (grown.sum(axis=1) + 1)
        order = np.argsort(rate, kind="stable")
        own_rows, wrong = np.cumsum(rows[order]), np.cumsum((rows - self.held[each, own])[order])
        coverage, error = own_rows / max(1, rows.sum()), wrong / np.maximum(1, own_rows)
        good = np.flatnonzero((coverage >= NIL) & (error <= aim(coverage, int(rows.sum()))))
        if not len(good):
            return None
        place = int(good[np.argmax(coverage[good])])
        return Candidate(self._deferring(own, order[place + 1 :]), float(coverage[place]), float(error[place]))

    def _deferring(self, own: NDArray[np.intp], deferred: NDArray[np.intp]) -> Tree:
        """The tree with these leaves deferred, and the labels of their rows in all others."""
        codes = own.copy()
        codes[deferred] = len(self.classes)
        left = iter(codes.tolist())  # leaves come in the order of their nodes
        labels = [*self.classes, DEFER] if len(deferred) else self.classes
        return build(self.product, simplest(of(self.tree, lambda _: next(left))), labels)


def check_deferring(epsilon: float | None, strategy: str, tolerance: float | None) -> None:
    """Refuse what a tree that defers cannot have."""
    if strategy != "auto":
        raise ParameterError(f'strategy must be "auto" with defer=True; got {strategy!r}')
    if epsilon is None:
        raise ParameterError("epsilon must be a number with defer=True: the error where the tree answers; got None")
    if epsilon == 0:
        raise ParameterError("epsilon must be above 0 with defer=True: errors are counted on draws; got 0")
    if tolerance is not None:
        raise ParameterError(f"tolerance must be None with defer=True, whose leaves hold labels; got {tolerance}")


def distil_deferring(counted: Counted, space: World, goal: Goal, observer: Observer) -> Distillation:
    """Of the trees that pass their test the last one whose leaves are each worth their price in coverage.

    Who gave ``max_leaves`` gets the most coverage within it.
    """
    source, most = source_of(space, goal.seed, together=True), counted.budget.max_leaves
    session = Session.of(counted, source, goal, observer, FRONTIER)
    efforts = EFFORTS if counted.budget.max_queries is None else PATIENT
    effort = efforts["leaves" if goal.few_leaves else "queries"]
    reason = learn_and_test(session, DeferStrategy(session, sizes_of(most or LARGEST), effort, goal.seed))
    attempts = session.attempts
    good = [one for one in attempts.live if one.certifies(goal.epsilon)]
    if not good:
        return _point(session, _nearest(session), goal, reason)
    points = [_point(session, one, goal, "certified") for one in good]
    curve = Frontier.of(points, goal.delta, most or LARGEST)
    chosen = curve.points[-1] if most is not None else curve.knee
    others = (replace(one, certificate=replace(one.certificate, epsilon=None)) for one in curve.points)
    marked = tuple(chosen if one.leaves == chosen.leaves else one for one in others)
    return replace(chosen, curve=replace(curve, points=marked))


def _nearest(session: Session) -> Attempt:
    """What a run that certifies nothing has to show: the smallest bound; before tests, that of what stands."""
    attempts = session.attempts
    if not attempts.live:
        attempts.open(session.always(session.counted.book.sorted()[0]), written_down=False)
    return min(attempts.all or attempts.live, key=lambda one: (one.error_bound, one.tree.size))


def _point(session: Session, attempt: Attempt, goal: Goal, reason: str) -> Distillation:
    return result_of(Outcome(attempt.tree, attempt, 0.0), session, goal, reason)
