"""All points of a frontier together are false no more often than delta.

Trees with known errors, each wrong on inputs of its own, are opened together and read one stream, as those of a
frontier do. Which of many are opened is decided by answers that came before. A run is counted as false when the bound
of any of them is below its error at any look, or the lower end above it. Seeds are fixed; ALARM is the chance that code
which just keeps its promise fails with others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import fidelitree as ft
from chances import too_many
from fidelitree.certificates.attempts import Attempt, Attempts
from fidelitree.theory.sequential import FRONTIER, ROUND, least_error
from fidelitree.trees.tree import Tree

ALARM = 1e-7
DELTA = 0.2
TREES, POOL, STEPS = 1_500, 400, [20 + 6 * look for look in range(20)]
ERRORS = np.repeat(np.linspace(0.04, 0.4, ROUND + 1), TREES // (ROUND + 1))
"""Ten different errors, and 150 trees with each."""
SPACE = ft.ProductSpace.bernoulli(TREES, ERRORS)
ALL_TREES = [Tree.build(SPACE, [(i, 1, 2), 0, 1], [0, 1]) for i in range(TREES)]
TRUE = dict(zip(ALL_TREES, ERRORS.tolist(), strict=True))
Fault = Callable[[Attempts, np.ndarray], None]


def no_fault(attempts: Attempts, pool: np.ndarray) -> None:
    """Levels and counts as they are."""


def levels_not_divided(attempts: Attempts, pool: np.ndarray) -> None:
    """Every attempt spends all of delta."""
    for attempt in attempts.all:
        attempt.level = attempts.delta


def what_chose_is_counted(attempts: Attempts, pool: np.ndarray) -> None:
    """The answers by which the trees were chosen are counted for them."""
    if not attempts.all[0].samples:
        for attempt in attempts.all:
            attempt.add(attempt.tally(pool, np.zeros(len(pool), np.intp)))


def false(rng: np.random.Generator, fault: Fault) -> bool:
    """Whether a run states something that is not so, about any of its trees, at any time."""
    pool = (rng.random((POOL, TREES)) < ERRORS).astype(np.uint8)
    attempts = Attempts(0.0, DELTA, part=FRONTIER)
    luck = (pool.mean(axis=0) - ERRORS) / np.sqrt(ERRORS * (1 - ERRORS))  # those that look better than they are
    chosen = np.argsort(luck)[:ROUND]
    for one in chosen:
        attempts.open(ALL_TREES[one])
    for rows in STEPS:
        batch = np.zeros((rows, TREES), np.uint8)
        batch[:, chosen] = rng.random((rows, ROUND)) < ERRORS[chosen]
        fault(attempts, pool)
        attempts.count(batch, np.zeros(len(batch), np.intp))
        if any(_refuted(attempt) for attempt in attempts.all):
            return True
    return False


def _refuted(attempt: Attempt) -> bool:
    error = TRUE[attempt.tree]
    low = least_error(attempt.errors, attempt.samples, FRONTIER, attempt.level) if attempt.rate > error else 0.0
    return attempt.certifies(error) or low > error


def hits(fault: Fault, runs: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(false(rng, fault) for _ in range(runs))


def test_all_points_together_keep_delta(soak: bool) -> None:
    runs = 5_000 if soak else 250
    found = hits(no_fault, runs, seed=11)
    assert not too_many(found, runs, DELTA, ALARM)
    assert found > 0.01 * runs, "the runs are no walk-over"


def test_levels_that_are_not_divided_are_seen() -> None:
    assert too_many(hits(levels_not_divided, 400, seed=12), 400, DELTA, ALARM)


def test_candidates_chosen_by_what_they_count_are_seen() -> None:
    assert too_many(hits(what_chose_is_counted, 200, seed=13), 200, DELTA, ALARM)
