"""One run of a learner: the answers it buys, the tests of its trees, and what it returns.

Labels for learning and inputs for tests come from streams of their own. A tree that is put to the test has an attempt
opened for it, which counts only inputs drawn since and spends its share of delta (`attempts`); nothing that was counted
teaches a learner. Where every input is asked the error is known, and the certificate is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Finished, Observer, TreeJudged, nobody
from fidelitree.asking.journal.ledger import LABEL
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.memory import CHECKED, Memory
from fidelitree.asking.needs import REMEMBERED_BYTES
from fidelitree.asking.tabulate import tabulate
from fidelitree.certificates.attempts import FAIR_TRIAL, LATE, LOOK, Attempts, Standing
from fidelitree.errors import ParameterError, check_count, check_delta, check_epsilon, check_observer
from fidelitree.exact.engine import ENUMERATE_UNASKED, free_of_charge
from fidelitree.runs.auto import Outcome
from fidelitree.runs.finishes import best_so_far
from fidelitree.runs.reserve import use_reserve
from fidelitree.runs.result import Distillation
from fidelitree.runs.sealing import Wanted, exact_certificate, tested_certificate
from fidelitree.runs.supply import source_of
from fidelitree.search.labelled import Labelled
from fidelitree.search.prune import Prunings
from fidelitree.spaces.product import ProductSpace, product_of
from fidelitree.spaces.region import Region
from fidelitree.spaces.rows import Rows
from fidelitree.targets.fitted import warn_if_fitted
from fidelitree.targets.labels import Target
from fidelitree.targets.table import enumerate_inputs
from fidelitree.trees.tree import Tree

FIRST = 256  # labels
MOST_LABELS = 1 << 16
_LEARNING = 0.7  # of the time that a run may take
BATCH = 16
_GRAINS = 2.0**50  # probabilities are weighed in grains, so that sums and differences of weights are exact

CERTIFIED = "certified"


class Limits(TypedDict, total=False):
    """What every learner can be told besides epsilon, delta and seed."""

    max_queries: int | None
    max_leaves: int | None
    max_seconds: float | None
    observer: Observer


class Lesson:
    """What a learner works with; `run` turns what it does into a result."""

    def __init__(self, counted: Counted, space: ProductSpace | Rows, wanted: Wanted, observer: Observer) -> None:
        self.counted, self.space, self.wanted = counted, space, wanted
        assert wanted.epsilon is not None, "a learner is told its epsilon"
        self.epsilon: float = wanted.epsilon
        self.source = source_of(space, wanted.seed)
        self.attempts = attempts = Attempts(wanted.epsilon, wanted.delta)
        counted.reserve = lambda: not attempts.certified
        self._observer = observer
        self._history: list[TreeJudged] = []
        self._inner = np.empty((0, len(counted.space)), counted.space.dtype)
        self._codes = np.empty(0, np.intp)
        self._table: NDArray[np.intp] | None = None
        self._last: Tree | None = None
        self._known: tuple[Tree, float] | None = None

    @classmethod
    def begin(
        cls, target: Target, space: ProductSpace | Rows, promise: tuple[float, float, int], limits: Mapping[str, Any]
    ) -> Lesson:
        """A run with epsilon, delta and seed as promised, within limits."""
        for name in limits:
            if name not in Limits.__annotations__:
                raise ParameterError(
                    f"a learner's options must be its own or {', '.join(Limits.__annotations__)}; got {name!r}"
                )
        epsilon, delta, seed = promise
        budget = Budget(limits.get("max_queries"), limits.get("max_leaves"), limits.get("max_seconds"))
        wanted = Wanted(check_epsilon(epsilon), check_delta(delta), check_count("seed", seed, least=0))
        product = product_of(space)
        if isinstance(space, Rows):
            warn_if_fitted(target, space, wanted.seed, level=4)
        counted = Counted(target, product, Memory.within(REMEMBERED_BYTES, product, CHECKED), budget)
        observer = limits.get("observer", nobody)
        check_observer(observer)
        return cls(counted, space, wanted, observer)

    def run(self, teach: Callable[[], str]) -> Distillation:
        """What comes of a lesson; ``teach`` says why it ended, a budget may end it before."""
        try:
            reason = teach()
        except (BudgetSpent, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and not self.counted.book.seen:
                raise
            reason = str(stop) or "interrupted"
            self.counted.reserve = None
            if self._last is not None and not self.attempts.all and not isinstance(stop, KeyboardInterrupt):
                try:  # what is left of the budget gives the last tree a bound
                    reason = CERTIFIED if self.test(self._last) else reason
                except KeyboardInterrupt:
                    reason = f"{reason}, then interrupted"
                except BudgetSpent:
                    pass
            elif not isinstance(stop, KeyboardInterrupt):
                reason = use_reserve(self, reason)
        result = self._result(reason)
        self._observer(Finished(self.counted.asked, result.tree.size, result.certificate.error_bound, reason))
        return result

    def watch(self) -> None:
        """Ends learning while there is time left for a test."""
        budget = self.counted.budget
        if budget.max_seconds is None:
            return
        try:
            replace(budget, max_seconds=_LEARNING * budget.max_seconds).check(0)
        except BudgetSpent:
            raise BudgetSpent(f"max_seconds = {budget.max_seconds:g}") from None

    @property
    def product(self) -> ProductSpace:
        """The features."""
        return self.counted.space

    def cheap_to_ask_all(self, wanted: int) -> bool:
        """Whether all inputs are to be asked: no error is allowed, or there are no more than the labels wanted."""
        points, limit = self.product.points, self.counted.budget.max_queries
        free = free_of_charge(self.counted)
        allowed = ENUMERATE_UNASKED if limit is None else limit
        if self.epsilon > 0 or isinstance(self.space, Rows):
            if self.epsilon == 0:
                raise ParameterError("epsilon must be above 0 where inputs are rows of a table; got 0")
            return self.space.masses is not None and points is not None and points <= min(wanted, allowed)
        if points is None or points > (max(allowed, ENUMERATE_UNASKED) if free else allowed):
            raise ParameterError(
                f"epsilon must be above 0 where not every input can be asked: {self.product.extent} are more than "
                f"{allowed:,}; got 0 - raise max_queries, or ask for a small epsilon"
            )
        return True

    def table(self) -> NDArray[np.intp]:
        """The answers to all inputs, in truth-table order, as places among the labels in increasing order."""
        if self._table is None:
            whole = Region.whole(self.product)
            if free_of_charge(self.counted):  # to remember what can be looked up takes longer than to look it up
                plain = Counted(self.counted.target, self.product, budget=self.counted.budget)
                codes = self.counted.ask_known(plain.labels(tabulate(plain, whole)), "enumerate")
            else:
                codes = tabulate(self.counted, whole)
            self._table = self._ranked(codes.astype(np.intp))
        return self._table

    def all_answers(self) -> Labelled:
        """Every input that can be drawn, weighed by its probability."""
        codes = self.table()
        inner = enumerate_inputs(Region.whole(self.product), 0, len(codes))
        weights = np.rint(self.product.chances(inner) * _GRAINS)
        some = weights > 0
        return Labelled(self.product, self.counted.book.sorted(), inner[some], codes[some], weights[some])

    def _ranked(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.array(self.counted.book.ranks(), np.intp)[codes]

    def labels(self, wanted: int) -> tuple[Labelled, bool]:
        """So many labels in all, as far as the budget goes, some of them held out; and whether there are no more."""
        limit = self.counted.budget.max_queries
        most = min(MOST_LABELS, self.source.most, math.inf if limit is None else max(1, int(LATE * limit)))
        wanted = int(min(wanted, most))
        while wanted > len(self._codes):
            standing = self._stand()
            inner = self.source.label(min(wanted - len(self._codes), max(1, standing.next - self.counted.asked)))
            codes = np.asarray(self.counted.ask(inner, "label"), np.intp)
            standing.count(inner, self.counted.labels(codes), LABEL)
            self._inner, self._codes = np.concatenate([self._inner, inner]), np.concatenate([self._codes, codes])
        labels, weights = self.counted.book.sorted(), np.ones(len(self._codes))
        codes, failed = self._ranked(self._codes), len(self.attempts.all)
        return Labelled(self.product, labels, self._inner, codes, weights, True, failed), wanted >= most

    def fresh(self, rows: int) -> NDArray[Any]:
        """The next inputs for tests."""
        return self.source.test(rows)

    def tree(self) -> Tree:
        """The last tree; the best constant before the first."""
        return self._constant() if self._last is None else self._last

    def _constant(self) -> Tree:
        place = int(np.bincount(self._ranked(self._codes), minlength=1).argmax())
        return Tree.build(self.product, [place], self.counted.book.sorted())

    def _stand(self) -> Standing:
        """Open standing attempts when it is time, for the tree there is and for the best constant."""
        standing = self.attempts.standing
        if standing.due(self.counted.asked) and len(self._codes):
            standing.open(self.counted.asked, [self.tree(), self._constant()])
        return standing

    def propose(self, tree: Tree, data: Labelled) -> Tree:
        """The tree as it may be tested: cut back where it has too many leaves."""
        most = self.counted.budget.max_leaves
        if most is not None and tree.size > most:
            tree = Prunings(tree, self.product).with_leaves(most)
        self._last = tree
        self._judge(tree, data.error(tree))
        return tree

    def settle(self, tree: Tree, data: Labelled) -> str:
        """The error of a tree for which every input was asked."""
        tree = self.propose(tree, data)
        wrong = tree.predict_inner(data.inner) != np.array(data.labels)[data.codes]
        error = math.fsum(self.product.chances(data.inner[wrong]))
        return self.settle_at(tree, error)

    def settle_at(self, tree: Tree, error: float) -> str:
        """The error of a tree is known."""
        self._known = tree, error
        return CERTIFIED if error <= self.epsilon else f"its error is {error:.4g}"

    def test(self, tree: Tree, last: bool = True) -> bool:
        """Whether a tree is certified, by inputs drawn from now on; the last tree gets a longer trial, and a bound."""
        self.attempts.open(tree)
        attempt = next(one for one in self.attempts.all if one.tree == tree)
        epsilon = self.epsilon
        patience = math.ceil(FAIR_TRIAL / epsilon) if last else max(len(self._codes), attempt.needed_for(epsilon))
        end = attempt.samples + patience
        while not attempt.certifies(epsilon):
            left = self.counted.left
            hopeless = not last and attempt.samples >= LOOK and attempt.unlucky(epsilon)
            if attempt.samples >= end or hopeless:
                return False
            rows = min(attempt.needed_for(epsilon), max(BATCH, attempt.samples // 8), end - attempt.samples)
            inner = self.source.test(rows if left is None else max(1, min(rows, left)))
            self.attempts.count(inner, self.counted.labels(self.counted.ask(inner, "certify")))
            self._judge(tree, attempt.errors / attempt.samples)
        return True

    def _judge(self, tree: Tree, error: float) -> None:
        judged = self.attempts.judged(self.counted.asked, tree.size, error, self.attempts.of(tree))
        self._history.append(judged)
        self._observer(judged)

    def _result(self, reason: str) -> Distillation:
        counted, trace = self.counted, tuple(self._history)
        if self._known is not None:
            tree, error = self._known
            certificate = exact_certificate(counted, tree, error, self.epsilon)
            return Distillation(tree, certificate, counted.queries, trace, self.space, reason)
        if not counted.book.seen:
            raise ParameterError(
                "max_queries and max_seconds must allow some labels; the budget ended before the first"
            )
        if not self.attempts.all:
            self.attempts.open(self.tree())
        best = best_so_far(self.attempts, None, counted.budget.max_leaves).attempt
        certificate = tested_certificate(Outcome(best.tree, best, 0.0), self, self.wanted)
        answers = self.attempts.answers(best)
        labels = None if answers is None else answers.leaf_labels(best.tree)
        return Distillation(best.tree, certificate, counted.queries, trace, self.space, reason, answers, labels)


def from_labels(lesson: Lesson, fit: Callable[[Labelled], Tree]) -> Distillation:
    """A learner that sees labels alone: more of them until its tree does well on those held out, then a test."""

    def teach() -> str:
        wanted = FIRST
        while True:
            if lesson.cheap_to_ask_all(wanted):
                everything = lesson.all_answers()
                return lesson.settle(fit(everything), everything)
            data, last = lesson.labels(wanted)
            tree = lesson.propose(fit(data), data)
            if (last or data.error(tree) <= lesson.epsilon) and lesson.test(tree, last):
                return CERTIFIED
            if last:
                return f"{len(data.codes):,} labels were not enough"
            wanted *= 2

    return lesson.run(teach)
