"""Rows of a table are few: learn first, and keep tests for trees that they can decide about."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import fidelitree as ft
from population import loan, table_of


@pytest.fixture(scope="module")
def forest() -> tuple[Any, ft.Rows]:
    inputs, labels = load_breast_cancer(return_X_y=True)
    inputs = inputs[:, [0, 1, 4, 6, 20, 21, 27]]
    model = RandomForestClassifier(30, min_samples_leaf=5, random_state=0).fit(inputs, labels)
    return model.predict, ft.Rows(inputs)


@pytest.mark.parametrize("seed", range(3))
def test_tests_are_not_spent_while_rows_lie_unlabelled(forest: tuple[Any, ft.Rows], seed: int) -> None:
    """0.1.0 spent all 284 test rows on a tree from 64 labels (seed 0) or 116 (seed 2), and certified nothing."""
    result = ft.distill(*forest, 0.15, seed=seed)
    assert result.certificate.holds
    assert result.queries.asked["label"] <= 285
    assert 0 < result.queries.asked["certify"] <= 284


def test_where_an_early_tree_passes_most_rows_are_not_asked() -> None:
    result = ft.distill(loan, table_of(4_000, 0), 0.1)
    assert result.certificate.holds
    assert result.queries.asked < 300


def test_a_table_that_is_too_small_is_used_up() -> None:
    rng = np.random.default_rng(0)
    rows = ft.Rows({"x": rng.random(400), "y": rng.random(400)})
    result = ft.distill(lambda batch: np.floor(batch["x"] * 40) % 2, rows, 0.1)
    assert not result.certificate.holds
    assert result.queries.asked["label"] == 200
    assert result.reason.startswith("the table has too few rows: after ")
