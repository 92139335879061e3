"""Rows that depend on each other: bounds over a table of copies, of near-copies, and of people with many rows.

Each run is a frontier, all bounds of which hold together with probability 1 - delta, over 60 independent inputs that a
table repeats. 20,000 fresh inputs say what the errors are. ``too_many`` accuses bounds that keep their word with
probability 1e-6. The planted fault is the split of 0.2.0, row by row: every run is false then.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.runs.input_source import TableSource

DELTA, ALARM, FRESH = 0.05, 1e-6, 20_000
INPUTS = 60
COLUMNS = [f"f{i}" for i in range(6)]
ROUNDING = 0.01  # three standard errors of a share among the fresh inputs


def population(rows: int, rng: np.random.Generator) -> dict[str, Any]:
    return {name: rng.random(rows) for name in COLUMNS}


def model_of(seed: int) -> Any:
    """A half-space, but for a third of inputs, for which it is any function of three features."""
    rng = np.random.default_rng([seed, 99])
    weights, cells = rng.normal(size=len(COLUMNS)), rng.integers(0, 2, (8, 8, 8))

    def model(batch: Any) -> Any:
        values = np.stack([np.asarray(batch[name]) for name in COLUMNS], axis=1)
        x, y, z = (values[:, i] * 8 for i in range(3))
        coarse = np.floor(values * 50)  # so that near-copies are answered alike
        odd = np.modf(np.abs(np.sin(coarse @ np.arange(1, 7) * 12.9898)) * 43758.5453)[0] < 0.35
        places = [np.clip(one, 0, 7).astype(int) for one in (x, y, z)]
        return np.where(odd, cells[tuple(places)], values @ weights > weights.sum() / 2).astype(int)

    return model


def table_of(seed: int, times: int, noise: float = 0.0) -> tuple[dict[str, Any], Any]:
    """Each of 60 inputs so many times, shuffled, with a little noise; and which row is which input's."""
    rng = np.random.default_rng([seed, 15])
    order = rng.permutation(INPUTS * times)
    person = np.repeat(np.arange(INPUTS), times)[order]
    table = {name: np.repeat(column, times)[order] for name, column in population(INPUTS, rng).items()}
    return {name: column + noise * rng.normal(size=len(column)) for name, column in table.items()}, person


def is_false(seed: int, space: Any, **told: Any) -> bool:
    """Whether fresh inputs show an error above its bound, at any size."""
    model = model_of(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ft.CopiedRowsWarning)  # its own tests look at it
        front = ft.frontier(model, space, DELTA, seed=seed, max_leaves=21, **told)
    fresh = population(FRESH, np.random.default_rng([seed, 7]))
    labels = model(fresh)
    return any(float((one.tree.predict(fresh) != labels).mean()) > one.error_bound + ROUNDING for one in front)


def each_row_by_itself(table: dict[str, Any]) -> ft.Rows:
    """The planted fault: every row is its own group, so that copies are on both sides."""
    return ft.Rows(table, groups=range(len(table["f0"])))


def test_sixty_rows_repeated_thirty_times(soak: bool) -> None:
    runs = 200 if soak else 25
    false = sum(is_false(seed, ft_rows(table_of(seed, 30)[0])) for seed in range(runs))
    assert not too_many(false, runs, DELTA, ALARM)


def ft_rows(table: dict[str, Any]) -> ft.Rows:
    with pytest.warns(ft.CopiedRowsWarning):
        return ft.Rows(table)


def test_people_with_ten_equal_rows_each() -> None:
    runs = 12
    false = sum(is_false(seed, ft_rows(table_of(seed, 10)[0])) for seed in range(runs))
    assert not too_many(false, runs, DELTA, ALARM)


def test_near_copies_in_groups() -> None:
    runs, false = 8, 0
    for seed in range(runs):
        table, person = table_of(seed, 10, noise=1e-4)
        false += is_false(seed, ft.Rows(table | {"person": person}, groups="person"))
    assert not too_many(false, runs, DELTA, ALARM)


@pytest.mark.parametrize(("times", "noise"), [(30, 0.0), (10, 0.0), (10, 1e-4)], ids=["copies", "people", "near"])
def test_a_split_row_by_row_is_seen(times: int, noise: float) -> None:
    runs = 6
    false = sum(is_false(seed, each_row_by_itself(table_of(seed, times, noise)[0])) for seed in range(runs))
    assert false == runs
    assert too_many(false, runs, DELTA, ALARM)


def test_rows_of_a_group_that_all_test_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A split by groups is not enough: with all rows of the tested groups, bounds rest on 30 inputs taken for 900."""

    def all_rows(groups: Any, stream: Any, share: float) -> Any:
        _, order, rows = groups._ordered(stream)
        tested = np.isin(groups.codes[rows], order[: int(groups.count * share)])
        return rows[~tested], rows[tested]

    monkeypatch.setattr("fidelitree.spaces.groups.Groups.apart", all_rows)
    runs = 50
    false = 0
    for seed in range(runs):
        table, person = table_of(seed, 30)
        false += is_false(seed, ft.Rows(table, groups=person))
    assert too_many(false, runs, DELTA, ALARM)


def test_kept_rows_of_a_table_are_one_of_each_group() -> None:
    """Beside draws from a half: the interval on kept rows holds, where half of all copies would be far too sure."""
    missed = 0
    runs = 12
    for seed in range(runs):
        table, person = table_of(seed, 10)
        model = model_of(seed)
        made = ft.distill(model, table, 0.4, seed=seed, groups=person, max_queries=400)
        real = made.certificate.real_rows
        assert real is not None
        assert (real.rows, real.counted) == (INPUTS // 2, "groups")
        fresh = population(FRESH, np.random.default_rng([seed, 7]))
        error = float((made.tree.predict(fresh) != model(fresh)).mean())
        low, high = real.interval
        missed += not low - ROUNDING <= error <= high + ROUNDING
    assert not too_many(missed, runs, 0.05, ALARM)


def false_by_then(runs: int) -> int:
    """Runs that a budget ends: standing attempts, which count what came before it taught, may give the bound."""
    false = 0
    for seed in range(runs):
        table, person = table_of(seed, 30)
        model = model_of(seed)
        made = ft.distill(model, ft.Rows(table, groups=person), 0.35, DELTA, seed=seed, max_queries=400)
        fresh = population(FRESH, np.random.default_rng([seed, 7]))
        error = float((made.tree.predict(fresh) != model(fresh)).mean())
        false += error > made.certificate.error_bound + ROUNDING
    return false


def test_rows_that_teach_do_not_test_before() -> None:
    """All rows of a group teach: the second of them is no fresh input, not even for a tree that it has not taught."""
    assert not too_many(false_by_then(12), 12, DELTA, ALARM)


def test_rows_that_teach_and_test_before_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = TableSource.__init__

    def planted(source: TableSource, rows: ft.Rows, seed: int) -> None:
        honest(source, rows, seed)
        source.labels_test = True

    monkeypatch.setattr(TableSource, "__init__", planted)
    assert too_many(false_by_then(8), 8, DELTA, ALARM)
