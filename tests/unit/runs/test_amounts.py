"""Whole numbers that are amounts: a run says so early, and ends unless somebody gave a limit."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import fidelitree as ft
from fidelitree.errors import DoubtWarning
from fidelitree.runs.amounts import are_amounts
from fidelitree.runs.economics import AT_LEAST

RANDOM = np.random.default_rng(7)
TABLE = pd.DataFrame(RANDOM.normal(size=(600, 5)), columns=list("abcde"))
CENTRES = RANDOM.normal(size=(40, 5))
SAID = r"^the target answers amounts, not classes: \d+ different whole numbers so far\. See docs/numbers.md: .* or "


def amount(batch: Any) -> Any:
    return np.round(100 * batch["a"] + 40 * np.sin(3 * batch["b"]) + 30 * batch["c"] * batch["d"]).astype(int)


def nearest(batch: Any) -> Any:
    """A class: the number of the centre that is nearest, which says nothing about where it is."""
    rows = np.asarray(batch, float)
    return ((rows[:, None] - CENTRES) ** 2).sum(axis=2).argmin(axis=1)


@pytest.mark.parametrize("door", [ft.distill, ft.frontier])
def test_a_run_that_takes_amounts_for_classes_says_so_and_ends(door: Any) -> None:
    with pytest.warns(DoubtWarning, match=SAID + r"tolerance= .*; or give max_queries to go on") as caught:
        made = door(amount, TABLE, seed=3)
    assert caught[0].filename == __file__
    assert made.reason == "the target answers amounts, which need a tolerance"
    assert made.queries.asked["label"] <= 2 * AT_LEAST
    assert all(point.error_bound > 0.9 for point in getattr(made, "points", [made]))


def test_what_was_paid_is_in_the_journal_and_a_limit_goes_on_from_there(tmp_path: Path) -> None:
    with pytest.warns(DoubtWarning):
        ended = ft.distill(amount, TABLE, seed=3, journal=tmp_path / "j.db")
    with pytest.warns(DoubtWarning, match=r"\(how far off still agrees\)$"):
        on = ft.distill(amount, TABLE, seed=3, journal=tmp_path / "j.db", max_queries=2_000)
    assert on.reason == "max_queries = 2000"
    assert on.queries.asked > ended.queries.asked
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ft.distill(amount, TABLE, epsilon=0.2, seed=3, tolerance=60).certificate.holds


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_no_amounts_however_many_they_are(seed: int) -> None:
    space = ft.ProductSpace.from_data(TABLE)
    drawn = pd.DataFrame({name: np.random.default_rng(seed).permutation(TABLE[name]) for name in TABLE})[:AT_LEAST]
    for target, wanted in ((amount, True), (nearest, False), (lambda rows: amount(rows) // 100, False)):
        numbers, codes = np.unique(target(drawn), return_inverse=True)
        assert are_amounts(space, space.encode(drawn), codes.astype(np.intp), numbers.tolist()) is wanted


def test_a_fitted_regressor_is_refused_at_the_door() -> None:
    model = LinearRegression().fit(TABLE, TABLE["a"])
    for target in (model, model.predict, ft.targets.Estimator(model)):
        with pytest.raises(ft.ParameterError, match="LinearRegression is a regressor, which answers numbers"):
            ft.distill(target, TABLE)
    assert ft.distill(model, TABLE, epsilon=0.2, threshold=0).certificate.holds
    assert ft.distill(model, TABLE, epsilon=0.2, tolerance=1).certificate.holds
