"""``distill``: from a function to a small tree with a certificate."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from fidelitree.asking.access import Call, access, as_used, watched
from fidelitree.asking.events import Finished, Observer, nobody
from fidelitree.asking.limits import Budget, BudgetSpent, Running, Workers, given
from fidelitree.asking.memory import Memory, check_fits
from fidelitree.errors import ParameterError, check_choice, check_delta, check_epsilon, check_switch, check_tolerance
from fidelitree.exact.cells import ALL_SUBSETS
from fidelitree.exact.engine import free_of_charge
from fidelitree.runs import economics
from fidelitree.runs.all_answers import distil_exactly, distil_known, no_error_allowed
from fidelitree.runs.curve_goal import LastTests
from fidelitree.runs.deferring import check_deferring, distil_deferring
from fidelitree.runs.epsilon_goal import TOO_FEW_ROWS, AskAll, EpsilonGoal
from fidelitree.runs.frontier import frontier
from fidelitree.runs.frontier_of_attempts import GRID, at_the_knee, frontier_of, shortfall
from fidelitree.runs.goal import Goal, recorded, result_of
from fidelitree.runs.influence_goal import InfluenceGoal
from fidelitree.runs.input_source import Source, source_of
from fidelitree.runs.kept_rows import KeptRows, beside, doubted
from fidelitree.runs.known_answers import KnownErrors, exact_error, lists_its_answers
from fidelitree.runs.last_tests import CERTIFIED, put_to_test
from fidelitree.runs.loop import Loop, RunGoal
from fidelitree.runs.outcome import Outcome, best_so_far, within
from fidelitree.runs.portions import AS_DRAWN, FEW
from fidelitree.runs.session import Session
from fidelitree.runs.size_grid import LARGEST
from fidelitree.spaces.draw import seed_of
from fidelitree.spaces.rows import check_test_rows

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

StrategyName = Literal["auto", "influence", "smallest"]
Preference = Literal["queries", "leaves", "rounds"]
_LIMITS = "max_queries", "max_seconds", "max_cost"
STRATEGIES = ("auto", "influence", "smallest")
PREFERENCES = ("queries", "leaves", "rounds")


def distill(
    target: Any,
    space: Any,
    epsilon: float | None = 0.05,
    delta: float = 0.05,
    *,
    groups: Any = None,
    seed: int | None = None,
    strategy: StrategyName = "auto",
    prefer: Preference = "queries",
    tolerance: float | None = None,
    threshold: float | None = None,
    defer: bool = False,
    deterministic: bool = True,
    max_queries: int | None = None,
    max_leaves: int | None = None,
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
) -> Distillation:
    """A small tree that agrees with the target on at least 1 - epsilon of inputs, with confidence 1 - delta.

    Where asking about all inputs of a deterministic target costs no more, the certificate is exact. A budget, or
    Ctrl-C, ends the run early with what is certified by then. Where a table is given, its other half shows the error on
    real rows, which should be new to the target.

    Args:
        target: What is explained: a callable from a batch of inputs to labels, or a fitted model.
        space: Where inputs come from: any space, or a table, to one half of which a `ChowLiu` is fitted.
        epsilon: The error that is tolerated; None asks for the knee of the `frontier`.
        delta: The chance that the run states a false bound.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        strategy: "auto" asks little, "influence" gives the paper's tree, "smallest" up to 20 times as much.
        prefer: "queries" asks little, "leaves" up to ten times as much for fewer, "rounds" in few large batches.
        tolerance: For targets that answer numbers: an error is to be further away than this.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        defer: Whether leaves may answer `DEFER`; epsilon is then the error on all other inputs.
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
        The tree with its certificate, its costs and its frontier; it prints, stores and reports itself.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.
        JournalError: The journal cannot be opened or written.

    Examples:
        >>> distill(lambda bits: bits.sum(axis=1) > 2, ProductSpace.bernoulli(5), epsilon=0)
        <Distillation: 20 leaves, error <= 0% (exact), 32 labels>
    """
    near = _check_choices(strategy, prefer, epsilon, check_tolerance(tolerance, threshold), defer)
    (target, space), observer = as_used(target, space, threshold, near is None, groups), watched(observer)
    how = {"batch_size": batch_size, "executor": executor, "timeout": timeout, "retries": retries, "journal": journal}
    limits = {"max_queries": max_queries, "max_leaves": max_leaves, "max_seconds": max_seconds, "max_cost": max_cost}
    budget, running = given(target, (budget, limits), (running, how))
    told: dict[str, Any] = {"prefer": prefer, "deterministic": check_switch("deterministic", deterministic)}
    if epsilon is None:
        told |= {**budget.limits(), "max_leaves": budget.max_leaves or LARGEST, **vars(running)}
        return frontier(target, space, delta, observer=observer, tolerance=tolerance, seed=seed, **told).knee
    goal = _goal((check_epsilon(epsilon), check_delta(delta)), seed, strategy, prefer, near, defer)
    told = {"epsilon": goal.epsilon, "delta": goal.delta, "strategy": strategy, **told, **goal.told, **budget.limits()}
    with access(target, space, running, call := Call("distill", goal.seed, goal.seed_chosen, told)) as opened:
        goal = replace(goal, seed=opened.seed, seed_chosen=opened.seed_chosen)
        counted = opened.counted(Memory.usual(opened.space) if deterministic else None, budget, observer)
        kept = KeptRows.ask(counted, space)
        result = beside(_known(counted, space, goal) or _learnt(counted, space, goal, observer), kept)
        with suppress(KeyboardInterrupt):  # the result is there: an interrupt now must not lose it
            observer(Finished(counted.asked, result.tree.size, result.certificate.error_bound, result.reason))
        opened.end(counted, result.reason)
    doubted(result.certificate)
    return _recorded(result, (target, space), goal, call, running)


def _recorded(
    result: Distillation, about: tuple[Target, World], goal: Goal, call: Call, running: Running
) -> Distillation:
    """The result with the space as it was given, and how it was asked for; the same for its frontier."""
    target, space = about
    run, text, kept = recorded(distill, target, goal, call, running)
    curve = result.curve_with(lambda curve: curve.told(space, run, text, kept))
    return replace(result, space=space, run=run, call=text, journal=kept, curve=curve)


def _goal(
    promised: tuple[float, float], seed: int | None, strategy: str, prefer: str, near: float | None, defer: bool
) -> Goal:
    known_seed = seed_of(seed)
    few_leaves, smallest = prefer == "leaves" or strategy == "smallest", strategy == "smallest"
    goal = Goal(*promised, known_seed, seed is not None, strategy == "influence", few_leaves, smallest, near)
    return replace(goal, few_rounds=prefer == "rounds", defer=defer)


def _check_choices(
    strategy: str, prefer: str, epsilon: float | None, tolerance: float | None, defer: bool
) -> float | None:
    """Refuse what contradicts itself; the tolerance."""
    check_choice("strategy", strategy, STRATEGIES)
    check_choice("prefer", prefer, PREFERENCES)
    if check_switch("defer", defer):
        check_deferring(epsilon, strategy, tolerance)
        if prefer == "rounds":
            raise ParameterError('prefer must be "queries" or "leaves" with defer=True; got \'rounds\'')
    if strategy == "influence" and prefer != "queries":
        raise ParameterError(f'prefer must be "queries" with strategy="influence", whose tree is given; got {prefer!r}')
    if epsilon is None and strategy != "auto":
        raise ParameterError(f'epsilon must be a number with strategy="{strategy}"; got None')
    if tolerance is not None and strategy != "auto":
        raise ParameterError(f'strategy must be "auto" where a tolerance is given; got {strategy!r}')
    if tolerance is not None and epsilon == 0:
        raise ParameterError("epsilon must be above 0 where a tolerance is given; got 0")
    return tolerance


def _check_best_sets(space: ProductSpace) -> None:
    """Of more values not all sets are tried, so that the best one may be missed by any factor."""
    for feature in space:
        if len(feature.values or ()) > ALL_SUBSETS:
            raise ParameterError(
                f'strategy="influence" promises good sets of up to {ALL_SUBSETS} values; feature {feature.name!r} has '
                f'{len(feature.values or ())} - use strategy="auto", or build_top_down, which promises less'
            )


def _known(counted: Counted, space: World, goal: Goal) -> Distillation | None:
    """By knowing every answer, where that is asked for; None where it is not, or takes too many queries."""
    counted.reserve = None if goal.epsilon == 0 or free_of_charge(counted) else lambda: True
    if goal.split_quality:
        _check_best_sets(counted.space)
    if space.independent is None or goal.tolerance is not None or goal.defer:
        return None
    found = distil_known(counted, goal) if goal.smallest else None
    if found is None and goal.epsilon == 0:
        with no_error_allowed(counted):
            return distil_exactly(counted, goal)
    return found


def _learnt(counted: Counted, space: World, goal: Goal, observer: Observer) -> Distillation:
    """By a session: learn and test, until the goal is reached or out of reach, or a budget ends it."""
    if goal.defer:
        return distil_deferring(counted, space, goal, observer)
    session = _session(counted, source_of(space, goal.seed, together=True), goal, observer)
    loop = Loop.of(session, _run_goal(session, goal), goal.seed)
    ended = loop.ending()
    if isinstance(ended, AskAll):
        try:
            return distil_exactly(counted, goal)
        except BudgetSpent as stop:  # in the time that is kept for it, what was learnt is tested
            loop.goal.close(str(stop))
            ended = loop.ending()
            assert not isinstance(ended, AskAll), "a goal that was closed asks no more than tests"
        except KeyboardInterrupt:
            if not counted.book.seen:
                raise
            ended, loop.cut_short = "interrupted", True
            counted.interrupted()
    if isinstance(ended, Outcome):
        outcome, reason = _reached(session, ended)
    else:  # no promise about its splits is kept by a tree that was only the best so far
        goal = replace(goal, split_quality=False)
        outcome, reason = _ended(loop, ended, goal)
    made = result_of(outcome, session, goal, reason)
    known = outcome.error is not None or made.error_bound >= 1  # or nothing was tested: there is no other tree to show
    trees = [loop.archive.at(size) for size in GRID] if loop.archive.fitted else []
    return made if known else replace(made, curve=lambda: frontier_of(session, made, outcome, goal, trees))


def _reached(session: Session, outcome: Outcome) -> tuple[Outcome, str]:
    """What a goal has come to, and why; of the paper's tree ``max_leaves`` may forbid what epsilon takes."""
    if outcome.error_bound <= session.attempts.epsilon:
        return outcome, CERTIFIED
    outcome = put_to_test(outcome, session)
    if outcome.error_bound <= session.attempts.epsilon:
        return outcome, CERTIFIED
    return outcome, shortfall(f"max_leaves = {session.counted.budget.max_leaves}", session)


