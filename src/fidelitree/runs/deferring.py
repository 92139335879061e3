"""``distill(defer=True)``: of the trees that ask the target where no small tree will do, the one that is returned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fidelitree.errors import ParameterError
from fidelitree.runs.coverage_goal import CoverageGoal
from fidelitree.runs.frontier_result import Frontier
from fidelitree.runs.goal import Goal, result_of
from fidelitree.runs.input_source import source_of
from fidelitree.runs.learning import EFFORTS
from fidelitree.runs.loop import Loop
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.session import Session
from fidelitree.runs.size_grid import LARGEST, sizes_up_to
from fidelitree.theory.sequential import FRONTIER

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.asking.events import Observer
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.world import World


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
    patient = goal.few_leaves or counted.budget.max_queries is not None  # then purer leaves are worth more answers
    effort = EFFORTS["leaves" if patient else "queries"]
    coverage = CoverageGoal(goal.epsilon, sizes_up_to(most or LARGEST), effort, goal.seed)
    reason = Loop.of(session, coverage, goal.seed).ending()
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
