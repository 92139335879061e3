"""Ends of scores: they hold for all candidates of a feature together with probability 1 - delta.

ALARM is the chance that ends which just keep this promise fail a check with fresh seeds.
"""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
import reference
from chances import too_many
from fidelitree.asking.counted import Counted
from fidelitree.search.scores import best_test, draw_pairs, subsets, thresholds
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.spaces.region import Region
from mixed import every_input

ALARM = 1e-7
RUNS, DELTA, PAIRS = 200, 0.3, 150
SPACE = ft.ProductSpace(
    [
        ft.Numeric.from_values("x", np.arange(12)),
        ft.Categorical("c", {f"v{k}": (k + 1) / 21 for k in range(6)}),
        ft.Categorical("d", [f"v{k}" for k in range(12)]),
    ]
)
ROWS, CHANCES = every_input(SPACE)
ANSWERS = np.random.default_rng(8).integers(0, 3, len(ROWS))


def target(batch: dict[str, np.ndarray]) -> np.ndarray:
    place = np.ravel_multi_index(tuple(SPACE.encode(batch).astype(int).T), (12, 6, 12))
    return ANSWERS[place]


def drop(test: AtMost | IsIn) -> float:
    """The true score, from the matrix of how often two values differ."""
    cube = np.moveaxis(ANSWERS.reshape(12, 6, 12), test.feature, 0)
    others = np.moveaxis(CHANCES.reshape(12, 6, 12), test.feature, 0).sum(axis=0).ravel()
    flat = cube.reshape(len(cube), -1)
    values, shares = SPACE.features[test.feature].listed(None)
    apart = ((flat[:, None] != flat) * others).sum(axis=2)
    yes = test.answers(values)
    weights = shares[:, None] * apart * shares
    q1 = shares[yes].sum()
    return float(weights.sum() - weights[yes][:, yes].sum() / q1 - weights[~yes][:, ~yes].sum() / (1 - q1))


def best_of_all(i: int) -> float:
    feature = SPACE.features[i]
    if i == 0:
        return max(drop(AtMost(0, cut)) for cut in feature.cuts(None))
    return max(drop(IsIn(i, frozenset(np.flatnonzero(row).tolist()))) for row in subsets.every_set(feature.points))


def missed(i: int, best: float | None) -> int:
    """How often the chosen test's score is outside its ends, or the best candidate's above what is possible."""
    count = 0
    for seed in range(RUNS):
        pairs = draw_pairs(Counted(target, SPACE), Region.whole(SPACE), i, Stream.named(seed, "scores"), PAIRS)
        found = best_test(pairs, DELTA)
        assert found is not None
        outside = not found.low - 1e-12 <= drop(found.test) <= found.high + 1e-12
        count += outside or (best is not None and best > found.most + 1e-12)
    return count


def test_the_slow_twin_agrees() -> None:
    for test in (AtMost(0, 4.5), IsIn(1, frozenset({0, 3})), IsIn(2, frozenset({5}))):
        yes = test.answers(ROWS[:, test.feature])
        expected = reference.slow_drop(ROWS, CHANCES, ANSWERS, test.feature, yes)
        assert drop(test) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("i", [0, 1, 2])
def test_ends_hold_for_the_test_that_was_chosen(i: int) -> None:
    best = best_of_all(i) if i < 2 else None  # beyond ten categories not every set is a candidate
    assert not too_many(missed(i, best), RUNS, DELTA, ALARM)


def test_ends_that_were_made_for_one_candidate_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Normal ends at level .3 for the chosen threshold alone: the largest of many estimates is too large."""
    share = thresholds.share

    def narrow(hits: np.ndarray, samples: int, level: float) -> object:
        return share(hits, samples, 0.999)

    monkeypatch.setattr(thresholds, "share", narrow)
    monkeypatch.setattr(thresholds.math, "log", lambda x: 0.0)
    assert too_many(missed(0, None), RUNS, DELTA, ALARM)
