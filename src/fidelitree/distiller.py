"""``distill``: from a function to a small tree with a certificate."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fidelitree.attempts import Attempts
from fidelitree.auto import AutoRun, Outcome
from fidelitree.budget import Budget, BudgetSpent
from fidelitree.certificate import Certificate, assumptions
from fidelitree.checks import check_count, check_delta, check_epsilon
from fidelitree.draw import fresh_seed
from fidelitree.errors import ParameterError
from fidelitree.events import Finished, Observer, TreeJudged, nobody
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction
from fidelitree.finishes import FewestLeaves, Greedy, LowestError, Smallest, best_so_far
from fidelitree.paper import grow_exactly
from fidelitree.region import Region
from fidelitree.result import Distillation, SplitRecord
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted, Target
from fidelitree.targets.memory import CHECKED, Memory

Strategy = Literal["auto", "influence"]
Preference = Literal["queries", "leaves"]
STRATEGIES = ("auto", "influence")
FINISHES = {"queries": Smallest, "leaves": FewestLeaves}
PREFERENCES = tuple(FINISHES)


def distill(
    target: Target,
    space: ProductSpace,
    epsilon: float | None = 0.05,
    delta: float = 0.05,
    *,
    seed: int | None = 0,
    strategy: Strategy = "auto",
    prefer: Preference = "queries",
    deterministic: bool = True,
    max_queries: int | None = None,
    max_leaves: int | None = None,
    max_seconds: float | None = None,
    observer: Observer = nobody,
) -> Distillation:
    """A small tree that agrees with the target on at least 1 - epsilon of inputs, with confidence 1 - delta.

    Repeated inputs are answered from memory: the target is taken to be deterministic, and the certificate says so. With
    ``deterministic=False`` every input is asked anew. Where asking about every input is no dearer, the certificate is
    exact. A budget, or Ctrl-C, ends the run early with the best tree so far and the error certified for it;
    ``epsilon=None`` asks for the smallest error that can be certified within a budget. With ``prefer="leaves"`` the run
    may spend ten times the queries (or ``max_queries``) to vouch for fewer leaves. ``strategy="influence"`` returns the
    paper's tree: every split is promised to be within a factor 1/4 of the best one, with the same confidence. The same
    seed gives the same tree; ``seed=None`` takes one from the machine and records it.

    >>> from fidelitree.targets import majority
    >>> result = distill(majority(5), ProductSpace.bernoulli(5), epsilon=0)
    >>> result.tree.size, result.certificate.method
    (20, 'exact')
    """
    for name, value, known in (("strategy", strategy, STRATEGIES), ("prefer", prefer, PREFERENCES)):
        if value not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known)}; got {value!r}")
    budget = Budget(max_queries=max_queries, max_leaves=max_leaves, max_seconds=max_seconds)
    wanted = _Wanted(
        _check_wanted(epsilon, strategy, budget),
        check_delta(delta),
        fresh_seed() if seed is None else check_count("seed", seed, least=0),
        seed is not None,
        strategy == "influence",
    )
    counted = Counted(target, space, Memory(checked=CHECKED) if deterministic else None, budget)
    finish: Smallest | Greedy
    if wanted.split_quality:
        finish = Greedy(counted)
    else:
        finish = LowestError(counted, max_leaves) if epsilon is None else FINISHES[prefer](counted, max_leaves)
    result = _distil_all(counted, finish) if epsilon == 0 else _distil(counted, finish, wanted, observer)
    with suppress(KeyboardInterrupt):  # the result is there: an interrupt now must not lose it
        observer(Finished(counted.asked, result.tree.size, result.certificate.error_bound, result.reason))
    return result


@dataclass(frozen=True)
class _Wanted:
    """What was asked for."""

    epsilon: float | None
    delta: float
    seed: int
    seed_chosen: bool
    split_quality: bool


def _check_wanted(epsilon: float | None, strategy: str, budget: Budget) -> float | None:
    if epsilon is not None:
        return check_epsilon(epsilon)
    if strategy == "influence":
        raise ParameterError('epsilon must be a number with strategy="influence"; got None')
    if budget.max_queries is None and budget.max_seconds is None:
        raise ParameterError("epsilon=None asks for the best tree within a budget: give max_queries or max_seconds")
    return None


def _distil(counted: Counted, finish: Smallest | Greedy, wanted: _Wanted, observer: Observer) -> Distillation:
    """Learn and certify, until the finish is content or a budget ends the run."""
    run = AutoRun(counted, Attempts(wanted.epsilon, wanted.delta), wanted.seed, observer)
    try:
        outcome = run.run(finish)
        if outcome is None:
            return _distil_exactly(counted, wanted.epsilon or 0.0, finish, 1 << len(counted.space))
        promised = wanted.split_quality
        reason = "certified" if outcome.error_bound <= run.attempts.epsilon else _named(counted.budget)
    except (BudgetSpent, KeyboardInterrupt) as stop:
        if isinstance(stop, KeyboardInterrupt) and not counted.book.seen:
            raise
        outcome, promised = _so_far(run), False
        enough = wanted.epsilon is not None and outcome.error_bound <= wanted.epsilon
        reason = ("certified, then " if enough else "") + (str(stop) or "interrupted")
    certificate = _certificate(outcome, run, replace(wanted, split_quality=promised))
    trace: tuple[SplitRecord | TreeJudged, ...] = outcome.splits if promised else tuple(run.history)
    return Distillation(outcome.tree, certificate, counted.queries, trace, counted.space, reason)


def _so_far(run: AutoRun) -> Outcome:
    """The best there is when a budget ends the run."""
    if not run.counted.book.seen:
        raise ParameterError("max_queries and max_seconds must allow some labels; the budget ended before the first")
    if not run.attempts.all:
        run.attempts.open(run.tree())
    return best_so_far(run.attempts, run.counted.space, run.counted.budget.max_leaves)


def _certificate(outcome: Outcome, run: AutoRun, wanted: _Wanted) -> Certificate:
    attempt, counted = outcome.attempt, run.counted
    errors, samples = attempt.counts
    return Certificate(
        wanted.epsilon,
        wanted.delta,
        outcome.error_bound,
        samples,
        errors,
        "sequential",
        outcome.tree.digest,
        counted.space.digest,
        seed=wanted.seed,
        seed_chosen=wanted.seed_chosen,
        split_quality=wanted.split_quality,
        assumes=assumptions(counted.deterministic),
        protocol="prequential",
        attempts=len(run.attempts.all),
        attempt=attempt.number,
        level=attempt.level,
        differs=outcome.differs,
        queries=dict(counted.queries.asked),
    )


def _named(budget: Budget) -> str:
    return f"max_leaves = {budget.max_leaves}"


def _distil_all(counted: Counted, finish: Smallest | Greedy) -> Distillation:
    """No error at all: every input must be asked."""
    if not counted.deterministic:
        raise ParameterError("epsilon must be above 0 with deterministic=False: no error of a noisy target is 0; got 0")
    limit = counted.budget.max_queries
    try:
        return _distil_exactly(counted, 0.0, finish, ENUMERATE_UNASKED if limit is None else limit)
    except BudgetSpent as stop:
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: {stop} ended the run; got 0"
        ) from None


def _distil_exactly(counted: Counted, epsilon: float, finish: Smallest | Greedy, allowed: int) -> Distillation:
    """All answers; then Algorithm 1, or the smallest substitute for a tree without error that is good enough."""
    budget = counted.budget
    root = exact_subfunction(counted, Region.whole(counted.space), allowed)
    if root is None:
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: 2^{len(counted.space)} inputs are more than "
            f"{allowed:,}; got 0 - raise max_queries, or ask for a small epsilon"
        )
    if isinstance(finish, Greedy):
        return grow_exactly(counted, root, epsilon, Budget(max_leaves=budget.max_leaves), nobody)
    perfect = grow_exactly(counted, root, 0.0, Budget(), nobody)
    found = FewestLeaves(counted).search(perfect.tree)  # no query is at stake any more
    leaves = int(np.argmax(found.disagreements <= epsilon)) + 1
    reason = "certified"
    if not budget.allows(leaves):
        leaves, reason = budget.max_leaves or leaves, _named(budget)
    tree = found.with_leaves(leaves)
    error = float(found.disagreements[leaves - 1])
    digests = tree.digest, counted.space.digest
    queries = dict(counted.queries.asked)
    wanted = None if isinstance(finish, LowestError) else epsilon
    certificate = Certificate(wanted, 0.0, error, counted.asked, None, "exact", *digests, queries=queries)
    return Distillation(tree, certificate, counted.queries, perfect.trace, counted.space, reason)