def _run_goal(session: Session, goal: Goal) -> RunGoal[Outcome | AskAll]:
    """What the loop of a run is for."""
    counted = session.counted
    if goal.split_quality:
        return InfluenceGoal(goal.epsilon, economics.QUERIES, counted)
    price = economics.ROUNDS if goal.few_rounds else economics.QUERIES
    if goal.few_leaves:
        price = economics.SMALLEST if goal.smallest else economics.FEW_LEAVES
    independent = session.source.independent if goal.tolerance is None else None
    known = None if independent is None else KnownErrors.of(counted)
    portions = FEW if independent is not None and independent.all_bits else AS_DRAWN
    return EpsilonGoal(goal.epsilon, price, counted.budget.max_leaves, known, portions)


def _session(counted: Counted, source: Source, goal: Goal, observer: Observer) -> Session:
    """A session without an attempt, refused where it could not succeed."""
    session = Session.of(counted, source, goal, observer)
    attempts = session.attempts
    if source.tests < math.inf:
        check_test_rows(int(source.tests), attempts.epsilon, goal.delta, attempts.level(1))
    if source.independent is None:
        _check_joint(source, goal)
    elif source.independent.all_bits and goal.tolerance is None:
        # What a certificate takes if no answer is wrong; or all that may be asked, or all that there is to ask.
        points = counted.space.points if counted.deterministic else None
        limits = (attempts.at_best, counted.budget.max_queries, points)
        check_fits(len(source.product), attempts.epsilon, min(limit for limit in limits if limit is not None))
    return session


