"""A whole `Budget` or `Running` in the place of flat arguments: the same run, and nothing given twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fidelitree as ft

MUX, BITS = ft.targets.multiplexer(3), ft.ProductSpace.bernoulli(11)


@pytest.mark.parametrize("door", [ft.distill, ft.frontier])
def test_whole_and_flat_give_the_same_run(door: Any, tmp_path: Path) -> None:
    flat = door(MUX, BITS, max_queries=200, max_leaves=5, batch_size=7, journal=tmp_path / "one.db")
    budget, running = ft.Budget(200, 5), ft.Running(batch_size=7, journal=tmp_path / "two.db")
    whole = door(MUX, BITS, budget=budget, running=running)
    assert str(whole) == str(flat)
    assert (tmp_path / "two.db").is_file()


def test_time_begins_with_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = ft.Budget(max_seconds=60)
    late = ft.Budget(max_seconds=60, started=budget.started - 100)
    assert late.gone > 1
    assert ft.distill(MUX, BITS, 0.1, budget=late).certificate.holds


def test_without_an_error_the_budget_counts_too() -> None:
    front = ft.distill(MUX, BITS, None, budget=ft.Budget(max_queries=300, max_leaves=4)).frontier
    assert front is not None
    assert (front.max_leaves, max(point.leaves for point in front) <= 4) == (4, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": ft.Budget(9), "max_queries": 9}, "max_queries must be left out where budget is given"),
        ({"running": ft.Running(), "retries": 2}, "retries must be left out where running is given"),
        ({"budget": 100}, "budget must be a fidelitree.Budget; got 100"),
        ({"running": ft.Budget()}, "running must be a fidelitree.Running; got Budget"),
    ],
)
@pytest.mark.parametrize("door", [ft.distill, ft.frontier])
def test_what_is_given_twice_or_wrongly_is_refused(door: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError, match=message):
        door(MUX, BITS, **arguments)
