"""The last tests of a run: what there is gets a bound that means something, whatever ends the run.

Where epsilon is out of reach, or ``max_leaves`` forbids the tree that would reach it, the best tree there is is tested
until its bound is close to its error (`tried`). Of a limited time 70 % goes into learning (`limits.LEARNING`); unless
something is certified by then, the rest is spent here (`use_reserve`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fidelitree.asking.limits import BudgetSpent
from fidelitree.runs import economics
from fidelitree.runs.outcome import Outcome, best_so_far
from fidelitree.search.questions import Steps, Tests

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt, Attempts
    from fidelitree.runs.session import Session
    from fidelitree.trees.tree import Tree

CERTIFIED = "certified"
SLACK = 0.01  # an error, besides TIGHT: where epsilon is out of reach, a bound so close to the error will do


def tried(session: Session, trees: Sequence[Tree]) -> Steps[Attempt]:
    """Count answers for trees until the bound of the best of them is close, or good enough, or no input is left."""
    for tree in trees:
        session.attempts.open(tree)
    under_test = [attempt for attempt in session.attempts.all if attempt.tree in trees]
    while True:
        best = min(under_test, key=lambda attempt: (attempt.error_bound, attempt.tree.size))
        fair = min(attempt.samples for attempt in under_test) >= best.samples / 2  # some may be older than others
        if (fair and close_enough(best, session.attempts.epsilon)) or not session.source.tests_left:
            return best
        yield Tests(max(economics.FIRST, int(economics.PART_OF_TEST * best.samples)))


def close_enough(attempt: Attempt, epsilon: float) -> bool:
    """Whether a bound is good enough, or close to the error that was seen; a small epsilon asks for a finer look."""
    share = attempt.errors / max(1, attempt.samples)
    return attempt.certifies(epsilon) or attempt.error_bound <= economics.TIGHT * share + min(SLACK, epsilon)


def put_to_test(outcome: Outcome, session: Session) -> Outcome:
    """The same tree with a bound of its own, where that is lower: what it has from a larger tree is not close."""
    try:
        attempt = session.run(tried(session, [outcome.tree]))
    except BudgetSpent:
        attempt = session.attempts.open(outcome.tree)
    own = replace(outcome, attempt=attempt, differs=0.0)
    return own if own.error_bound < outcome.error_bound else outcome


def use_reserve(session: Session, trees: Callable[[], Sequence[Tree]], reason: str) -> str:
    """Count answers in the time that is left; why the run ended: by this, or for the ``reason`` that it has already.

    The first of the trees is the best one, and has the largest share of delta.
    """
    counted, attempts = session.counted, session.attempts
    counted.reserve = None
    if counted.budget.max_seconds is None or not counted.book.seen or counted.over():
        return reason
    before = attempts.certified
    try:
        tested = [attempts.open(session.allowed(tree)) for tree in trees()]
        session.run(_until_settled(session, tested[0]))
    except BudgetSpent:
        return reason
    except KeyboardInterrupt:
        return f"{reason}, then interrupted"
    return CERTIFIED if attempts.certified and not before else reason


def _until_settled(session: Session, tested: Attempt) -> Steps[None]:
    attempts, most = session.attempts, session.counted.budget.max_leaves
    while not settled(attempts, best_so_far(attempts, session.source.masses, most)):
        usual = attempts.standing.usual()
        if usual is not None:  # the constant that is best by now has an attempt, too
            attempts.standing.open(0, [session.always(usual)])
        yield Tests(max(1, int(economics.PART_IN_HASTE * tested.samples)))


def settled(attempts: Attempts, best: Outcome) -> bool:
    """Whether more answers would change little: the error is certified, or it is clear what it is instead."""
    error = best.attempt.rate + best.differs
    if best.error_bound <= attempts.epsilon:  # a constant that errs no more often may be certified, too
        return best.tree.size == 1 or all(one.rate > error for one in attempts.standing.constants if one.samples)
    if best.tree.size == 1 and any(one.rate < error - SLACK for one in attempts.standing.constants if one.samples):
        return False  # another constant errs less often, and has had fewer answers
    return best.error_bound < 1 and error > attempts.epsilon and best.error_bound <= economics.TIGHT * error + SLACK
