"""How often a monitor cries wolf: the promise is just kept, and rows come for a long time."""

from __future__ import annotations

import numpy as np

from chances import too_many
from fidelitree.runs.agree.monitor import Watched

PROMISED, LEVEL = 0.05, 0.05


def false_alarms(repeats: int, rows: int, level: float, seed: int) -> int:
    """Runs in which an alarm goes off although errors come exactly as often as promised."""
    rng, alarms = np.random.default_rng(seed), 0
    for _ in range(repeats):
        watched = Watched("all rows", PROMISED, level)
        for _ in range(rows // 50_000):
            watched.see(rng.random(50_000) < PROMISED)
        alarms += watched.alarmed_at is not None
    return alarms


def test_false_alarms_stay_within_their_level(soak: bool) -> None:
    """Correct code would fail for a fresh seed with probability one in a million."""
    repeats, rows = (1_000, 1_000_000) if soak else (200, 100_000)
    assert not too_many(false_alarms(repeats, rows, LEVEL, seed=11), repeats, LEVEL, alarm=1e-6)


def test_the_same_test_sees_a_level_that_is_not_kept() -> None:
    """The planted fault: an alarm that goes off as soon as the bet has won anything."""
    assert too_many(false_alarms(200, 100_000, 0.7, seed=11), 200, LEVEL, alarm=1e-6)
