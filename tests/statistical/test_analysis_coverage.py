"""Estimated influences: all intervals of an analysis are right together with probability 1 - delta.

ALARM is the chance that intervals which just keep this promise fail a check with fresh seeds.
"""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from chances import plausible, too_many
from fidelitree.asking.repeats import MOST
from fidelitree.runs.analysis import analyze as analysis
from fidelitree.runs.analysis import stars

ALARM = 1e-7
RUNS, DELTA, ROWS = 250, 0.3, 60
N = 13
SPACE = ft.ProductSpace.bernoulli(N, np.random.default_rng(0).uniform(0.2, 0.8, N))
# predict, not the tree itself: a tree would be analysed exactly.
TARGETS = [ft.targets.majority(N), ft.targets.balanced(SPACE, 4, seed=3).predict, ft.targets.hidden_weighted_bit(N)]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Intervals come from the counts alone: without stand-ins for the estimates they are the same, and sooner there."""
    monkeypatch.setattr(stars, "MOST_BYTES", 0)


def missed(target: object, given: dict[str, int] | None = None) -> int:
    """How many analyses have an interval that misses the influence."""
    true = ft.analyze(target, SPACE, given, max_queries=1 << N).influences
    count = 0
    for seed in range(RUNS):
        queries = ROWS * (N + 1 - len(given or {}))
        found = ft.analyze(target, SPACE, given, max_queries=queries, delta=DELTA, seed=seed)
        assert not found.exact
        low, high = found.intervals.T
        count += bool(((true < low - 1e-12) | (true > high + 1e-12)).any())
    return count


@pytest.mark.parametrize("target", TARGETS, ids=["majority", "tree", "hidden weighted bit"])
def test_all_intervals_are_right_together(target: object) -> None:
    assert not too_many(missed(target), RUNS, DELTA, ALARM)


def test_all_intervals_are_right_inside_a_region() -> None:
    assert not too_many(missed(ft.targets.majority(N), {"x2": 1, "x5": 0}), RUNS, DELTA, ALARM)


def test_a_delta_that_is_not_divided_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lower_bound", "upper_bound"):
        bound = getattr(analysis, name)
        monkeypatch.setattr(
            analysis, name, lambda hits, rows, level, bound=bound: bound(hits, rows, min(0.5, 2 * N * level / 2))
        )
    assert too_many(missed(ft.targets.majority(N)), RUNS, DELTA, ALARM)


def test_shares_of_labels_and_influences_fit_their_binomial_laws() -> None:
    """1e-9 for each of 14 counts."""
    target = ft.targets.majority(N)
    true = ft.analyze(target, SPACE, max_queries=1 << N)
    found = ft.analyze(target, SPACE, seed=9)
    rows = 100_000 // (N + 1)
    assert found.queries.asked == rows * (N + 1)
    assert found.queries.paid == found.queries.asked + MOST, "some are asked again, to see that answers repeat"
    assert plausible(round(found.mean * rows), rows, true.mean, 1e-9)
    scale = 2 * SPACE.biases * (1 - SPACE.biases)
    for i in range(N):
        hits = round(found.influences[i] / scale[i] * rows)
        assert plausible(hits, rows, true.influences[i] / scale[i], 1e-9)
