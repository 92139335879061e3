"""The mean absolute error beside a tolerance: bounds by betting, their word, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.theory.sequential import error_bound, mean_bound

SPACE = ft.ProductSpace([ft.Numeric(f"x{i}", 0, 1) for i in range(4)])


def share(batch: Any) -> Any:
    return (batch["x0"] > 0.4) * 0.5 + (batch["x1"] > 0.7) * 0.3 + 0.1 * batch["x2"]


@pytest.mark.parametrize(("errors", "samples"), [(0, 40), (3, 100), (40, 800)])
def test_of_zeros_and_ones_it_is_the_bound_of_an_error(errors: int, samples: int) -> None:
    seen = [1.0] * errors + [0.0] * (samples - errors)
    assert mean_bound(seen, 0.03) == pytest.approx(error_bound(errors, samples, 0.03), rel=0.01)


def test_it_comes_down_to_the_mean_and_never_below() -> None:
    values = np.random.default_rng(0).beta(2, 18, 20_000)
    bounds = [mean_bound(values[:n], 0.05) for n in (50, 500, 5_000, 20_000)]
    assert bounds == sorted(bounds, reverse=True)
    assert 0.1 < bounds[-1] < 0.105
    assert mean_bound([], 0.05) == 1


def test_it_is_wrong_no_more_often_than_its_level() -> None:
    random, wrong, runs = np.random.default_rng(1), 0, 60
    for _ in range(runs):  # looked at again and again, and wrong where it is so once
        values = random.choice([0.0, 0.3, 1.0], 100, p=[0.7, 0.2, 0.1])
        wrong += any(mean_bound(values[:n], 0.1) < 0.16 for n in (10, 30, 100))
    assert not too_many(wrong, runs, 0.1, 1e-6)


def test_a_run_tells_how_far_away_it_is_on_average() -> None:
    found = ft.distill(share, SPACE, 0.1, tolerance=0.1)
    told = found.mean_error(0, 1)
    fresh = SPACE.draw(50_000, seed=3)
    truth = float(np.abs(found.tree.predict(fresh) - share(fresh)).mean())
    assert truth <= told.bound < 0.5
    assert told.samples == found.certificate.samples
    answered = found.answers
    assert answered is not None
    own = np.abs(found.tree.predict_inner(answered.inputs) - answered.labels).mean()
    assert told.mean == pytest.approx(own), "of this tree, whichever was tested"
    assert str(told).startswith(f"On average it is at most {told.bound:.4g} away, with 95% confidence (")
    assert found.mean_error(0, 1, delta=0.5).bound < told.bound
    points = ft.frontier(share, SPACE, tolerance=0.1, max_leaves=5, max_queries=2_000)
    assert all(point.mean_error(0, 1).bound < 1 for point in points)
    other = replace(found, tested=ft.Tree.constant(SPACE, 0.5))
    assert other.mean_error(0, 1).mean == told.mean


@pytest.mark.parametrize(
    ("ends", "rule"),
    [
        ((1, 0), "low must be below high"),
        ((-math.inf, math.inf), "both finite: the target's numbers lie between them; got -inf and inf"),
        ((0, 0.5), "must be ends of all that the target answers; it answered 0"),
        ((0, math.nan), "high must be a"),
    ],
)
def test_ends_must_be_those_of_the_answers(ends: tuple[float, float], rule: str) -> None:
    found = ft.distill(share, SPACE, 0.2, tolerance=0.2)
    with pytest.raises(ft.ParameterError, match=rule):
        found.mean_error(*ends)


def test_labels_have_none() -> None:
    found = ft.distill(lambda batch: batch["x0"] > 0.5, SPACE, 0.1)
    with pytest.raises(ft.ParameterError, match="needs the answers of a run with a tolerance"):
        found.mean_error(0, 1)
