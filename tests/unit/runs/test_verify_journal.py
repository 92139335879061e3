"""`verify` makes a run again from its journal: what it says when that works, fails, or cannot be tried."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from journals import BITS, Counting, on_bits

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = "the answers in the journal lead to this tree and this certificate"


def stored(folder: Path, target: Any = on_bits, space: ft.ProductSpace = BITS, **arguments: Any) -> ft.Distillation:
    folder.mkdir(exist_ok=True)
    result = ft.distill(target, space, journal=folder / "journal.db", **{"epsilon": 0.1, **arguments})
    result.save(folder)
    return result


def replayed(folder: Path, **more: Any) -> tuple[bool | None, str]:
    """What the check of the journal says; it is the last one."""
    check = ft.verify(folder, **more).checks[-1]
    assert check.sentence.startswith(ABOUT)
    return check.passed, check.sentence.removeprefix(ABOUT)


@pytest.mark.parametrize("limits", [{}, {"max_queries": 50}, {"deterministic": False}])
def test_the_run_is_made_again(tmp_path: Path, limits: dict[str, Any]) -> None:
    stored(tmp_path, **limits)
    assert replayed(tmp_path) == (True, "")


@pytest.mark.parametrize(("first", "then"), [(50, None), (None, 50), (30, 60), ({}, {"max_leaves": 1})])
def test_a_run_that_went_on_with_other_limits_is_made_again(tmp_path: Path, first: Any, then: Any) -> None:
    for limits in (first, then):
        stored(tmp_path, **(limits if isinstance(limits, dict) else {"max_queries": limits}))
        assert replayed(tmp_path) == (True, "")
    assert ft.verify(tmp_path).consistent


@pytest.mark.parametrize("reason", ["max_queries = 50", "interrupted"])
def test_a_run_that_went_on_and_was_cut_off_leaves_the_result_before_it(tmp_path: Path, reason: str) -> None:
    def interrupt(event: object) -> None:
        if getattr(event, "paid", 0) > 40:
            raise KeyboardInterrupt

    first = {"observer": interrupt} if reason == "interrupted" else {"max_queries": 50}
    assert stored(tmp_path, Counting(on_bits), epsilon=0.01, **first).reason == reason
    with pytest.raises(ft.TargetError):
        stored(tmp_path, Counting(on_bits, 150), epsilon=0.01)
    assert ft.journal.info(tmp_path / "journal.db").ended is None
    undecided = None, ": the run went on after this result, and was cut off; the same call ends it"
    assert replayed(tmp_path) == (undecided if reason == "interrupted" else (True, ""))
    stored(tmp_path, Counting(on_bits), epsilon=0.01)
    assert replayed(tmp_path) == (True, "")


@pytest.mark.parametrize(("first", "then"), [(50, None), (None, 50)])
def test_a_result_stays_what_it_was_when_the_run_goes_on_elsewhere(tmp_path: Path, first: Any, then: Any) -> None:
    stored(tmp_path, max_queries=first)
    ft.distill(on_bits, BITS, 0.1, max_queries=then, journal=tmp_path / "journal.db")
    assert replayed(tmp_path) == (True, "")


def with_other_answers(folder: Path, **arguments: Any) -> Path:
    """A result beside the journal of a run that was asked for alike, of a target that answers otherwise."""
    stored(folder / "one", Counting(on_bits), **arguments)
    stored(folder / "two", Counting(lambda batch: batch[:, 3]), **arguments)
    (folder / "two" / "journal.db").replace(folder / "one" / "journal.db")
    return folder / "one"


def test_a_journal_of_other_answers_is_a_contradiction(tmp_path: Path) -> None:
    folder = with_other_answers(tmp_path)
    assert replayed(folder) == (False, ": they lead to another tree, certificate, trace, frontier, asked, paid")
    assert not ft.verify(folder).consistent


@pytest.mark.parametrize(
    ("other", "differ"),
    [
        ({"seed": 5}, "seed, seed_chosen"),
        ({"epsilon": 0.2, "delta": 0.1}, "delta, epsilon"),
        ({"strategy": "smallest"}, "strategy"),
        ({"prefer": "leaves"}, "prefer"),
        ({"deterministic": False}, "deterministic"),
        ({"target": Counting(on_bits)}, "target"),
        ({"space": ft.ProductSpace.bernoulli(12, 0.4)}, "space"),
    ],
)
def test_an_older_journal_that_lies_in_the_folder_says_nothing(
    tmp_path: Path, other: dict[str, Any], differ: str
) -> None:
    stored(tmp_path)
    ft.distill(**{"target": on_bits, "space": BITS, "epsilon": 0.1, **other}).save(tmp_path)
    assert replayed(tmp_path) == (None, f": not tried, the journal belongs to another run, of another {differ}")
    assert ft.verify(tmp_path).undecided
    assert not ft.verify(tmp_path).holds


def test_without_a_record_of_the_call_the_answers_decide(tmp_path: Path) -> None:
    stored(tmp_path)
    assert ft.verify(tmp_path).holds
    (tmp_path / "run.json").unlink()
    assert replayed(tmp_path) == (True, "")
    assert ft.verify(tmp_path).undecided, "nobody tells what was asked for"


def test_a_journal_that_lacks_answers_is_a_contradiction(tmp_path: Path) -> None:
    stored(tmp_path, Counting(on_bits))
    (tmp_path / "journal.db").unlink()
    with pytest.raises(ft.TargetError):
        ft.distill(Counting(on_bits, 40), BITS, 0.1, journal=tmp_path / "journal.db")
    passed, why = replayed(tmp_path)
    assert passed is False
    assert "the journal does not have their answers, and the target is not there to be asked" in why


def test_what_cannot_be_tried_is_said(tmp_path: Path) -> None:
    stored(tmp_path / "table", ft.targets.TruthTable([0, 1, 1, 0]), ft.ProductSpace.bernoulli(2))
    passed, why = replayed(tmp_path / "table")
    assert passed is None
    assert why.startswith(": not tried, a run whose target is a tree, a table or a circuit cannot be replayed")
    stored(tmp_path / "bits")
    (tmp_path / "bits" / "space.json").unlink()
    assert replayed(tmp_path / "bits") == (None, ": no space is stored here")
    assert replayed(tmp_path / "bits", space=BITS) == (True, "")


def test_an_interrupt_between_two_answers_cannot_be_placed(tmp_path: Path) -> None:
    seen: list[object] = []

    def interrupting(event: object) -> None:
        seen.append(event)
        if len(seen) == 12:
            raise KeyboardInterrupt

    result = stored(tmp_path, space=ft.ProductSpace.bernoulli(24), epsilon=0.01, observer=interrupting)
    assert result.reason == "interrupted"
    passed, why = replayed(tmp_path)
    assert passed is not False
    assert passed or "a replay cannot tell where" in why


def ended_as(folder: Path, reason: str) -> None:
    """Someone writes another ending into the journal."""
    with closing(sqlite3.connect(folder / "journal.db")) as file, file:
        file.execute("INSERT OR REPLACE INTO run VALUES ('ended', ?)", (json.dumps([1, reason]),))


def test_a_journal_alone_cannot_call_a_run_interrupted(tmp_path: Path) -> None:
    folder = with_other_answers(tmp_path)
    ended_as(folder, "interrupted")
    assert replayed(folder)[0] is False


class Slow:
    """A target that takes ten seconds a call, on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def __call__(self, batch: Any) -> Any:
        self.now += 10
        return ft.targets.multiplexer(2)(batch)


def test_a_search_that_time_ended_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = ft.ProductSpace.bernoulli(6)
    made = {
        limit: stored(tmp_path / str(limit), Slow(monkeypatch), space, strategy="smallest", max_seconds=limit)
        for limit in (5, 1_000)
    }
    assert made[5].tree.digest != made[1_000].tree.digest, "the clock decides"
    assert replayed(tmp_path / "5") == (True, "")
    assert replayed(tmp_path / "1000") == (True, "")


def test_a_search_that_was_not_limited_by_time_is_repeated(tmp_path: Path) -> None:
    folder = with_other_answers(tmp_path, strategy="smallest")
    run = folder / "run.json"
    run.write_text(json.dumps({**json.loads(run.read_text(encoding="utf-8")), "max_seconds": 5}), encoding="utf-8")
    assert replayed(folder) == (None, ": not tried, the journal belongs to another run, of another max_seconds")
