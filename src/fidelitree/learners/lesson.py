"""One run of a learner: the answers it buys, the tests of its trees, and what it returns.

Labels for learning and inputs for tests come from streams of their own. A tree that is put to the test has an attempt
opened for it, which counts only inputs drawn since and spends its share of delta (`attempts`); nothing that was counted
teaches a learner. Where every input is asked the error is known, and the certificate is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import update_wrapper
from importlib.util import find_spec
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import as_used
from fidelitree.asking.counted import Counted, tabulate
from fidelitree.asking.events import Finished, nobody
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.memory import Memory
from fidelitree.asking.repeats import Repeats
from fidelitree.certificates.attempts import FAIR_TRIAL, LATE, LOOK
from fidelitree.errors import ParameterError, check_delta, check_epsilon, check_observer
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction, free_of_charge
from fidelitree.runs.goal import Goal, exact_certificate, result_of
from fidelitree.runs.input_source import source_of
from fidelitree.runs.last_tests import use_reserve
from fidelitree.runs.outcome import Outcome, best_so_far
from fidelitree.runs.result import Distillation
from fidelitree.runs.session import Session, TrainingSet
from fidelitree.search.labelled import Labelled
from fidelitree.search.local.moves import greedy
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.search.questions import Steps, Tests
from fidelitree.spaces.draw import seed_of
from fidelitree.spaces.product import ProductSpace, product_of
from fidelitree.targets.fitted import warn_if_fitted

if TYPE_CHECKING:
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target
    from fidelitree.trees.tree import Tree

FIRST = 256  # labels
MOST_LABELS = 1 << 16
SMALL = 4096
"""Inputs up to which all are asked: influences and optima are exact then."""
_LEARNING = 0.7  # of the time that a run may take
BATCH = 16
_FOR_EVER = 2.0**62  # tests of the smallest epsilons
_GRAINS = 2.0**50  # probabilities are weighed in grains, so that sums and differences of weights are exact

CERTIFIED = "certified"


LIMITS = ("max_queries", "max_leaves", "max_seconds", "threshold", "observer", "groups")
"""What every learner can be told besides epsilon, delta, seed, and options of its own."""

_NOISY = "or use ft.distill with deterministic=False: learners take functions only"


class Lesson:
    """What a learner works with; `run` turns what it does into a result."""

    def __init__(self, session: Session, space: World, goal: Goal) -> None:
        self.session, self.counted, self.attempts = session, session.counted, session.attempts
        self.space, self.goal = space, goal
        assert goal.epsilon is not None, "a learner is told its epsilon"
        self.epsilon: float = goal.epsilon
        self.caveat = ""  # what a learner's guarantee lacks in this run: the reason ends with it
        self._pool = TrainingSet(session)
        self._table: NDArray[np.intp] | None = None
        self._last: Tree | None = None
        self._known: tuple[Tree, float] | None = None

    @classmethod
    def begin(
        cls, target: Target, space: World, promise: tuple[float, float, int | None], limits: Mapping[str, Any]
    ) -> Lesson:
        """A run with epsilon, delta and seed as promised, within limits."""
        for name in limits:
            if name not in LIMITS:
                raise ParameterError(f"a learner's options must be its own or {', '.join(LIMITS)}; got {name!r}")
        epsilon, delta, seed = promise
        budget = Budget(limits.get("max_queries"), limits.get("max_leaves"), limits.get("max_seconds"))
        goal = Goal(check_epsilon(epsilon), check_delta(delta), seed_of(seed), seed is not None)
        target, space = as_used(target, space, limits.get("threshold"), groups=limits.get("groups"))
        product = space.product
        if space.table is not None:
            warn_if_fitted(target, space.table, goal.seed)
        counted = Counted(target, product, Memory.usual(product), budget)
        counted.repeats = None if free_of_charge(counted) else Repeats(points=product.points)
        counted.equality = replace(counted.equality, way_out=_NOISY)
        observer = limits.get("observer", nobody)
        check_observer(observer)
        return cls(Session.of(counted, source_of(space, goal.seed), goal, observer), space, goal)

    def run(self, teach: Callable[[], str | Steps[str]]) -> Distillation:
        """What comes of a lesson; ``teach`` says why it ended, after its questions; a budget may end it before."""
        session = self.session
        try:
            taught = teach()
            reason = taught if isinstance(taught, str) else session.run(taught)
        except (BudgetSpent, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and not self.counted.book.seen:
                raise
            reason = str(stop) or "interrupted"
            self.counted.reserve = None
            if self._last is not None and not self.attempts.all and not isinstance(stop, KeyboardInterrupt):
                try:  # what is left of the budget gives the last tree a bound
                    reason = CERTIFIED if session.run(self.test(self._last)) else reason
                except KeyboardInterrupt:
                    reason = f"{reason}, then interrupted"
                except BudgetSpent:
                    pass
            elif not isinstance(stop, KeyboardInterrupt):
                reason = use_reserve(session, lambda: [self.tree()], reason)
        reason = f"{reason}; {self.caveat}" if self.caveat else reason
        result = self._result(reason)
        session.observer(Finished(self.counted.asked, result.tree.size, result.certificate.error_bound, reason))
        return result

    def learn(self, known: Callable[[], str], asked: Callable[[], Steps[str]], most: int = SMALL) -> Distillation:
        """By all answers, where no error is allowed or inputs are no more than ``most``; else by what is asked."""
        return self.run(lambda: known() if self.cheap_to_ask_all(most) else asked())

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
    def late(self) -> bool:
        """Whether what is left of the labels is for tests."""
        limit = self.counted.budget.max_queries
        return limit is not None and self.counted.asked >= int(LATE * limit)

    @property
    def product(self) -> ProductSpace:
        """The features."""
        return self.counted.space

    def cheap_to_ask_all(self, wanted: int) -> bool:
        """Whether all inputs are to be asked: no error is allowed, or there are no more than the labels goal."""
        points, limit = self.product.points, self.counted.budget.max_queries
        free = free_of_charge(self.counted)
        allowed = ENUMERATE_UNASKED if limit is None else limit
        joint = self.space.independent is None
        if self.epsilon > 0 or joint:
            if self.epsilon == 0:
                raise ParameterError(f"epsilon must be above 0 where inputs are {self.space.in_words}; got 0")
            return not joint and points is not None and points <= min(wanted, allowed)
        if points is None or points > (max(allowed, ENUMERATE_UNASKED) if free else allowed):
            raise ParameterError(
                f"epsilon must be above 0 where not every input can be asked: {self.product.extent} are more than "
                f"{allowed:,}; got 0 - raise max_queries, or ask for a small epsilon"
            )
        return True

    def table(self) -> NDArray[np.intp]:
        """The answers to all inputs, in truth-table order, as places among the labels in increasing order."""
        if self._table is None:
            whole = self.product.whole
            if free_of_charge(self.counted):  # to remember what can be looked up takes longer than to look it up
                plain = Counted(self.counted.target, self.product, budget=self.counted.budget)
                codes = self.counted.ask_known(plain.labels(tabulate(plain, whole)), "enumerate")
            else:
                codes = tabulate(self.counted, whole)
            self._table = self._ranked(codes.astype(np.intp))
        return self._table

    def function(self) -> Subfunction:
        """What the target does everywhere; every input is asked."""
        found = exact_subfunction(self.counted, self.product.whole, len(self.table()))
        assert found is not None, "all inputs were asked"
        return found

    def all_answers(self) -> Labelled:
        """Every input that can be drawn, weighed by its probability."""
        codes = self.table()
        inner = self.product.whole.inputs(0, len(codes))
        weights = np.rint(self.product.chances(inner) * _GRAINS)
        some = weights > 0
        return Labelled(self.product, self.counted.book.sorted(), inner[some], codes[some], weights[some])

    def _ranked(self, codes: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.array(self.counted.book.ranks(), np.intp)[codes]

    def labels(self, wanted: int) -> Steps[tuple[Labelled, bool]]:
        """So many labels in all, as far as the budget goes, some of them held out; and whether there are no more."""
        limit = self.counted.budget.max_queries
        most = min(MOST_LABELS, self.session.source.most, math.inf if limit is None else max(1, int(LATE * limit)))
        wanted = int(min(wanted, most))
        yield from self._pool.buy(wanted, lambda: [self.tree(), self._pool.constant()])
        labels, weights = self.counted.book.sorted(), np.ones(len(self._pool))
        codes, failed = self._ranked(self._pool.codes), len(self.attempts.all)
        return Labelled(self.product, labels, self._pool.inner, codes, weights, True, failed), wanted >= most

    def tree(self) -> Tree:
        """The last tree; the best constant before the first."""
        return self._pool.constant() if self._last is None else self._last

    def propose(self, tree: Tree, data: Labelled) -> Tree:
        """The tree as it may be tested: cut back where it has too many leaves."""
        most = self.counted.budget.max_leaves
        if most is not None and tree.size > most:
            tree = Prunings(tree, self.product).with_leaves(most)
        self._last = tree
        self.session.judge(tree.size, data.error(tree), self.attempts.of(tree))
        return tree

    def settle(self, tree: Tree, data: Labelled) -> str:
        """The error of a tree for which every input was asked."""
        tree = self.propose(tree, data)
        wrong = tree.predict_inner(data.inner) != np.array(data.labels)[data.codes]
        error = math.fsum(self.product.chances(data.inner[wrong]))
        return self.settle_at(tree, error)

    def settle_greedily(self) -> str:
        """The same of ID3's tree, for want of a better one."""
        everything = self.all_answers()
        return self.settle(everything.binned(greedy(everything.coded(everything.growing))), everything)

    def settle_at(self, tree: Tree, error: float) -> str:
        """The error of a tree is known."""
        self._known = tree, error
        return CERTIFIED if error <= self.epsilon else f"its error is {error:.4g}"

    def test(self, tree: Tree, last: bool = True) -> Steps[bool]:
        """Whether a tree is certified, by inputs drawn from now on; the last tree gets a longer trial, and a bound."""
        attempt, epsilon = self.attempts.open(tree), self.epsilon
        patience = (
            math.ceil(min(FAIR_TRIAL / epsilon, _FOR_EVER))
            if last
            else max(len(self._pool), attempt.needed_for(epsilon))
        )
        end = attempt.samples + patience
        while not attempt.certifies(epsilon):
            hopeless = not last and attempt.samples >= LOOK and attempt.unlucky(epsilon)
            if attempt.samples >= end or hopeless:
                return False
            yield Tests(min(attempt.needed_for(epsilon), max(BATCH, attempt.samples // 8), end - attempt.samples))
            self.session.judge(tree.size, attempt.errors / attempt.samples, attempt)
        return True

    def _result(self, reason: str) -> Distillation:
        counted = self.counted
        if self._known is not None:
            tree, error = self._known
            certificate = exact_certificate(counted, tree.digest, error, self.epsilon)
            return Distillation(tree, certificate, counted.queries, tuple(self.session.history), self.space, reason)
        if not counted.book.seen:
            raise ParameterError(
                "max_queries and max_seconds must allow some labels; the budget ended before the first"
            )
        if not self.attempts.all:
            self.attempts.open(self.tree())
        best = best_so_far(self.attempts, None, counted.budget.max_leaves).attempt
        made = result_of(Outcome(best.tree, best, 0.0), self.session, self.goal, reason)
        return replace(made, space=self.space)


class Learn(Protocol):
    """The one signature of all learners; options are the limits, and the learner's own."""

    __name__: str

    def __call__(
        self,
        target: Target,
        space: World,
        epsilon: float = ...,
        delta: float = ...,
        seed: int | None = ...,
        **options: Any,
    ) -> Distillation: ...


@dataclass(frozen=True)
class Learner:
    """A learner of the literature.

    ``asks`` is what it sees of a target: ``labels`` of inputs as they are drawn, ``queries`` of its own choice, or
    ``everything``. ``library`` is what must be installed.
    """

    name: str
    learn: Callable[..., Distillation]
    paper: str
    asks: str
    bits_only: bool = False
    library: str | None = None

    def why_not(self, space: World) -> str | None:
        """Why it does not apply to a space; None where it does."""
        product = product_of(space)
        if self.library is not None and find_spec(self.library) is None:
            return f"{self.library} is not installed"
        if self.bits_only and any(feature.kind != "boolean" for feature in product):
            return "not all features are bits"
        if space.independent is None and self.asks != "labels":
            return f"it chooses its own inputs, and these are {space.in_words}"
        if self.asks == "everything" and (product.points is None or product.points > ENUMERATE_UNASKED):
            return f"{product.extent} are too many to ask them all"
        return None


REGISTERED: dict[str, Learner] = {}
"""Every learner, by its name."""


def learner(
    paper: str, asks: str, *, bits_only: bool = False, library: str | None = None, epsilon: float = 0.05
) -> Callable[[Callable[..., Distillation]], Learn]:
    """What a learner does with a lesson, as a function of a target; its keywords are the learner's own options."""

    def registered(teach: Callable[..., Distillation]) -> Learn:
        own = [name for name, one in signature(teach).parameters.items() if one.kind is one.KEYWORD_ONLY]

        def learn(
            target: Target,
            space: World,
            epsilon: float = epsilon,
            delta: float = 0.05,
            seed: int | None = None,
            **options: Any,
        ) -> Distillation:
            told = {name: options.pop(name) for name in own if name in options}
            lesson = Lesson.begin(target, space, (epsilon, delta, seed), options)
            if bits_only:
                check_bits(lesson.space)
            return teach(lesson, **told)

        update_wrapper(learn, teach, ("__module__", "__name__", "__qualname__", "__doc__"))
        del learn.__wrapped__  # type: ignore[attr-defined]  # its signature is not that of the function behind it
        REGISTERED[teach.__name__] = Learner(teach.__name__, learn, paper, asks, bits_only, library)
        return learn

    return registered


def check_bits(space: World) -> None:
    """Refuse features that are not bits."""
    product = product_of(space)
    odd = [feature for feature in product if feature.kind != "boolean"]
    if odd:
        raise ParameterError(
            f"space must hold bits only for this learner; feature {odd[0].name!r} is {odd[0].kind} - id3, c45, cart, "
            f"and distill take any features"
        )


def from_labels(lesson: Lesson, fit: Callable[[Labelled], Tree]) -> Distillation:
    """A learner that sees labels alone: more of them until its tree does well on those held out, then a test."""

    def teach() -> Steps[str]:
        wanted = FIRST
        while True:
            if lesson.cheap_to_ask_all(wanted):
                everything = lesson.all_answers()
                return lesson.settle(fit(everything), everything)
            data, last = yield from lesson.labels(wanted)
            tree = lesson.propose(fit(data), data)
            if (last or data.error(tree) <= lesson.epsilon) and (yield from lesson.test(tree, last)):
                return CERTIFIED
            if last:
                return f"{len(data.codes):,} labels were not enough"
            wanted *= 2

    return lesson.run(teach)
