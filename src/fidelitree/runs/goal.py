"""What was asked for, and the certificate that says how far it was reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.asking.journalled import name_of
from fidelitree.certificates.certificate import Certificate
from fidelitree.certificates.confusion import Confusion, share_of_level
from fidelitree.certificates.deferral import DeferringAttempt, certified_coverage
from fidelitree.exact.engine import tree_labels
from fidelitree.runs.result import Distillation, written
from fidelitree.trees.answers import apart

if TYPE_CHECKING:
    from fidelitree.asking.access import Call
    from fidelitree.asking.counted import Counted
    from fidelitree.asking.limits import Running
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.outcome import Outcome
    from fidelitree.runs.session import Session
    from fidelitree.search.exact_growth import ExactTree
    from fidelitree.trees.answers import LeafLabels


@dataclass(frozen=True)
class Goal:
    """What was asked for."""

    epsilon: float
    delta: float
    seed: int
    seed_chosen: bool = True
    split_quality: bool = False
    few_leaves: bool = False
    smallest: bool = False
    tolerance: float | None = None
    few_rounds: bool = False
    defer: bool = False

    @property
    def told(self) -> dict[str, Any]:
        """What only some runs are told."""
        near = {} if self.tolerance is None else {"tolerance": self.tolerance}
        return near | ({"defer": True} if self.defer else {})


def exact_certificate(counted: Counted, digest: str, error: float, epsilon: float | None) -> Certificate:
    """The certificate of an error that is known; the digest is that of the tree, or of another predictor."""
    digests = digest, counted.space.digest
    told: dict[str, Any] = {"queries": dict(counted.queries.asked), "cost": counted.cost}
    return Certificate(epsilon, 0.0, min(1.0, error), counted.asked, None, "exact", *digests, **told)


def greedy_result(counted: Counted, grown: ExactTree, epsilon: float) -> Distillation:
    """The result of Algorithm 1."""
    exact = replace(exact_certificate(counted, grown.tree.digest, grown.error, epsilon), split_quality=True)
    return Distillation(grown.tree, exact, counted.queries, grown.splits, counted.space, grown.reason)


def result_of(outcome: Outcome, session: Session, goal: Goal, reason: str) -> Distillation:
    """The result that a run comes to: its certificate, the answers behind it, and its trace."""
    counted, trace = session.counted, outcome.splits if goal.split_quality else tuple(session.history)
    answers = session.attempts.answers(outcome.attempt)
    labels = None if answers is None else answers.leaf_labels(outcome.tree, goal.tolerance)
    certificate = _certificate_of(outcome, session, goal, labels)
    about = counted.queries, trace, counted.space, reason, answers, labels
    return Distillation(outcome.tree, certificate, *about, tested=outcome.tested)


def recorded(
    door: Callable[..., Any], target: Any, goal: Goal, call: Call, running: Running
) -> tuple[dict[str, Any], str, Path | None]:
    """How a run was asked for: its arguments, the call as text, and where it kept its answers."""
    run = {"door": call.door, "target": name_of(target), "seed": goal.seed, "seed_chosen": goal.seed_chosen}
    text = written(door, {**call.arguments, **running.told(), "seed": goal.seed})
    return {**run, **call.arguments}, text, None if running.journal is None else Path(running.journal)


def _certificate_of(outcome: Outcome, session: Session, goal: Goal, labels: LeafLabels | None) -> Certificate:
    """The certificate of what an attempt certifies; ``labels`` are those of its answers."""
    attempt, counted = outcome.attempt, session.counted
    if outcome.error is not None:
        known = tree_labels(outcome.tree, counted.target, counted.space)
        exact = exact_certificate(counted, outcome.tree.digest, outcome.error, goal.epsilon)
        return replace(exact, confusion=Confusion.of_leaves(known, outcome.tree, None))
    tested_errors, samples = attempt.counts
    errors = tested_errors if outcome.tested is None else _own_errors(outcome, session)
    level = share_of_level(attempt.number, outcome.tree.size if outcome.differs else None, attempt.ledger)
    in_all = None if outcome.tree.defers else session.attempts.kept_for(attempt).label_counts()
    table = labels if goal.tolerance is None else None  # numbers have none
    return Certificate(
        goal.epsilon,
        goal.delta,
        outcome.error_bound,
        samples,
        errors,
        "sequential",
        outcome.tree.digest,
        session.source.digest,
        seed=goal.seed,
        seed_chosen=goal.seed_chosen,
        split_quality=goal.split_quality,
        assumes=session.source.assumes(counted.deterministic, goal.seed_chosen),
        protocol="prequential",
        attempts=session.attempts.opened(attempt.ledger),
        attempt=attempt.number,
        ledger=attempt.ledger,
        level=attempt.level,
        differs=outcome.differs,
        tested_digest=None if outcome.tested is None else outcome.tested.digest,
        tested_errors=None if outcome.tested is None else tested_errors,
        queries=dict(counted.queries.asked),
        confusion=Confusion.of_leaves(table, outcome.tree, level, in_all),
        tolerance=goal.tolerance,
        cost=counted.cost,
        **(_coverage(attempt, session) if goal.defer else {}),
    )


def _own_errors(outcome: Outcome, session: Session) -> int | None:
    """How often the returned tree disagrees on the test inputs of another one; None where not all of them were kept."""
    answers = session.attempts.answers(outcome.attempt)
    if answers is None or answers.dropped:
        return None
    given = outcome.tree.predict_inner(answers.inputs)
    return int(np.count_nonzero(apart(given, answers.labels, session.attempts.tolerance)))


def _coverage(attempt: Attempt, session: Session) -> dict[str, Any]:
    """How much a tree answers that may defer."""
    if not isinstance(attempt, DeferringAttempt):
        return {"coverage": 1.0, "drawn": attempt.counts[1]}
    share = certified_coverage(attempt.tree, attempt, attempt.ledger, session.source.masses)
    return {"coverage": share, "drawn": attempt.drawn}
