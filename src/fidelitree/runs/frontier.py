"""``frontier``: from a function to trees of many sizes, each with a certificate, from one run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fidelitree.asking.access import Call, access, as_used, watched
from fidelitree.asking.events import Finished, Observer, nobody
from fidelitree.asking.limits import Budget, Running, Workers, given
from fidelitree.asking.memory import Memory
from fidelitree.errors import check_choice, check_count, check_delta, check_switch, check_tolerance
from fidelitree.runs.all_answers import known_points
from fidelitree.runs.curve_goal import CurveGoal
from fidelitree.runs.frontier_result import Frontier
from fidelitree.runs.goal import Goal, recorded, result_of
from fidelitree.runs.input_source import source_of
from fidelitree.runs.kept_rows import KeptRows, beside_all, doubted
from fidelitree.runs.known_answers import exact_error, lists_its_answers
from fidelitree.runs.learning import EFFORTS
from fidelitree.runs.loop import Loop
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.session import Session
from fidelitree.runs.size_grid import LARGEST, sizes_up_to
from fidelitree.spaces.draw import seed_of
from fidelitree.theory.sequential import FRONTIER

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.result import Distillation


def frontier(
    target: Any,
    space: Any,
    delta: float = 0.05,
    *,
    groups: Any = None,
    seed: int | None = None,
    prefer: str = "queries",
    tolerance: float | None = None,
    threshold: float | None = None,
    deterministic: bool = True,
    max_queries: int | None = None,
    max_leaves: int = LARGEST,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    batch_size: int | None = None,
    executor: Workers | None = None,
    timeout: float | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
    observer: Observer = nobody,
    budget: Budget | None = None,
    running: Running | None = None,
) -> Frontier:
    """Trees of 1, 2, 3, 5, 8 ... leaves, each with a certificate, all of them true with confidence 1 - delta.

    There is no epsilon to guess: look at the curve, and pick a point, or a size in between. The run ends when no size
    would gain 3% of its error from as many labels again, and every bound is close to its error; a budget, or Ctrl-C,
    ends it early. After 400 labels it says what to expect (``forecast``).

    Args:
        target: What is explained: a callable from a batch of inputs to labels, or a fitted model.
        space: Where inputs come from: any space, or a table, to one half of which a `ChowLiu` is fitted.
        delta: The chance that the run states a false bound.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        prefer: "queries" asks little; "leaves" may learn from more labels.
        tolerance: For targets that answer numbers: an error is to be further away than this.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        deterministic: False where the target may answer an input differently each time: no answer is remembered.
        max_queries: Ends the run after so many labels, with what is certified by then.
        max_leaves: The most leaves that a tree may have.
        max_seconds: Ends the run after so many seconds, with what is certified by then.
        max_cost: Ends the run before the target's prices add up to more.
        batch_size: The most inputs that one call of the target receives.
        executor: Runs calls elsewhere: a `concurrent.futures.Executor`, a function that makes one, or "joblib".
        timeout: The longest silence of the executor's workers, in seconds.
        retries: How often a call that failed is made again.
        journal: The file that keeps every answer: the same call goes on from there, and `verify` checks by it.
        observer: Receives an event for each step of the run; `Progress` is one.
        budget: All limits as one `Budget`, in the place of `max_queries` to `max_cost`.
        running: How calls are made as one `Running`, in the place of `batch_size` to `journal`.

    Returns:
        The curve. Each of its points is a result like that of `distill`; ``knee`` and ``at`` pick one.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.
        JournalError: The journal cannot be opened or written.

    Examples:
        >>> from fidelitree.spaces.product import ProductSpace
        >>> from fidelitree.targets import majority
        >>> curve = frontier(majority(5), ProductSpace.bernoulli(5), max_leaves=8)
        >>> [point.leaves for point in curve][:3]
        [1, 2, 4]
    """
    check_choice("prefer", prefer, tuple(EFFORTS))
    near = check_tolerance(tolerance, threshold)
    (target, space), observer = as_used(target, space, threshold, near is None, groups), watched(observer)
    how = {"batch_size": batch_size, "executor": executor, "timeout": timeout, "retries": retries, "journal": journal}
    largest = None if check_count("max_leaves", max_leaves) == LARGEST else max_leaves
    limits = {"max_queries": max_queries, "max_leaves": largest, "max_seconds": max_seconds, "max_cost": max_cost}
    budget, running = given(target, (budget, limits), (running, how))
    budget = replace(budget, max_leaves=(most := budget.max_leaves or LARGEST))
    known_seed = seed_of(seed)
    goal = Goal(0.0, check_delta(delta), known_seed, seed is not None, tolerance=near)
    told = {"delta": goal.delta, "prefer": prefer, "deterministic": check_switch("deterministic", deterministic)}
    call = Call("frontier", known_seed, seed is not None, {**told, **goal.told, **budget.limits()})
    with access(target, space, running, call) as opened:
        goal = replace(goal, seed=opened.seed, seed_chosen=opened.seed_chosen)
        counted = opened.counted(Memory.usual(opened.space) if deterministic else None, budget, observer)
        kept = KeptRows.ask(counted, space)
        session = Session.of(counted, source_of(space, goal.seed), goal, observer, FRONTIER)
        curve = CurveGoal(sizes_up_to(most), EFFORTS[prefer])
        loop = Loop.of(session, curve, goal.seed)
        found = Frontier.of(_points(loop, curve.sizes, goal), goal.delta, most, loop.mistakes)
        found = replace(found, forecast=curve.forecast)
        found = beside_all(found, kept)
        with suppress(KeyboardInterrupt):  # the result is there: an interrupt now must not lose it
            observer(Finished(counted.asked, found[-1].leaves, found[-1].error_bound, found.reason))
        opened.end(counted, found.reason)
    doubted(found.knee.certificate)
    return found.told(space, *recorded(frontier, target, goal, call, running))


def _points(loop: Loop[str], sizes: Sequence[int], goal: Goal) -> list[Distillation]:
    """By knowing every answer where that is cheaper, else by learning and testing."""
    session, reason = loop.session, ""
    if session.source.independent is not None and goal.tolerance is None:
        try:
            known = known_points(session.counted, sizes, goal.seed)
        except KeyboardInterrupt:
            if not session.counted.book.seen:
                raise
            known, reason = None, "interrupted"
        if known is not None:
            return known
    reason = reason or loop.ending()
    return [_result(session, attempt, goal, reason) for attempt in _opened(loop)]


def _opened(loop: Loop[str]) -> list[Attempt]:
    """The points' attempts; where the run ended before all sizes had one, those that stand, too."""
    attempts = loop.attempts
    if not attempts.live:
        usual = attempts.standing.usual() or loop.counted.book.sorted()[0]
        attempts.open(loop.session.always(usual), written_down=False)
    return attempts.live if loop.goal.learning else attempts.all


def _result(session: Session, attempt: Attempt, goal: Goal, reason: str) -> Distillation:
    """One point, with its exact error where that can be looked up."""
    counted, error = session.counted, None
    if session.source.independent is not None and goal.tolerance is None and lists_its_answers(counted):
        error = exact_error(attempt.tree, counted)
    made = result_of(Outcome(attempt.tree, attempt, 0.0, error=error), session, goal, reason)
    return replace(made, certificate=replace(made.certificate, epsilon=None))
