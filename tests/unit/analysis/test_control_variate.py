"""Trees that stand in for the target: better estimates where it is like a tree, no worse ones elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.runs.analysis import analyze as analysis
from fidelitree.runs.analysis import control_variate as stand_in
from fidelitree.runs.analysis.control_variate import corrected
from fidelitree.runs.analysis.stars import draw_stars
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.region import Region

BIASES = np.random.default_rng(0).uniform(0.2, 0.8, 14)
SPACE = ft.ProductSpace.bernoulli(14, BIASES)


def small_tree(batch: np.ndarray) -> np.ndarray:
    """Three labels, five leaves."""
    a, b, c = batch[:, 3], batch[:, 7], batch[:, 12]
    return np.where(a, np.where(b, "x", "y"), np.where(b & c, "z", "y"))


def true(target: Any, given: dict[str, int] | None = None) -> ft.Analysis:
    return ft.analyze(target, SPACE, given, max_queries=1 << 14)


@pytest.mark.parametrize("given", [None, {"x7": 1, "x0": 0}])
def test_a_target_that_is_a_small_tree_is_known_exactly(given: dict[str, int] | None) -> None:
    found, exact = ft.analyze(small_tree, SPACE, given, max_queries=3000), true(small_tree, given)
    assert not found.exact
    np.testing.assert_allclose(found.influences, exact.influences, atol=1e-12)
    np.testing.assert_allclose(found.label_probabilities, exact.label_probabilities, atol=1e-12)
    assert (found.intervals[:, 1] - found.intervals[:, 0])[exact.influences > 0].min() > 0.001, "intervals promise less"


def errors(target: Any, queries: int, seeds: int) -> np.ndarray:
    exact = true(target).influences
    found = [ft.analyze(target, SPACE, max_queries=queries, seed=seed).influences - exact for seed in range(seeds)]
    return np.array(found)


@pytest.mark.parametrize(
    "target", [ft.targets.majority(14), ft.targets.hidden_weighted_bit(14), ft.targets.multiplexer(3)]
)
def test_errors_are_no_larger_than_those_of_plain_shares(target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over 20 seeds; the margin of 5 % is for the factor, which is estimated too."""

    def padded(batch: np.ndarray) -> np.ndarray:
        return target(batch[:, : target.n])

    helped = np.square(errors(padded, 4000, 20)).mean()
    monkeypatch.setattr(stand_in, "_factor", lambda *_: 0.0)
    plain = np.square(errors(padded, 4000, 20)).mean()
    assert helped <= plain * 1.05
    if target.n == 11:
        assert helped < plain / 10


def test_estimates_are_right_on_average() -> None:
    """Means of 80 runs within 6 standard errors of the truth: a false alarm below 14 x 1e-7 (Student, 79)."""
    found = errors(ft.targets.hidden_weighted_bit(14), 15 * 60, 80)
    spread = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0)) <= 6 * spread).all()


def test_a_tree_that_saw_the_stars_that_judge_it_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grown from all stars alike, trees repeat what they were grown from and seem to explain it."""
    target = ft.targets.majority(14)
    everything = stand_in._grow
    whole: list[Any] = []

    def remember(counted: Any, region: Region, queries: int, stream: Stream) -> Any:
        whole[:] = [draw_stars(counted, region, queries, stream)]
        return whole[0]

    def seen(star: Any, stars: Any, labels: int) -> Any:
        parts = [np.concatenate(part, axis=-1) for part in zip(*whole[0].held, strict=True)]
        return everything(stand_in.Star(*parts), stars, labels)

    monkeypatch.setattr(stand_in, "LARGEST", 4096)
    honest = np.square(errors(target, 15 * 70, 10)).mean()
    monkeypatch.setattr(analysis, "draw_stars", remember)
    monkeypatch.setattr(stand_in, "_grow", seen)
    assert np.square(errors(target, 15 * 70, 10)).mean() > 1.2 * honest + 1e-6


def test_groups_share_every_run_of_rows() -> None:
    groups = stand_in._deal(83, Stream.named(0, "test"))
    assert len(groups) == 83
    assert all(sorted(run) == list(range(8)) for run in groups[:80].reshape(-1, 8).tolist())


def test_what_stars_count_is_what_they_hold() -> None:
    counted = Counted(small_tree, SPACE)
    stars = draw_stars(counted, SPACE.whole, 3000, Stream.named(0, "test"))
    changed = sum(np.count_nonzero(star.after != star.before, axis=1) for star in stars.held)
    assert stars.changed.tolist() == changed.tolist()
    assert stars.labels.sum() == stars.rows == 200
    assert corrected(stars).labels.sum() == pytest.approx(1)
