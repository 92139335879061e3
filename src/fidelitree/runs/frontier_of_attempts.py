"""The frontier that a run of `distill` leaves behind: what its attempts vouch for at every size, without a label more.

All attempts of a run hold together, so each tree that was tested is a point. A pruning that disagrees with a tested
tree on d of the inputs, which is known exactly, has an error that is higher by d at most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fidelitree.runs.frontier_result import Frontier
from fidelitree.runs.frontier_strategy import sizes_up_to
from fidelitree.runs.goal import Goal, certificate_of
from fidelitree.runs.result import Distillation
from fidelitree.runs.stopping import Outcome
from fidelitree.search.optimal.substitutes import Prunings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.session import Session

_ATTEMPTS, _LEAVES = 3, 256  # attempts with the smallest bounds, and leaves of a tree, whose prunings are looked at


def frontier_of(session: Session, made: Distillation, outcome: Outcome, goal: Goal) -> Frontier | None:
    """The result itself and whatever else is certified; None where errors are known, or nothing was tested."""
    if outcome.error is not None or made.error_bound >= 1:
        return None
    best: dict[int, Outcome] = {}
    for point in _vouched(session):
        if point.error_bound < min(1.0, best[point.tree.size].error_bound if point.tree.size in best else 1.0):
            best[point.tree.size] = point
    best.pop(outcome.tree.size, None)
    others = [_point(session, made, point, goal) for point in best.values()]
    return Frontier.of([made, *others], goal.delta, max(point.leaves for point in (made, *others)))


def _vouched(session: Session) -> Iterator[Outcome]:
    attempts, space = session.attempts, session.source.masses
    tested: list[Attempt] = sorted((one for one in attempts.live if one.samples), key=lambda one: one.error_bound)
    for place, one in enumerate(tested):
        yield Outcome(one.tree, one, 0.0)
        if space is not None and place < _ATTEMPTS and 1 < one.tree.size <= _LEAVES:
            prunings = Prunings(one.tree, space)
            for size in sizes_up_to(one.tree.size)[:-1]:
                yield Outcome(prunings.with_leaves(size), one, float(prunings.disagreements[size - 1]))


def _point(session: Session, made: Distillation, outcome: Outcome, goal: Goal) -> Distillation:
    """A point that is not the result: no error was asked of it."""
    certificate = replace(certificate_of(outcome, session, replace(goal, split_quality=False)), epsilon=None)
    answers = session.attempts.answers(outcome.attempt)
    labels = None if answers is None else answers.leaf_labels(outcome.tree)
    point = Distillation(outcome.tree, certificate, made.queries, (), made.space, made.reason, answers, labels)
    return replace(point, tested=outcome.tested)
