"""One method on one case: grow, choose, test."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.leaves.cases import DELTA, Case
from benchmarks.leaves.peers import PEERS, Labelled
from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import BudgetSpent
from fidelitree.asking.memory import Memory
from fidelitree.certificates.attempts import FAIR_TRIAL, Attempts
from fidelitree.runs.input_source import Source
from fidelitree.runs.outcome import best_so_far
from fidelitree.runs.session import Session
from fidelitree.runs.stopping import AsTested
from fidelitree.runs.strategies.table_strategy import Plan, TableStrategy
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

OURS = "fidelitree"
STEPS = 900  # proposals, as prefer="leaves" makes them
PATIENCE = 2_000  # over epsilon: answers that may go into deciding whether a smaller tree will do
BATCHES = 64


@dataclass(frozen=True)
class Found:
    """What a method came to."""

    case: Case
    method: str
    growing: int
    queries: int
    tree: Tree
    bound: float
    seconds: float
    error: float = float("nan")

    @property
    def certified(self) -> bool:
        return self.bound <= self.case.epsilon


def perform(case: Case, method: str, seed: int, seconds: float = 60.0, labels: int | None = None) -> Found:
    """One method; ``labels`` replaces the number of growing labels. Seconds are those of the processor."""
    started = time.process_time()
    source = case.source(seed)
    counted = Counted(case.target, source.product, Memory())
    attempts = Attempts(case.epsilon, DELTA)
    growing = labels or case.growing(source)
    if method == OURS:
        _ours(counted, source, attempts, growing, seed)
    else:
        inner = source.label(growing)
        answers = counted.labels(counted.ask(inner, "label"))
        data = Labelled(source.product, inner, answers, case.epsilon)
        put_to_test(PEERS[method](data, seconds), counted, source, attempts)
    masses = source.masses if method == OURS else None
    outcome = best_so_far(attempts, masses, None)
    taken = time.process_time() - started
    return Found(case, method, growing, counted.asked, outcome.tree, outcome.error_bound, taken)


def _ours(counted: Counted, source: Source, attempts: Attempts, growing: int, seed: int) -> None:
    """What prefer="leaves" does, with so many labels to grow from and no more."""
    plan = Plan(first=growing, steps=STEPS, frugal=False)
    session = Session(counted, source, attempts)
    strategy = TableStrategy(session, plan, seed)
    finish = AsTested(source.masses, None, patience=PATIENCE / attempts.epsilon)
    try:
        if session.run(strategy.look_once(finish)) is None:
            put_to_test([strategy.tree()], counted, source, attempts)
    except BudgetSpent:  # the rows of the table
        pass


def put_to_test(trees: Sequence[Tree], counted: Counted, source: Source, attempts: Attempts) -> None:
    """Count answers until the smallest tree that can be certified is, or none will be."""
    for tree in trees:
        attempts.open(tree)
    epsilon = attempts.epsilon
    finish = AsTested(None, None, patience=PATIENCE / epsilon)
    rows, samples = max(8, counted.asked // BATCHES), 0
    while finish.done(attempts) is None and samples < PATIENCE / epsilon:
        if samples >= FAIR_TRIAL / epsilon and all(bet.errors > epsilon * bet.samples for bet in attempts.all):
            return
        try:
            inner = source.test(rows)
        except BudgetSpent:
            return
        attempts.count(inner, counted.labels(np.asarray(counted.ask(inner, "certify"), np.intp)))
        samples += len(inner)
