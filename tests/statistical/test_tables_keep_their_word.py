"""How often a certificate over mixed features, or over rows, is false: no more often than delta.

Whole runs whose true errors are known exactly: random targets over a space, and tables drawn from a known population.
Counts with fixed seeds are compared with the binomial tail at delta; ALARM is the chance that code which just keeps its
promise fails with fresh seeds. A planted fault, test rows that are counted twenty times, must be seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.runs.input_source import TableSource
from mixed import GAPS, MIXED, mixed_tree
from population import PEOPLE, population_error, table_of

ALARM = 1e-7
EPSILON = 0.2


def over_a_space(space: ft.ProductSpace, delta: float, seeds: range) -> tuple[int, list[float]]:
    """False certificates, and each run's true error over its bound: trees of many leaves, little time to learn them."""
    shares = []
    for seed in seeds:
        true = mixed_tree(space, np.random.default_rng(seed), ["a", "b", "c"], grow=0.95)
        result = ft.distill(true.predict, space, EPSILON, delta, seed=seed, max_queries=120)
        shares.append(ft.tree_error(result.tree, true, space) / result.certificate.error_bound)
    return sum(share > 1 for share in shares), shares


def rumour(seed: int) -> Any:
    """A target that is a small tree for some people and any function of age and rooms for the others."""
    rng = np.random.default_rng(seed)
    answers, odd = rng.integers(0, 2, (80, 7)), rng.uniform(0.05, 0.5)
    listens = rng.random((80, 7)) < odd

    def target(batch: Any) -> Any:
        age, rooms = np.asarray(batch["age"]), np.asarray(batch["rooms"])
        return np.where(listens[age, rooms], answers[age, rooms], (age > 50) ^ (rooms > 3))

    return target


def over_rows(delta: float, seeds: range) -> tuple[int, list[float]]:
    """The same over tables that are drawn anew for each run."""
    shares = []
    for seed in seeds:
        target = rumour(seed)
        result = ft.distill(target, table_of(260, 10_000 + seed), EPSILON, delta, seed=seed)
        shares.append(population_error(result.tree, target) / result.certificate.error_bound)
    return sum(share > 1 for share in shares), shares


@pytest.mark.parametrize("space", [MIXED, GAPS], ids=["whole", "with gaps"])
@pytest.mark.parametrize(("delta", "start"), [(0.05, 0), (0.3, 5_000)])
def test_bounds_over_mixed_features_are_true(space: ft.ProductSpace, delta: float, start: int, soak: bool) -> None:
    runs = 1_000 if soak else 30
    false, shares = over_a_space(space, delta, range(start, start + runs))
    assert not too_many(false, runs, delta, ALARM)
    assert np.quantile(shares, 0.75) > 0.3, "the runs are no walk-over"


@pytest.mark.parametrize(("delta", "start"), [(0.05, 0), (0.3, 5_000)])
def test_bounds_over_rows_are_true(delta: float, start: int, soak: bool) -> None:
    runs = 1_000 if soak else 30
    false, shares = over_rows(delta, range(start, start + runs))
    assert not too_many(false, runs, delta, ALARM)
    assert np.quantile(shares, 0.75) > 0.3, "the runs are no walk-over"


def test_rows_that_are_counted_more_than_once_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = TableSource.test
    monkeypatch.setattr(TableSource, "test", lambda listed, rows: np.tile(honest(listed, min(rows, 8)), (20, 1)))
    false, _ = over_rows(0.01, range(40))
    assert too_many(false, 40, 0.01, ALARM)


def test_the_population_is_known() -> None:
    assert PEOPLE[1].sum() == pytest.approx(1)
    assert population_error(ft.distill(rumour(0), table_of(4_000, 0), 0.45).tree, rumour(0)) < 0.5
