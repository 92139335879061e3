"""``distill``: from a function to a small tree with a certificate."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from fidelitree.attempts import Attempts
from fidelitree.auto import AutoRun, Outcome
from fidelitree.budget import Budget, BudgetSpent
from fidelitree.certificate import Certificate
from fidelitree.checks import check_delta, check_epsilon
from fidelitree.draw import fresh_seed
from fidelitree.errors import ParameterError
from fidelitree.events import Finished, Observer, TreeJudged, nobody
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction
from fidelitree.finishes import FewestLeaves, Greedy, Smallest
from fidelitree.paper import grow_exactly
from fidelitree.prune import Prunings
from fidelitree.region import Region
from fidelitree.result import Distillation, SplitRecord
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted, Target
from fidelitree.targets.memory import Memory

Strategy = Literal["auto", "influence"]
Preference = Literal["queries", "leaves"]
STRATEGIES = ("auto", "influence")
FINISHES = {"queries": Smallest, "leaves": FewestLeaves}
PREFERENCES = tuple(FINISHES)


def distill(
    target: Target,
    space: ProductSpace,
    epsilon: float = 0.05,
    delta: float = 0.05,
    *,
    seed: int | None = 0,
    strategy: Strategy = "auto",
    prefer: Preference = "queries",
    max_queries: int | None = None,
    max_leaves: int | None = None,
    max_seconds: float | None = None,
    observer: Observer = nobody,
) -> Distillation:
    """A small tree that agrees with the target on at least 1 - epsilon of inputs, with confidence 1 - delta.

    Repeated inputs are answered from memory: the target is taken to be deterministic, and the certificate says so.
    Where asking about every input is no dearer, the certificate is exact. A budget, or Ctrl-C, ends the run early with
    the best tree so far and the error certified for it. With ``prefer="leaves"`` the run may spend ten times the
    queries (or ``max_queries``) to vouch for fewer leaves. ``strategy="influence"`` returns the paper's tree: every
    split is promised to be within a factor 1/4 of the best one, with the same confidence. The same seed gives the same
    tree; ``seed=None`` takes one from the machine and records it.

    >>> from fidelitree.targets import majority
    >>> result = distill(majority(5), ProductSpace.bernoulli(5), epsilon=0)
    >>> result.tree.size, result.certificate.method
    (20, 'exact')
    """
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    if strategy not in STRATEGIES:
        raise ParameterError(f"strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}")
    budget = Budget(max_queries=max_queries, max_leaves=max_leaves, max_seconds=max_seconds)
    if prefer not in PREFERENCES:
        raise ParameterError(f"prefer must be one of {', '.join(PREFERENCES)}; got {prefer!r}")
    counted = Counted(target, space, Memory(), budget)
    finish = Greedy(counted) if strategy == "influence" else FINISHES[prefer](counted, max_leaves)
    if epsilon == 0:
        try:
            return _distil_exactly(counted, epsilon, finish, observer, _allowed(budget))
        except BudgetSpent as stop:
            raise ParameterError(
                f"epsilon must be above 0 where not every input can be asked: {stop} ended the run; got 0"
            ) from None
    chosen = fresh_seed() if seed is None else seed
    run = AutoRun(counted, Attempts(epsilon, delta), chosen, observer)
    try:
        outcome = run.run(finish)
        if outcome is None:
            return _distil_exactly(counted, epsilon, finish, observer, 1 << len(space))
        reason = "certified" if outcome.error_bound <= epsilon else f"max_leaves = {max_leaves}"
        quality = strategy == "influence"
    except (BudgetSpent, KeyboardInterrupt) as stop:
        if isinstance(stop, KeyboardInterrupt) and not counted.book.seen:
            raise
        outcome, reason, quality = _so_far(run, max_leaves), str(stop) or "interrupted", False
    certificate = _certificate(outcome, run, quality)
    certificate = replace(certificate, seed=chosen, seed_chosen=seed is not None)
    observer(Finished(counted.asked, outcome.tree.size, outcome.error_bound, reason))
    trace: tuple[SplitRecord | TreeJudged, ...] = outcome.splits if quality else tuple(run.history)
    return Distillation(outcome.tree, certificate, counted.queries, trace, space, reason)


def _so_far(run: AutoRun, max_leaves: int | None) -> Outcome:
    """The best there is when a budget ends the run."""
    if not run.counted.book.seen:
        raise ParameterError("max_queries and max_seconds must allow some labels; the budget ended before the first")
    attempt = run.attempts.best()
    if attempt is None:
        run.attempts.open(run.tree())
        attempt = run.attempts.all[0]
    prunings = Prunings(attempt.tree, run.counted.space)
    within = prunings.disagreements[:max_leaves]
    leaves = int(np.argmin(within)) + 1
    return Outcome(prunings.with_leaves(leaves), attempt, float(within[leaves - 1]))


def _certificate(outcome: Outcome, run: AutoRun, split_quality: bool) -> Certificate:
    attempts, attempt = run.attempts, outcome.attempt
    return Certificate(
        attempts.epsilon,
        attempts.delta,
        outcome.error_bound,
        attempt.samples,
        attempt.errors,
        "sequential",
        outcome.tree.digest,
        run.counted.space.digest,
        split_quality=split_quality,
        protocol="prequential",
        attempts=len(attempts.all),
        differs=outcome.differs,
        queries=dict(run.counted.queries.asked),
    )


def _allowed(budget: Budget) -> int:
    return ENUMERATE_UNASKED if budget.max_queries is None else budget.max_queries


def _distil_exactly(
    counted: Counted, epsilon: float, finish: Smallest | Greedy, observer: Observer, allowed: int
) -> Distillation:
    """All answers; then Algorithm 1, or the smallest substitute for a tree without error that is good enough."""
    budget = counted.budget
    root = exact_subfunction(counted, Region.whole(counted.space), allowed)
    if root is None:
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: 2^{len(counted.space)} inputs are more than "
            f"{allowed:,}; got 0 - raise max_queries, or ask for a small epsilon"
        )
    if isinstance(finish, Greedy):
        return grow_exactly(counted, root, epsilon, Budget(max_leaves=budget.max_leaves), observer)
    perfect = grow_exactly(counted, root, 0.0, Budget(), nobody)
    found = FewestLeaves(counted).search(perfect.tree)  # no query is at stake any more
    leaves = int(np.argmax(found.disagreements <= epsilon)) + 1
    reason = "certified"
    if not budget.allows(leaves):
        leaves, reason = budget.max_leaves or leaves, f"max_leaves = {budget.max_leaves}"
    tree = found.with_leaves(leaves)
    error = float(found.disagreements[leaves - 1])
    digests = tree.digest, counted.space.digest
    queries = dict(counted.queries.asked)
    certificate = Certificate(epsilon, 0.0, error, counted.asked, None, "exact", *digests, queries=queries)
    observer(Finished(counted.asked, tree.size, error, reason))
    return Distillation(tree, certificate, counted.queries, perfect.trace, counted.space, reason)
