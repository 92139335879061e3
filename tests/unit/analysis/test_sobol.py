"""Sobol indices of targets that answer numbers: closed forms, SALib's estimators, regions, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fidelitree as ft

ANGLES = ft.ProductSpace([ft.Numeric(f"x{i}", -math.pi, math.pi) for i in range(3)])


def ishigami(batch: Any) -> Any:
    return np.sin(batch["x0"]) + 7 * np.sin(batch["x1"]) ** 2 + 0.1 * batch["x2"] ** 4 * np.sin(batch["x0"])


def test_ishigami_has_its_indices() -> None:
    found = ft.analyze(ishigami, ANGLES, numbers=True, max_queries=200_000)
    first, total = np.array([0.3139, 0.4424, 0.0]), np.array([0.5576, 0.4424, 0.2437])
    assert np.abs(found.first - first).max() < 0.03
    assert np.abs(found.total - total).max() < 0.02
    assert found.variance == pytest.approx(13.845, rel=0.02)
    assert found.mean == pytest.approx(3.5, abs=0.05)


def test_margins_hold_as_often_as_they_say() -> None:
    truth = np.array([0.3139, 0.4424, 0.0, 0.5576, 0.4424, 0.2437])
    missed = 0
    for seed in range(40):
        found = ft.analyze(ishigami, ANGLES, numbers=True, max_queries=5_000, seed=seed, delta=0.05)
        off = np.abs(np.concatenate([found.first, found.total]) - truth)
        missed += int((off > np.concatenate([found.first_margins, found.total_margins])).sum())
    assert 1 <= missed <= 30  # of 240: 12 are expected, and some bias of a ratio


def test_the_g_function_has_its_indices() -> None:
    weights = np.array([0.0, 1.0, 4.5, 9.0])
    space = ft.ProductSpace([ft.Numeric(f"x{i}", 0, 1) for i in range(4)])

    def g(batch: Any) -> Any:
        return math.prod((np.abs(4 * batch[f"x{i}"] - 2) + a) / (1 + a) for i, a in enumerate(weights))

    parts = 1 / (3 * (1 + weights) ** 2)
    whole = np.prod(1 + parts) - 1
    found = ft.analyze(g, space, numbers=True, max_queries=200_000)
    assert np.abs(found.first - parts / whole).max() < 0.03
    assert np.abs(found.total - parts * np.prod(1 + parts) / (1 + parts) / whole).max() < 0.03


def test_they_are_those_of_salib_on_the_same_answers() -> None:
    sobol = pytest.importorskip("SALib.analyze.sobol")
    seen: list[Any] = []

    def spied_on(batch: Any) -> Any:
        seen.append(ishigami(batch))
        return seen[-1]

    found = ft.analyze(spied_on, ANGLES, numbers=True, max_queries=5_000)
    answers = seen[0].reshape(5, -1).T.ravel()  # SALib's order: A, AB of each feature, B, input by input
    problem = {"num_vars": 3, "names": list(ANGLES.names), "bounds": [[-math.pi, math.pi]] * 3}
    theirs = sobol.analyze(problem, answers, calc_second_order=False, num_resamples=2)
    assert found.first == pytest.approx(theirs["S1"], abs=0.01)
    assert found.total == pytest.approx(theirs["ST"], abs=0.01)


def test_any_features_regions_and_constants() -> None:
    space = ft.ProductSpace([ft.Boolean("owner"), ft.Categorical("job", ["a", "b"]), ft.Numeric("age", 0, 1, 0.2)])

    def price(batch: Any) -> Any:
        return 2.0 * batch["owner"] + (batch["job"] == "a") + 0 * np.nan_to_num(batch["age"])

    found = ft.analyze(price, space, numbers=True, max_queries=40_000)
    assert found.total == pytest.approx([0.8, 0.2, 0.0], abs=0.03)
    inside = ft.analyze(price, space, {"owner": 1}, numbers=True, max_queries=4_000)
    assert inside.total.tolist() == pytest.approx([0.0, 1.0, 0.0], abs=0.1)
    assert inside.total[0] == 0
    constant = ft.analyze(lambda batch: np.full(len(batch["age"]), 2.5), space, numbers=True, max_queries=500)
    assert (constant.total == 0).all()
    assert (constant.mean, constant.variance) == (2.5, 0)
    assert "owner" in str(found).splitlines()[1]
    assert found.to_dict()["indices"][1]["feature"] == "job"


@pytest.mark.parametrize(
    ("how", "rule"),
    [
        ({"space": ft.Rows({"x0": [1.0, 2.0], "x1": [0.0, 1.0], "x2": [3.0, 1.0]})}, "must have independent features"),
        ({"method": "exact"}, "must not be 'exact' where numbers are analyzed"),
        ({"max_queries": 9}, "must allow two inputs, each with 4 changes; got 9, needed 10"),
        ({"numbers": 1}, "numbers must be True or False"),
    ],
)
def test_what_makes_no_sense_is_refused(how: dict[str, Any], rule: str) -> None:
    with pytest.raises(ft.ParameterError, match=rule):
        ft.analyze(ishigami, **{"space": ANGLES, "numbers": True, **how})
