"""``distill``: from a function to a small tree with a certificate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, Protocol

from fidelitree.asking.access import Call, access
from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Finished, Observer, TreeJudged, nobody
from fidelitree.asking.journal.ledger import Ledger
from fidelitree.asking.journalled import name_of
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.memory import CHECKED, Memory
from fidelitree.asking.needs import REMEMBERED_BYTES, check_fits
from fidelitree.asking.running import Running, Workers
from fidelitree.certificates.attempts import Attempts
from fidelitree.errors import (
    ParameterError,
    check_choice,
    check_count,
    check_delta,
    check_epsilon,
    check_observer,
    check_switch,
)
from fidelitree.exact.cells import ALL_SUBSETS
from fidelitree.exact.engine import free_of_charge
from fidelitree.runs.allknown import distil_all, distil_exactly
from fidelitree.runs.auto import AutoRun, Finish, Outcome
from fidelitree.runs.finishes import AsTested, FewestLeaves, LowestError, Smallest, best_so_far
from fidelitree.runs.greedy import Greedy
from fidelitree.runs.listed import Known, exact_error, lists_its_answers
from fidelitree.runs.recipe import written
from fidelitree.runs.reserve import CERTIFIED, use_reserve
from fidelitree.runs.result import Distillation, SplitRecord
from fidelitree.runs.sealing import Wanted, tested_certificate
from fidelitree.runs.shrinking import SPENT, shrunk
from fidelitree.runs.smallest import distil_known
from fidelitree.runs.supply import Inner, Source, source_of
from fidelitree.runs.tabular import FAITHFUL, FRUGAL, Plan, TableRun, patient
from fidelitree.runs.trial import OutOfReach, put_to_test, shortfall
from fidelitree.spaces.draw import fresh_seed
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import Rows, check_test_rows
from fidelitree.targets.labels import Target
from fidelitree.trees.tree import Tree

Strategy = Literal["auto", "influence", "smallest"]
Preference = Literal["queries", "leaves"]
STRATEGIES = ("auto", "influence", "smallest")
PREFERENCES = ("queries", "leaves")
WORTHWHILE = 2_000  # queries from which on a search for fewer leaves is begun
SEARCH = 900  # its proposals
UNDECIDED = 2_000  # over epsilon: answers that may go into deciding whether a smaller tree will do


def distill(
    target: Target,
    space: ProductSpace | Rows,
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
    batch_size: int | None = None,
    executor: Workers | None = None,
    timeout: float | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
    observer: Observer = nobody,
) -> Distillation:
    """A small tree that agrees with the target on at least 1 - epsilon of inputs, with confidence 1 - delta.

    Repeated inputs are answered from memory: the target is taken to be deterministic, and the certificate says so. With
    ``deterministic=False`` every input is asked anew. Where asking about every input is no dearer, the certificate is
    exact. A budget, or Ctrl-C, ends the run early with the best tree so far and the error certified for it;
    ``epsilon=None`` asks for the smallest error that can be certified within a budget. With ``prefer="leaves"`` the run
    may spend ten times the queries, or ``max_queries``, to vouch for fewer leaves (but at least 5 000 labels where not
    all features are bits). ``strategy="influence"`` returns the paper's tree: every split is promised to be within a
    factor 1/4 of the best one, with the same confidence. ``strategy="smallest"`` looks for the fewest leaves: the
    optimum where up to 32 768 queries (or ``max_queries``) answer for all inputs, else what 20 000 can vouch for, in
    the time that ``max_seconds`` allows. The same seed gives the same tree; ``seed=None`` takes one from the machine
    and records it. Over `Rows`, one part of the rows is for learning, the other for tests. For the rest see `Running`.

    >>> from fidelitree.targets import majority
    >>> result = distill(majority(5), ProductSpace.bernoulli(5), epsilon=0)
    >>> result.tree.size, result.certificate.method
    (20, 'exact')
    """
    given = locals()
    _check_choices(given)
    budget = Budget(max_queries=max_queries, max_leaves=max_leaves, max_seconds=max_seconds)
    wanted = Wanted(
        _check_wanted(epsilon, strategy, budget),
        check_delta(delta),
        fresh_seed() if seed is None else check_count("seed", seed, least=0),
        seed is not None,
        strategy == "influence",
        prefer == "leaves" or strategy == "smallest",
        strategy == "smallest",
    )
    running = Running(batch_size, executor, timeout, retries, journal)
    call = _call(wanted, budget, {"strategy": strategy, "prefer": prefer, "deterministic": deterministic})
    with access(target, space, running, call) as way:
        wanted = replace(wanted, seed=way.seed, seed_chosen=way.seed_chosen)
        memory = Memory.within(REMEMBERED_BYTES, way.space, CHECKED) if deterministic else None
        counted = way.counted(memory, budget, observer)
        result = _distil_from(counted, space, wanted, observer)
        way.end(counted, result.reason)
    run = {"door": call.door, "target": name_of(target), **_seed(wanted), **call.arguments}
    return replace(result, space=space, run=run, call=written(distill, {**given, "seed": wanted.seed}))


def _seed(wanted: Wanted) -> dict[str, Any]:
    return {"seed": wanted.seed, "seed_chosen": wanted.seed_chosen}


def _call(wanted: Wanted, budget: Budget, told: Mapping[str, Any]) -> Call:
    """What was asked for, as a journal and a stored result keep it."""
    promised = {"epsilon": wanted.epsilon, "delta": wanted.delta}
    return Call("distill", wanted.seed, wanted.seed_chosen, {**promised, **told, **budget.limits()})


def _distil_from(counted: Counted, space: ProductSpace | Rows, wanted: Wanted, observer: Observer) -> Distillation:
    if wanted.split_quality:
        _check_best_sets(counted.space)
    result = _result(counted, source_of(space, wanted.seed), wanted, observer)
    with suppress(KeyboardInterrupt):  # the result is there: an interrupt now must not lose it
        observer(Finished(counted.asked, result.tree.size, result.certificate.error_bound, result.reason))
    return result


def _check_choices(given: Mapping[str, Any]) -> None:
    for name, known in (("strategy", STRATEGIES), ("prefer", PREFERENCES)):
        check_choice(name, given[name], known)
    check_switch("deterministic", given["deterministic"])
    check_observer(given["observer"])
    if given["strategy"] == "influence" and given["prefer"] != "queries":
        raise ParameterError(
            f'prefer must be "queries" with strategy="influence", whose tree is given; got {given["prefer"]!r}'
        )


def _result(counted: Counted, source: Source, wanted: Wanted, observer: Observer) -> Distillation:
    """By knowing every answer where that is asked for, or cheap; else by a run over some of them."""
    counted.reserve = None if wanted.epsilon == 0 or free_of_charge(counted) else lambda: True
    known = distil_known(counted, wanted) if wanted.smallest and source.masses is not None else None
    if known is not None:
        return known
    if wanted.epsilon == 0 and source.masses is not None:
        return distil_all(counted, wanted)
    return _distil(_run(counted, source, wanted, observer), wanted, observer)


def _check_wanted(epsilon: float | None, strategy: str, budget: Budget) -> float | None:
    if epsilon is not None:
        return check_epsilon(epsilon)
    if strategy != "auto":
        raise ParameterError(f'epsilon must be a number with strategy="{strategy}"; got None')
    if budget.max_queries is None and budget.max_seconds is None:
        raise ParameterError("epsilon=None asks for the best tree within a budget: give max_queries or max_seconds")
    return None


def _check_best_sets(space: ProductSpace) -> None:
    """Of more values not all sets are tried, so that the best one may be missed by any factor."""
    for feature in space:
        if len(feature.values or ()) > ALL_SUBSETS:
            raise ParameterError(
                f'strategy="influence" promises good sets of up to {ALL_SUBSETS} values; feature {feature.name!r} has '
                f'{len(feature.values or ())} - use strategy="auto", or build_top_down, which promises less'
            )


class _Run(Protocol):
    """A run over bits or over any features."""

    counted: Counted
    source: Source
    attempts: Attempts
    history: list[TreeJudged]

    def run(self, finish: Finish) -> Outcome | None:
        """What the finish makes of it; None once it is cheaper to ask about all inputs that are left."""

    def tree(self) -> Tree:
        """The best tree so far."""

    def fresh(self, rows: int) -> Inner:
        """The next inputs for tests."""


def _run(counted: Counted, source: Source, wanted: Wanted, observer: Observer) -> _Run:
    ledger = None if counted.journal is None else Ledger(counted.journal, lambda: source.drawn)
    attempts = Attempts(wanted.epsilon, wanted.delta, ledger)
    if source.masses is not None and source.product.all_bits:
        check_fits(len(source.product), attempts.epsilon, _answers_at_least(attempts, counted))
        return AutoRun(counted, source, attempts, wanted.seed, observer)
    if source.masses is None:
        check_test_rows(int(source.tests), attempts.epsilon, wanted.delta, attempts.level(1))
    return TableRun(counted, source, attempts, _plan(wanted, attempts), wanted.seed, observer)


def _plan(wanted: Wanted, attempts: Attempts) -> Plan:
    if wanted.split_quality:
        return FAITHFUL
    return patient(attempts.epsilon) if wanted.few_leaves else FRUGAL


def _answers_at_least(attempts: Attempts, counted: Counted) -> int:
    """What a certificate takes if no answer is wrong; or all that may be asked, or all that there is to ask."""
    limits = (attempts.at_best, counted.budget.max_queries, counted.space.points if counted.deterministic else None)
    return min(limit for limit in limits if limit is not None)


def _finish(run: _Run, wanted: Wanted) -> Finish:
    counted, most = run.counted, run.counted.budget.max_leaves
    if wanted.split_quality:
        if run.source.masses is None:
            raise ParameterError('strategy="influence" needs a product space; got rows of a table')
        return Greedy(counted)
    if wanted.epsilon is None:
        return LowestError(counted, most)
    if isinstance(run, AutoRun):
        finish: Finish = (FewestLeaves if wanted.few_leaves else Smallest)(counted, most)
        return Known(finish, counted) if lists_its_answers(counted) else finish
    if wanted.few_leaves or run.source.masses is None:
        return AsTested(run.source.masses, most, UNDECIDED / wanted.epsilon if wanted.few_leaves else 0)
    return Smallest(counted, most)


def _distil(run: _Run, wanted: Wanted, observer: Observer) -> Distillation:
    """Learn and certify, until the finish is content or a budget ends the run."""
    counted, attempts = run.counted, run.attempts
    counted.reserve = lambda: not attempts.certified
    try:
        finish = _finish(run, wanted)
        first = _as_auto(run, wanted)
        outcome = run.run(finish) if first is None or first.tree.size > 1 else first
        if isinstance(run, AutoRun) and outcome is None and run.stuck:
            run = TableRun(counted, run.source, run.attempts, _plan(wanted, run.attempts), wanted.seed, observer)
            finish = _finish(run, wanted)
            outcome = run.run(finish)
        if outcome is None:
            return distil_exactly(counted, wanted)
        if isinstance(finish, FewestLeaves) and finish.unsettled:
            spend = finish.to_spend()
            outcome = _fewer_leaves(run, outcome, min(spend, SPENT - counted.asked) if wanted.smallest else spend)
        if wanted.smallest and wanted.epsilon is not None and run.source.masses is not None:
            outcome = shrunk(outcome, run, wanted.epsilon)
        if first is not None and first.tree.size < outcome.tree.size:
            outcome = first
        promised = wanted.split_quality
        if outcome.error_bound > run.attempts.epsilon:
            outcome = put_to_test(outcome, run)
        enough = outcome.error_bound <= run.attempts.epsilon
        fewer = OutOfReach(f"max_leaves = {counted.budget.max_leaves}")
        reason = "certified" if enough else shortfall(fewer, outcome, counted.asked)
    except (BudgetSpent, KeyboardInterrupt) as stop:
        if isinstance(stop, KeyboardInterrupt) and not counted.book.seen:
            raise
        (outcome, reason), promised = _ended(run, stop, wanted), False
    certificate = tested_certificate(outcome, run, replace(wanted, split_quality=promised))
    trace: tuple[SplitRecord | TreeJudged, ...] = outcome.splits if promised else tuple(run.history)
    answers = run.attempts.answers(outcome.attempt)
    labels = None if answers is None else answers.leaf_labels(outcome.tree)
    return Distillation(
        outcome.tree, certificate, counted.queries, trace, counted.space, reason, answers, labels, tested=outcome.tested
    )


def _ended(run: _Run, stop: BudgetSpent | KeyboardInterrupt, wanted: Wanted) -> tuple[Outcome, str]:
    """What a run has to show that was ended early, and why it ended."""
    reason = str(stop) or "interrupted"
    if not isinstance(stop, (KeyboardInterrupt, OutOfReach)):
        reason = use_reserve(run, reason)
    outcome = _so_far(run)
    enough = wanted.epsilon is not None and outcome.error_bound <= wanted.epsilon
    if isinstance(stop, OutOfReach):
        return outcome, "certified" if enough else shortfall(stop, outcome, run.counted.asked)
    return outcome, f"certified, then {reason}" if enough and reason != CERTIFIED else reason


def _as_auto(run: _Run, wanted: Wanted) -> Outcome | None:
    """What ``strategy="auto"`` would return, where ``"smallest"`` goes other ways: the result must not be larger."""
    if not wanted.smallest or wanted.epsilon is None or not isinstance(run, TableRun) or run.source.masses is None:
        return None  # rows of a table serve once: there are none to spare
    auto = TableRun(run.counted, run.source, run.attempts, FRUGAL, wanted.seed, nobody)
    with suppress(BudgetSpent):
        return auto.run(_finish(auto, replace(wanted, few_leaves=False)))
    return None


def _fewer_leaves(run: _Run, outcome: Outcome, spend: int) -> Outcome:
    """A smaller tree than the outcome's, from as many more queries, if there is one."""
    if spend < WORTHWHILE:
        return outcome
    plan = Plan(first=spend // 2, steps=SEARCH, frugal=False)
    again = TableRun(run.counted, run.source, run.attempts, plan, run.counted.asked, nobody)
    finish = AsTested(run.source.masses, run.counted.budget.max_leaves, patience=spend // 2)
    found = again.look_once(finish)
    return found if found is not None and found.tree.size < outcome.tree.size else outcome


def _so_far(run: _Run) -> Outcome:
    """The best there is when a budget ends the run."""
    if not run.counted.book.seen:
        raise ParameterError("max_queries and max_seconds must allow some labels; the budget ended before the first")
    if not run.attempts.all:
        run.attempts.open(run.tree(), written_down=False)
    outcome = best_so_far(run.attempts, run.source.masses, run.counted.budget.max_leaves)
    if not lists_its_answers(run.counted):
        return outcome
    return replace(outcome, error=exact_error(outcome.tree, run.counted))