def _check_joint(source: Source, goal: Goal) -> None:
    """Refuse what only a product of independent features can have."""
    if goal.epsilon == 0:
        raise ParameterError(f"epsilon must be above 0 where inputs are {source.in_words}; got 0")
    if goal.split_quality:
        raise ParameterError(f'strategy="influence" needs a product space; got {source.in_words}')


def _ended(loop: Loop[Outcome | AskAll], why: str, goal: Goal) -> tuple[Outcome, str]:
    """What a run has to show that ended before its goal was reached, and why it ended."""
    outcome = _so_far(loop)
    if outcome.error_bound <= goal.epsilon:
        return outcome, f"{CERTIFIED}, then {why}" if loop.cut_short else CERTIFIED
    last: object = loop.goal
    rows_end = not loop.source.tests_left and why != "interrupted"
    if rows_end:
        why = last.why if isinstance(last, LastTests) else TOO_FEW_ROWS
    if why.startswith(_LIMITS) or (loop.cut_short and not rows_end):
        return outcome, why
    return at_the_knee(loop.session, outcome), shortfall(why, loop.session, "more rows" * (why == TOO_FEW_ROWS))


def _so_far(loop: Loop[Outcome | AskAll]) -> Outcome:
    """The best there is when a run ends early."""
    session, counted, attempts = loop.session, loop.counted, loop.attempts
    masses, most = session.source.masses, counted.budget.max_leaves
    if any(one.error_bound < 1 for one in attempts.live):
        outcome = best_so_far(attempts, masses, most)
    else:  # no test tells anything: what was learnt is all there is
        outcome = within(attempts.open(loop.best, written_down=False), masses, most)
    known = session.source.independent is not None and attempts.tolerance is None and lists_its_answers(counted)
    return replace(outcome, error=exact_error(outcome.tree, counted)) if known else outcome
