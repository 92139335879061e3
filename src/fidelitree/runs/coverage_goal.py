"""The goal of ``distill(defer=True)``: trees of many sizes that ask the target where no small tree will do.

Learning goes as it does for a frontier. Of the answers that taught, three quarters then grow trees, for several prices
of a deferred input (`search.local.deferred`). The last quarter chooses for each size the tree, and how many of its
leaves answer: the most coverage with an error that is likely to pass its test, boldly and with more and more caution.
An attempt is opened for each, and only then the tests are drawn that count, for all of them together; they teach
nothing, since nobody was asked about inputs that all of them defer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.deferral import DeferringAttempt
from fidelitree.runs import economics
from fidelitree.runs.learning import Effort, EverySize, Learning
from fidelitree.search.archive import affordable
from fidelitree.search.labelled import HELD, Binning
from fidelitree.search.local.deferred import PRICES, improve, searches
from fidelitree.search.optimal.substitutes import SmallestSubstitutes
from fidelitree.theory.sequential import FRONTIER, level_in
from fidelitree.trees.answers import DEFER, tally
from fidelitree.trees.nested import build, of, simplest

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.loop import Loop
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]
SEARCHED = 5
"""Sizes that are searched for, the largest ones: their searches find the smaller trees, too."""


@dataclass(frozen=True)
class Deferring:
    """A tree with what it answers, and how well, by answers that did not grow it."""

    tree: Tree
    coverage: float
    error: float


class CoverageGoal(EverySize):
    """The most inputs answered with an error of at most epsilon, for every size."""

    def __init__(self, epsilon: float, sizes: Sequence[int], effort: Effort, seed: int) -> None:
        self.sizes, self._allowed = list(sizes)[-SEARCHED:], list(sizes)
        self._epsilon, self._effort, self._seed = epsilon, effort, seed
        self._ended = ""
        self._under_test: list[tuple[Deferring, Attempt]] = []
        self._coverage: dict[Tree, float] = {}
        """Of trees under test, by the answers that chose them."""
        self._nil = ""
        """Why no tree answers anything, if so."""
        self._started = 0
        """Labels when attempts were opened; 0 while answers teach."""

    @property
    def learning(self) -> bool:
        """Whether answers are still to teach."""
        return not self._started

    def close(self, why: str) -> None:
        """End learning: what was learnt is opened before anything else is asked."""
        self._ended = why

    def needed(self, loop: Loop[str]) -> float:
        """Return the answers to the next fit, to the end of learning, or to another look at the bounds."""
        if self.learning:
            learning = Learning(self._effort, loop)
            return min(learning.left, learning.until_fit)
        most = max((attempt.samples for _, attempt in self._under_test), default=0)
        return max(economics.FIRST, economics.PART_OF_TEST * most)

    def done(self, loop: Loop[str]) -> str | None:
        """Return why the run is over, once nothing is to be gained by more tests."""
        if self._nil:
            return self._nil
        if self.learning or any(self._hopeful(loop, *both) for both in self._under_test):
            return None
        certified = any(one.certifies(self._epsilon) for one in loop.attempts.all)
        return "certified" if certified else "no attempt is likely to succeed"

    def open(self, loop: Loop[str]) -> None:
        """Open attempts once learning is over."""
        if not loop.known or self._started:
            return
        self._ended = self._ended or Learning(self._effort, loop).over(self.sizes)
        if not self._ended:
            return
        chosen = self._chosen(loop, list(self._grown(loop)))
        self._started = loop.counted.asked
        self._under_test = [(one, loop.attempts.open(one.tree, made=DeferringAttempt)) for one in chosen]
        if not self._under_test:
            self._open_nil(loop)

    def _hopeful(self, loop: Loop[str], one: Deferring, attempt: Attempt) -> bool:
        """Whether answers may still certify it, and that would tell more."""
        most = loop.counted.budget.max_queries
        left = (economics.MOST + self._started if most is None else most) - loop.counted.asked
        return not attempt.certifies(self._epsilon) and attempt.likely(self._epsilon, left) and self._gains(loop, one)

    def _gains(self, loop: Loop[str], one: Deferring) -> bool:
        """Whether it answers more than what is certified with as many leaves."""
        certified = [two for two in loop.attempts.all if two.certifies(self._epsilon)]
        sure = [self._coverage[two.tree] for two in certified if two.tree.size <= one.tree.size]
        return one.coverage > max(sure, default=0.0) + economics.LEAST_COVERAGE

    def _open_nil(self, loop: Loop[str]) -> None:
        """Open an attempt for a tree that defers everything, which needs no test."""
        labels = [*loop.counted.book.sorted(), DEFER]
        loop.attempts.open(build(loop.source.product, len(labels) - 1, labels), made=DeferringAttempt)
        least, epsilon = economics.NIL, self._epsilon
        self._nil = (
            f"coverage is nil: no tree was found that answers {least:.0%} of inputs with an error of {epsilon:g}"
        )

    def _chosen(self, loop: Loop[str], shapes: Sequence[Shape]) -> list[Deferring]:
        """For each size and doubt the best tree, the largest sizes first."""
        found = (one for doubt in range(economics.DOUBTS) for one in self._best(loop, shapes, doubt))
        chosen = {one.tree: one for one in sorted(found, key=lambda one: -one.tree.size)}
        self._coverage = {tree: one.coverage for tree, one in chosen.items()}
        return list(chosen.values())

    def _best(self, loop: Loop[str], shapes: Sequence[Shape], doubt: float) -> list[Deferring]:
        """From one leaf up, each larger tree with more coverage."""
        found = [shape.candidate(partial(self._aim, loop, doubt)) for shape in shapes]
        chosen: list[Deferring] = []
        for size in self._allowed:
            options = [one for one in found if one is not None and one.tree.size <= size]
            best = max(options, key=lambda one: (one.coverage, -one.tree.size, -one.error), default=None)
            if best is not None and best.coverage > (chosen[-1].coverage if chosen else 0):
                chosen.append(best)
        return chosen

    def _aim(self, loop: Loop[str], doubt: float, coverage: Floats, held: int) -> Floats:
        """The held-out error at which a tree that answers this much is likely to pass its test.

        ``doubt`` is in standard deviations of that error: 0 is bold.
        """
        epsilon, left = self._epsilon, loop.counted.left
        tests = min(economics.MOST if left is None else left, loop.source.tests_left)
        spread_of = 2 * epsilon * (1 - epsilon) / np.maximum(coverage, 1e-9)
        level = level_in(FRONTIER, 1, loop.attempts.delta)
        margin = np.sqrt(spread_of * -math.log(level) / max(1, tests))
        deviation = np.sqrt(spread_of / 2 / max(1, held))
        return np.asarray(np.maximum(economics.LOWEST_AIM * epsilon, epsilon - margin - doubt * deviation))

    def _grown(self, loop: Loop[str]) -> Iterator[Shape]:
        """Trees of all sizes and prices; none where labels are few.

        The trees of the archive are not among them: the answers that choose have taught them. Over bits the inquiry has
        seen few answers as they come, and finds what no search for splits does.
        """
        archive, counted = loop.archive, loop.counted
        if len(archive) < HELD:
            return
        growing = np.arange(len(archive)) % HELD != HELD - 1
        sides = [(archive.inner[some], counted.labels(archive.codes[some])) for some in (growing, ~growing)]
        classes = counted.book.sorted()
        for tree in [*self._substitutes(loop), *self._deferring(loop, growing)]:
            counts = [tally(tree, *side, classes) for side in sides]
            yield Shape(loop.source.product, tree, classes, *counts)

    def _substitutes(self, loop: Loop[str]) -> list[Tree]:
        """What comes closest to the inquiry's tree, with each number of leaves."""
        tree, space = loop.inquiry.tree, loop.source.independent
        if tree is None or space is None:
            return []
        found = SmallestSubstitutes(tree, space, watch=loop.counted.watch)
        return [found.with_leaves(min(size, tree.size)) for size in self._allowed]

    def _deferring(self, loop: Loop[str], growing: NDArray[np.bool_]) -> Iterator[Tree]:
        """Trees grown for several prices of a deferred input."""
        archive, book = loop.archive, loop.counted.book
        binning = Binning.of(loop.source.product, archive.inner)
        rows, code = binning.coded(archive.codes[growing], growing), len(book.seen)
        steps = affordable(rows, 2 * PRICES * len(self.sizes), self._effort.steps // PRICES)
        ranks, labels = [*book.ranks(), code], [*book.sorted(), DEFER]
        for search in searches(rows, code, self._epsilon, self.sizes, self._seed, loop.counted.watch):
            improve(search, self.sizes, steps)
            yield from (binning.tree(search.with_leaves(size).tree, ranks, labels) for size in self._allowed)


@dataclass(frozen=True, eq=False)
class Shape:
    """A tree whose leaves are still to answer or to defer; counts by leaf and label of growing and of held rows."""

    product: ProductSpace
    tree: Tree
    classes: Sequence[Any]
    grown: NDArray[Any]
    held: NDArray[Any]

    def candidate(self, aim: Callable[[Floats, int], Floats]) -> Deferring | None:
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
        good = np.flatnonzero((coverage >= economics.NIL) & (error <= aim(coverage, int(rows.sum()))))
        if not len(good):
            return None
        place = int(good[np.argmax(coverage[good])])
        return Deferring(self._deferring(own, order[place + 1 :]), float(coverage[place]), float(error[place]))

    def _deferring(self, own: NDArray[np.intp], deferred: NDArray[np.intp]) -> Tree:
        """The tree with these leaves deferred, and the labels of their rows in all others."""
        codes = own.copy()
        codes[deferred] = len(self.classes)
        left = iter(codes.tolist())  # leaves come in the order of their nodes
        labels = [*self.classes, DEFER] if len(deferred) else self.classes
        return build(self.product, simplest(of(self.tree, lambda _: next(left))), labels)
