"""The attempts of a run and its standing attempts together are false no more often than delta.

Every tree that a simulated run can come up with has an error of exactly epsilon, so every certificate is false. The run
keeps the tree with the fewest mistakes so far, opens an attempt for it behind a gate, and standing attempts on the way;
it is counted as false when either ledger certifies anything at any time. Seeds are fixed; ALARM is the chance that code
which just keeps its promise fails with others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import fidelitree as ft
from chances import too_many
from fidelitree.certificates.attempts import Attempts
from fidelitree.trees.tree import Tree

ALARM = 1e-7
EPSILON, DELTA = 0.1, 0.2
TREES, POOL, STEP, INPUTS = 64, 24, 4, 240
READY = 12  # inputs without a mistake before an attempt is opened
SPACE = ft.ProductSpace.bernoulli(TREES, EPSILON)
ALL_TREES = [Tree.build(SPACE, [(i, 1, 2), 0, 1], [0, 1]) for i in range(TREES)]
OPENINGS = 16  # inputs between two standing attempts: many, to make the most of what they may spend
Fault = Callable[[Attempts], None]


def no_fault(attempts: Attempts) -> None:
    """Levels as they are."""


def both_at_full_delta(attempts: Attempts) -> None:
    """Each ledger spends delta as if it were alone, and every attempt all of it."""
    for attempt in (*attempts.all, *attempts.standing.all):
        attempt.level = attempts.delta


def false(rng: np.random.Generator, fault: Fault) -> bool:
    """Whether a run in which no tree is good enough certifies one."""
    inputs = (rng.random((INPUTS, TREES)) < EPSILON).astype(np.uint8)
    labels = np.zeros(STEP, np.intp)
    attempts = Attempts(EPSILON, DELTA)
    grown, grown_until, at = int(inputs[:POOL].sum(axis=0).argmin()), POOL, POOL
    while at < INPUTS:
        if (at - POOL) % OPENINGS == 0:
            attempts.standing.open(at, [ALL_TREES[grown]])
        fault(attempts)
        batch, at = inputs[at : at + STEP], at + STEP
        attempts.count(batch, labels)
        if any(attempt.certifies(EPSILON) for attempt in attempts.live):
            return True
        if batch[:, grown].any():
            grown, grown_until = int(inputs[:at].sum(axis=0).argmin()), at
        elif at - grown_until >= READY:
            attempts.open(ALL_TREES[grown])
    return False


def hits(fault: Fault, runs: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(false(rng, fault) for _ in range(runs))


def test_both_ledgers_together_keep_delta(soak: bool) -> None:
    runs = 20_000 if soak else 1_000
    found = hits(no_fault, runs, seed=3)
    assert not too_many(found, runs, DELTA, ALARM)
    assert found > 0.05 * runs, "the runs are no walk-over"


def test_a_planted_fault_is_seen() -> None:
    assert too_many(hits(both_at_full_delta, 500, seed=4), 500, DELTA, ALARM)
