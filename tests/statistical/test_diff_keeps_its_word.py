"""How often a difference states a precision or a recall that is too high, over all attempts of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chances import too_many
from fidelitree.runs.agree.diff_testing import Changed, DiffAttempt, level_of, level_together
from fidelitree.trees.tree import Tree
from journals import BITS

if TYPE_CHECKING:
    from collections.abc import Callable

DELTA, RUNS, ALARM = 0.3, 120, 1e-6
TREE = Tree.constant(BITS, 0)


def false_runs(level: Callable[[int], float], attempts: int, seed: int) -> int:
    """Runs in which some attempt states .9 / .9 while a little less is true: each looks after every batch."""
    rng, false = np.random.default_rng(seed), 0
    for _ in range(RUNS):
        stated = False
        for number in range(1, attempts + 1):
            attempt = DiffAttempt(TREE, level(number))
            for _ in range(15):
                alarms, misses = rng.binomial(20, 0.101, 2)
                attempt.false_alarms.count(int(alarms), 20)
                attempt.misses.count(int(misses), 20)
                one, two = attempt.false_alarms.certifies(0.1), attempt.misses.certifies(0.1)
                stated |= one or two
        false += stated
    return false


def test_attempts_together_stay_within_two_thirds_of_delta() -> None:
    """Correct code would fail for a fresh seed with probability one in a million."""
    assert not too_many(false_runs(lambda number: level_of(number, DELTA), 6, seed=3), RUNS, 2 / 3 * DELTA, ALARM)
    assert not too_many(false_runs(lambda _: level_together(2, 9, DELTA), 9, seed=4), RUNS, 2 / 3 * DELTA / 4, ALARM)


def test_the_same_test_sees_levels_that_are_not_divided() -> None:
    """The planted fault: every attempt spends all of delta."""
    assert too_many(false_runs(lambda _: DELTA, 6, seed=3), RUNS, 2 / 3 * DELTA, ALARM)


def interval_misses(seed: int, shrink: float = 1.0) -> int:
    """Runs in which the share of changes is outside its interval at some look."""
    rng, outside = np.random.default_rng(seed), 0
    for _ in range(RUNS):
        changed, missed = Changed(DELTA), False
        for _ in range(15):
            changed.count(int(rng.binomial(40, 0.05)), 40)
            low, high = changed.interval
            middle = (low + high) / 2
            missed |= abs(0.05 - middle) > shrink * (high - low) / 2
        outside += missed
    return outside


def test_the_interval_holds_at_every_look() -> None:
    assert not too_many(interval_misses(seed=5), RUNS, DELTA / 3, ALARM)
    assert too_many(interval_misses(seed=5, shrink=0.4), RUNS, DELTA / 3, ALARM)  # planted: an interval too short
