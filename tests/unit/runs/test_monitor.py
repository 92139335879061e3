"""A monitor: promises, alarms, and a state that survives."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.runs.agree.monitor import WHOLE, Watched, log_wealth
from fidelitree.theory.sequential import divergence
from journals import BITS, MIXED, on_bits, on_mixed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def result() -> ft.Distillation:
    """Tested with inputs enough that answers and leaves have promises of their own."""
    return ft.distill(on_mixed, MIXED, epsilon=0.1, delta=1e-8, seed=0)


def test_a_kept_promise_raises_no_alarm(result: ft.Distillation) -> None:
    monitor = ft.Monitor(result)
    rows = MIXED.draw(20_000, seed=5)
    monitor.see(rows, on_mixed(rows))
    assert monitor.alarm is None
    assert monitor.watched[0].rows == 20_000
    assert monitor.watched[0].errors == int((result.tree.predict(rows) != on_mixed(rows)).sum())


def test_a_broken_promise_is_found_and_stays_found(result: ft.Distillation) -> None:
    monitor, rows = ft.Monitor(result), MIXED.draw(5_000, seed=6)
    other = np.where(np.arange(5_000) % 4 == 0, "none", on_mixed(rows))
    monitor.see(rows, other)
    alarm = monitor.alarm
    assert alarm is not None
    assert alarm.startswith("all rows: ")
    assert "at most 10% was promised; ALARM at row " in alarm
    monitor.see(rows, on_mixed(rows))
    assert monitor.watched[0].alarmed_at == int(alarm.rpartition(" ")[2].replace(",", ""))


def test_levels_add_up_to_delta(result: ft.Distillation) -> None:
    monitor = ft.Monitor(result, delta=0.03)
    assert len(monitor.watched) > 3
    assert sum(one.level for one in monitor.watched) <= 0.03 + 1e-12
    assert monitor.watched[0].level == pytest.approx(WHOLE * 0.03)


def test_one_class_can_raise_the_alarm_alone(result: ft.Distillation) -> None:
    """Every answer "gold" is lost: 2.5 % of all rows, which is allowed, and all rows of that label."""
    monitor, rows = ft.Monitor(result), MIXED.draw(8_000, seed=7)
    predicted = result.tree.predict(rows)
    others = np.flatnonzero(predicted != "gold")
    told = np.where(np.arange(len(others)) % 40 == 0, "gold", predicted[others])
    monitor.see({name: column[others] for name, column in rows.items()}, told)
    total, *rest = monitor.watched
    assert total.alarmed_at is None
    assert any(one.alarmed_at is not None and one.name == "rows that the target answers gold" for one in rest)


def test_rows_may_come_in_any_portions(result: ft.Distillation) -> None:
    rows = MIXED.draw(4_000, seed=8)
    labels = np.where(np.arange(4_000) % 5 == 0, "none", on_mixed(rows))
    whole, parts = ft.Monitor(result), ft.Monitor(result)
    whole.see(rows, labels)
    for start in range(0, 4_000, 333):
        parts.see({name: column[start : start + 333] for name, column in rows.items()}, labels[start : start + 333])
    assert [(one.errors, one.rows, one.alarmed_at) for one in whole.watched] == [
        (one.errors, one.rows, one.alarmed_at) for one in parts.watched
    ]


def test_an_alarm_goes_off_at_the_row_where_the_bet_has_won() -> None:
    """The slow twin looks after every row, whatever it was."""
    for seed, promised in enumerate((0.01, 0.05, 0.05, 0.3)):
        wrong = np.random.default_rng(seed).random(3_000) < 2 * promised
        rows = np.arange(1, 3_001)
        won = np.flatnonzero(log_wealth(np.cumsum(wrong), rows, promised) >= math.log(1 / 0.01))
        watched = Watched("all rows", promised, 0.01)
        for start in range(0, 3_000, 700):
            watched.see(wrong[start : start + 700])
        assert watched.alarmed_at == rows[won[0]]
        assert (watched.errors, watched.rows) == (int(wrong.sum()), 3_000)


def test_a_stopped_monitor_goes_on(result: ft.Distillation, tmp_path: Path) -> None:
    rows, labels = MIXED.draw(2_000, seed=9), on_mixed(MIXED.draw(2_000, seed=9))
    through, first, second = (ft.Monitor(result) for _ in range(3))
    through.see(rows, labels)
    through.see(rows, labels)
    first.see(rows, labels)
    first.save(tmp_path / "state.json")
    second.restore(tmp_path / "state.json")
    second.see(rows, labels)
    assert [vars(one) for one in second.watched] == [vars(one) for one in through.watched]


def test_a_strange_state_is_refused(result: ft.Distillation, tmp_path: Path) -> None:
    state = ft.Monitor(result).save(tmp_path / "state.json")
    with pytest.raises(ft.FormatError, match="not the state of a monitor of this tree with this delta"):
        ft.Monitor(result, delta=0.01).restore(state)
    told = json.loads(state.read_text(encoding="utf-8"))
    told["promises"][0]["errors"] = 5
    state.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ft.FormatError, match="counts must be whole numbers from 0 to 0; got 5"):
        ft.Monitor(result).restore(state)
    state.write_text("{}", encoding="utf-8")
    with pytest.raises(ft.FormatError, match="not a stored monitor"):
        ft.Monitor(result).restore(state)


def test_bad_rows_and_results() -> None:
    nothing = ft.distill(on_bits, BITS, epsilon=0.05, max_queries=1)
    with pytest.raises(ft.ParameterError, match="result must promise something"):
        ft.Monitor(nothing)
    monitor = ft.Monitor(ft.distill(on_bits, BITS, epsilon=0.1))
    with pytest.raises(ft.ParameterError, match=r"labels must be one for each of 3 rows; got shape \(2,\)"):
        monitor.see(BITS.draw(3), [0, 1])


def test_an_exact_promise_of_no_error_breaks_at_the_first() -> None:
    few = ft.ProductSpace.bernoulli(5)
    monitor = ft.Monitor(ft.distill(lambda batch: batch[:, 0], few, epsilon=0))
    rows = few.draw(10)
    monitor.see(rows, rows[:, 0])
    assert monitor.alarm is None
    monitor.see(rows, 1 - rows[:, 0])
    assert monitor.watched[0].alarmed_at == 11


def test_the_bet_is_fair_at_the_promise_and_loses_below() -> None:
    """The mean of one step, exactly: 1 at the promised rate, less below it, more above."""
    for promised in (0.01, 0.05, 0.3):
        wealth = np.exp(log_wealth(np.array([0, 1]), np.array([1, 1]), promised))
        mean = [float((1 - rate) * wealth[0] + rate * wealth[1]) for rate in (promised / 2, promised, 2 * promised)]
        assert mean[0] < 1
        assert mean[1] == pytest.approx(1)
        assert mean[2] > 1


def test_twice_the_bound_is_found_within_one_and_a_half_times_walds_number() -> None:
    rng, promised, delta = np.random.default_rng(1), 0.05, 0.05
    taken = []
    for _ in range(300):
        watched = Watched("all rows", promised, WHOLE * delta)
        watched.see(rng.random(20_000) < 2 * promised)
        assert watched.alarmed_at is not None
        taken.append(watched.alarmed_at)
    wald = math.log(1 / delta) / divergence(2 * promised, promised)
    assert np.mean(taken) <= 1.5 * wald


def test_page(result: ft.Distillation, tmp_path: Path) -> None:
    monitor, rows = ft.Monitor(result), MIXED.draw(1_000, seed=2)
    monitor.see(rows, on_mixed(rows))
    page = monitor.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "No alarm." in page
    assert "rows that the target answers gold" in page


def test_a_folder_is_watched_too(result: ft.Distillation, tmp_path: Path) -> None:
    result.save(tmp_path / "kept")
    monitor: Any = ft.Monitor(tmp_path / "kept")
    assert monitor.watched[0].promised == 0.1
    assert "all rows: 0 errors in 0 rows, at most 10% was promised" in str(monitor)
    assert str(monitor).endswith("\nAssumes: the rows are independent of each other.")


def test_a_card_for_the_model(result: ft.Distillation) -> None:
    card = result.card()
    assert card.startswith("## A decision tree that stands for this model")
    assert all(f"**{name}.**" in card for name in ("What", "Inputs", "Bound", "Limits", "Check"))
    assert str(result.certificate) in card


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["0", "1"], "tree must answer labels of the target's kind; it answers int, and the target str"),
        ([0, None], "labels must hold the target's answer to every row; row 1 has None"),
        ([0.0, float("nan")], "labels must hold the target's answer to every row; row 1 has nan"),
    ],
)
def test_answers_that_can_never_be_right_raise_no_alarm(labels: list[Any], message: str) -> None:
    """A column of text, or a gap in it, was counted as errors of the tree."""
    space = ft.ProductSpace.bernoulli(4)
    monitor = ft.Monitor(ft.distill(lambda bits: bits[:, 0].astype(int), space))
    with pytest.raises(ft.ParameterError, match=message):
        monitor.see(np.array([[0, 0, 0, 0], [1, 0, 0, 0]], np.uint8), labels)
    assert monitor.watched[0].rows == 0


def test_a_state_that_is_spoilt_anywhere_is_refused_as_such(tmp_path: Path) -> None:
    """Some of these ended in errors of Python, or were taken over."""
    space = ft.ProductSpace.bernoulli(4)
    result, rows = ft.distill(lambda bits: bits[:, 0].astype(int), space), space.draw(200)
    monitor = ft.Monitor(result)
    monitor.see(rows, rows[:, 0].astype(int))
    monitor.consumed["a.csv"] = 200
    good = json.loads(monitor.save(tmp_path / "state.json").read_text())
    spoilt = [{**good, "consumed": value} for value in (None, 3, "x", [[1]], {"a.csv": -1}, {"a.csv": "x"})]
    for name in ("rows", "errors", "alarmed_at", "course"):
        for value in ("x", -1, 1.5, 10**40, True, [[1]], [[0, 5]], {"a": 1}):
            first = {**good["promises"][0], name: value}
            spoilt.append({**good, "promises": [first, *good["promises"][1:]]})
    for data in [*spoilt, None, [], 3, {}]:
        (tmp_path / "spoilt.json").write_text(json.dumps(data))
        with pytest.raises(ft.FormatError):
            ft.Monitor(result).restore(tmp_path / "spoilt.json")
    again = ft.Monitor(result)
    again.restore(tmp_path / "state.json")
    assert str(again) == str(monitor)
    assert again.consumed == {"a.csv": 200}
