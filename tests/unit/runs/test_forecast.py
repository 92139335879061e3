"""Forecasts: easy and hopeless targets are told apart by 400 labels, and hopeless runs stop early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.events import Event, Foreseen, TreeJudged
from fidelitree.asking.progress import RunStatus
from fidelitree.errors import FormatError
from fidelitree.runs.economics import SLACK, TIGHT
from fidelitree.runs.forecast import GAINS, Forecast, forecast, gain
from fidelitree.spaces.features import Numeric
from fidelitree.theory.sequential import FRONTIER, error_bound, level_in

SPACE = ft.ProductSpace([Numeric(name, 0, 1) for name in "abcdefgh"])
SIZES = [1, 2, 5, 16]


def easy(inner: np.ndarray) -> np.ndarray:
    return (inner[:, 0] > 0.3).astype(np.intp)


def scattered(inner: np.ndarray) -> np.ndarray:
    return (np.floor(inner * 997).astype(np.int64) @ np.arange(1, 17, 2) ** 3) % 11 % 2


def told(target: Any) -> Forecast:
    inner = np.random.default_rng(0).random((400, 8))
    return forecast(SPACE, inner, np.unique(target(inner), return_inverse=True)[1], SIZES, 0.05)


def test_an_easy_target_is_seen_to_be_easy() -> None:
    found = told(easy)
    assert [one.leaves for one in found.prospects] == SIZES
    assert found.prospects[0].low < 0.3 < found.prospects[0].high
    assert (found.prospects[1].low, found.prospects[1].high < 0.05) == (0, True)
    assert not found.hopeless
    assert str(found).startswith("forecast after 400 labels: 16 leaves would agree on 9")
    assert str(found).endswith(f"; tests would take about {max(one.tests for one in found.prospects):,} labels")


def test_a_target_without_structure_is_hopeless() -> None:
    found = told(scattered)
    assert found.hopeless
    assert all(one.low < one.likely < one.high for one in found.prospects)
    assert min(one.seen for one in found.prospects) > 0.4


def test_many_classes_may_be_hopeless_though_something_is_found() -> None:
    found = told(lambda inner: np.floor(inner[:, 0] * 4) * 5 + np.floor(scattered(inner) * 2 + inner[:, 1] * 2.9))
    assert found.prospects[-1].seen < 0.9 * found.prospects[0].seen
    assert found.hopeless == (found.prospects[-1].likely > 0.3)


def test_tests_are_as_many_as_make_a_bound_close() -> None:
    level = level_in(FRONTIER, 1, 0.05)
    for one in told(scattered).prospects:
        bounds = [error_bound(round(one.likely * rows), rows, level) for rows in (one.tests // 2, one.tests)]
        close = [bound <= TIGHT * one.likely + SLACK for bound in bounds]
        assert close == [False, True]


def test_between_known_sizes_gains_are_between_theirs() -> None:
    assert gain(64) == GAINS[64]
    assert GAINS[64][0] < gain(50)[0] < GAINS[38][0]
    assert gain(1_000) == GAINS[64], "beyond, as for the largest"


def batch_target(function: Any) -> Any:
    return lambda batch: function(np.column_stack([np.asarray(batch[name]) for name in "abcdefgh"]))


def test_a_hopeless_run_says_so_and_stops_early() -> None:
    events: list[Event] = []
    front = ft.frontier(batch_target(scattered), SPACE, max_leaves=8, observer=events.append)
    assert front.reason.startswith("hopeless (forecast after 400 labels: 8 leaves would agree on ")
    assert front.reason.endswith("; give max_queries to go on")
    assert front.forecast is not None
    assert front.forecast.hopeless
    assert front.queries.asked.by_purpose["label"] == 400
    seen = [event for event in events if isinstance(event, Foreseen)]
    assert [event.size for event in seen] == [one.leaves for one in front.forecast.prospects]
    assert {event.asked for event in seen} == {400}


def test_a_budget_tells_it_to_go_on() -> None:
    front = ft.frontier(batch_target(scattered), SPACE, max_leaves=4, max_queries=2_000)
    assert not front.reason.startswith("hopeless")
    assert front.queries.asked.by_purpose["label"] > 400
    assert front.forecast is not None


def test_before_400_labels_nothing_is_forecast() -> None:
    front = ft.frontier(batch_target(easy), SPACE, max_leaves=4, max_queries=300)
    assert front.forecast is None


@pytest.mark.parametrize("certified", [False, True])
def test_the_status_shows_it_until_something_is_certified(certified: bool) -> None:
    status = RunStatus()
    status.see(Foreseen(400, 64, 0.1, 0.25))
    for size in (1, 2, 3):
        status.see(TreeJudged(500, size, 0.3, 0.4 if certified else 1.0))
    shown = "forecast: 64 leaves agree on 75% to 90%" in status.parts(0.5)
    assert shown != certified


def test_a_forecast_is_stored_and_shown(tmp_path: Path) -> None:
    front = ft.frontier(lambda batch: batch["a"] > 0.3, SPACE, max_queries=1_000, max_leaves=4)
    assert front.forecast is not None
    assert f"Before the tests there was a {front.forecast} (no promise)." in front.foreseen()
    front.save(tmp_path)
    assert ft.Frontier.load(tmp_path).forecast == front.forecast
    assert "forecast after" not in (tmp_path / "report.html").read_text()
    assert ft.verify(tmp_path).consistent


def test_a_strangers_forecast_is_checked() -> None:
    good = told(easy).to_dict()
    assert Forecast.from_dict(good) == told(easy)
    for bad in ([], {}, {"labels": 3}, {**good, "labels": "many"}, {**good, "prospects": []}, {**good, "labels": True}):
        with pytest.raises(FormatError, match="a stored forecast must hold"):
            Forecast.from_dict(bad)
