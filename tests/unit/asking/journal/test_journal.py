"""A journal keeps what it is told, notices damage, and says what it holds."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.journal.journal import Ending, Journal
from fidelitree.asking.journal.records import Record
from journals import BITS, RUN, on_bits, only_file

if TYPE_CHECKING:
    from pathlib import Path

ONE = Record.made("label", 0, 0, b"\x80\x00", np.array([True, False]))
TWO = Record.made("label", 0, 2, b"\x80", np.array([True]))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal(tmp_path / "run.db", RUN) as journal:
        journal.keep(TWO)
        journal.keep(ONE)
    return tmp_path / "run.db"


def test_records_are_found_again_in_order(path: Path) -> None:
    with Journal(path, RUN) as journal:
        assert journal.records == 2
        assert [(record.start, record.answers().tolist()) for record in journal.find("label", 0)] == [
            (0, [True, False]),
            (2, [True]),
        ]
        assert [record.start for record in journal.all()] == [2, 0]
        assert list(journal.find("label", 1)) == list(journal.find("certify", 0)) == []
        assert [record.start for record in journal.some(1)] == [2]
        assert [record.start for record in journal.some(16)] == [2, 0]
    assert only_file(path) == ["run.db"]


def test_a_journal_that_is_closed_is_no_write_ahead_file(path: Path) -> None:
    """Bytes 18 and 19 of a database say how it is written and read: 2 would take a second file, also to be read."""
    assert path.read_bytes()[18:20] == b"\x01\x01"


def test_a_run_counts_what_was_there_and_what_it_keeps(path: Path) -> None:
    with Journal(path, RUN) as journal:
        assert (journal.records, journal.kept) == (2, 2)
        journal.keep(ONE)
        assert (journal.records, journal.kept) == (2, 3)
        assert only_file(path) == ["run.db", "run.db-wal"], "one flush a batch"
    assert only_file(path) == ["run.db"]


def test_seconds_go_on_where_they_were(path: Path) -> None:
    assert ONE.seconds == 0, "its time is not known yet"
    with Journal(path, RUN) as journal:
        used = journal.seconds
        assert used > 0
        journal.keep(ONE)
    with Journal(path) as journal:
        assert journal.seconds > used


def test_a_replay_takes_the_time_that_the_run_took(path: Path) -> None:
    with Journal(path, RUN) as journal:
        journal.keep(replace(ONE, batch=1))
    with Journal(path, RUN) as journal:
        assert journal.clock() == 0
        found = list(journal.find("label", 0))
        assert journal.clock() == found[0].seconds > found[1].seconds, "the first part was answered last"
        time.sleep(0.001)
        assert journal.clock() == found[0].seconds, "what is worked out again takes no time"


def test_time_passes_again_once_all_is_replayed(path: Path) -> None:
    """Else a search between the last answer and the end would never notice that its time is over."""
    with Journal(path, RUN) as journal:
        found = list(journal.find("label", 0))
        assert found[0].seconds == journal.seconds <= journal.clock()
        before = journal.clock()
        time.sleep(0.001)
        assert journal.clock() >= before + 0.001


def test_time_passes_from_the_beginning_where_nothing_is_replayed(tmp_path: Path) -> None:
    """A target that lists its answers is never asked."""
    with Journal(tmp_path / "run.db", RUN) as journal:
        before = journal.clock()
        time.sleep(0.001)
        assert journal.clock() >= before + 0.001


def test_the_ending_is_kept_until_the_next(path: Path) -> None:
    with Journal(path, RUN) as journal:
        assert journal.ending is None
        journal.end(Ending(5, "max_seconds = 3", ((7, 0), (9, 12))))
    with Journal(path, RUN) as journal:
        assert journal.ending == Ending(5, "max_seconds = 3", ((7, 0), (9, 12)))
        journal.end(Ending(9, "certified"))
    with Journal(path) as journal:
        assert journal.ending == Ending(9, "certified")


LIMITED, LONGER = (replace(RUN, arguments={**RUN.arguments, "max_queries": most}) for most in (3, 9))


@pytest.fixture
def limited(tmp_path: Path) -> Path:
    with Journal(tmp_path / "run.db", LIMITED) as journal:
        journal.keep(ONE)
        journal.end(Ending(1, "max_queries = 3"))
    return tmp_path / "run.db"


def test_a_resumed_run_takes_over_with_its_first_answer(limited: Path) -> None:
    with Journal(limited, LONGER):
        pass
    with Journal(limited) as journal:
        assert (journal.run, journal.ending) == (LIMITED, Ending(1, "max_queries = 3")), "it has answered nothing"
    with Journal(limited, LONGER) as journal:
        assert journal.run == LONGER
        journal.keep(TWO)
    with Journal(limited) as journal:
        assert (journal.run, journal.ending) == (LONGER, None)
    assert "cut off: the same call goes on from here" in str(ft.journal.info(limited))


def test_a_resumed_run_that_needs_no_answer_takes_over_at_its_end(limited: Path) -> None:
    with Journal(limited, LONGER) as journal:
        journal.end(Ending(2, "certified"))
    with Journal(limited) as journal:
        assert (journal.run, journal.ending, journal.records) == (LONGER, Ending(2, "certified"), 1)


def test_one_that_is_read_cannot_be_written(path: Path) -> None:
    with Journal(path) as journal, pytest.raises(ft.JournalError, match="cannot be written"):
        journal.keep(ONE)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE answers SET labels = x'0100' WHERE start = 0", None),
        ("UPDATE answers SET labels = x'0001' WHERE start = 0", "batch 0 of 'label' does not match its seal"),
        ("UPDATE answers SET start = 9 WHERE start = 0", "does not match its seal"),
        ("UPDATE answers SET purpose = 'certify'", "batch 0 of 'certify' does not match its seal"),
        ("UPDATE answers SET kind = 3", "does not match its seal"),
        ("UPDATE answers SET labels = 'text'", "a record holds values of other types"),
        ("UPDATE answers SET seconds = 'late'", "a time must be a number"),
        ("UPDATE run SET value = '{' WHERE name = 'seed'", "an entry is not JSON"),
        ("DELETE FROM run WHERE name = 'seed'", "its entry 'seed' is missing"),
        ("INSERT INTO run VALUES ('ended', '[1, \"\\ud800\"]')", "its ending is not one"),
        ("INSERT INTO run VALUES ('ended', '[1]')", "its ending is not one"),
        ("INSERT INTO run VALUES ('ended', '[1, \"a\", [[2]]]')", "its ending is not one"),
        ("INSERT INTO run VALUES ('ended', '[1, \"a\", [[2, \"b\"]]]')", "its ending is not one"),
        ("INSERT INTO run VALUES ('ended', '[\"a\", \"b\"]')", "its ending is not one"),
        ("UPDATE run SET value = CAST(x'ff' AS TEXT) WHERE name = 'seed'", "its text is not UTF-8"),
    ],
)
def test_damage_is_noticed(path: Path, statement: str, sentence: str | None) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    if sentence is None:
        assert ft.journal.info(path).answers == 3
        return
    with pytest.raises(ft.FormatError, match=sentence) as caught:
        ft.journal.info(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("forged", [{"start": -1}, {"count": 0}, {"kind": "complex"}])
def test_a_seal_that_anybody_can_make_is_not_enough(forged: dict[str, Any]) -> None:
    assert Record.read(ONE.row()) == ONE
    with pytest.raises(ft.FormatError, match="batch 0 of 'label' does not match its seal"):
        Record.read(replace(ONE, **forged).row())


def test_changed_inputs_are_noticed_when_they_are_used(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET inputs = x'0000' WHERE start = 0")
    with pytest.raises(ft.FormatError, match="inputs of batch 0 of 'label' have changed"):
        ft.journal.export(path, tmp_path / "out.csv")


def test_info_in_words(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    result = ft.distill(on_bits, BITS, 0.1, seed=3, journal=path)
    found = ft.journal.info(path)
    assert found.answers == result.queries.paid
    assert {*found.by_purpose} - {"check"} == {*result.queries.paid} - {"check"}
    assert found.run.target == "on_bits"
    text = str(found)
    assert "run      distill(delta=0.05, deterministic=True, epsilon=0.1, " in text
    assert "seed=3)" in text
    assert text.endswith("state    certified")


def test_info_of_a_run_that_was_cut_off(path: Path) -> None:
    made_by = ", ".join(f"{name} {version}" for name, version in RUN.versions.items())
    found = ft.journal.info(path)
    assert str(found).splitlines() == [
        f"journal  {path}",
        "run      distill(epsilon=0.05, seed=7)",
        "target   model",
        "space    1 features, digest abababababab...",
        f"made by  {made_by}",
        f"answers  3 in 2 parts (label 3), {found.seconds:.1f} seconds",
        "state    cut off: the same call goes on from here",
    ]


def test_info_of_a_run_that_has_not_begun(tmp_path: Path) -> None:
    with Journal(tmp_path / "run.db", replace(RUN, arguments={"epsilon": None, "delta": 0.1})):
        pass
    text = str(ft.journal.info(tmp_path / "run.db"))
    assert "\nrun      distill(delta=0.1, seed=7)\n" in text
    assert "\nanswers  0 in 0 parts (none), 0.0 seconds\n" in text


def test_text_that_is_not_utf_8_is_damage(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET purpose = CAST(x'ff' AS TEXT)")
    with Journal(path) as journal, pytest.raises(ft.FormatError, match="its text is not UTF-8"):
        list(journal.all())


def test_a_write_that_is_taken_back_is_not_remembered(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How far a run has come is written with the next answers, if an interrupt took back those that told it first."""
    with Journal(path, RUN) as journal:
        journal.position = lambda: (3, 4)
        with monkeypatch.context() as patch:
            patch.setattr(journal, "_take_over", lambda: [Journal._take_over(journal), interrupted()])
            with pytest.raises(KeyboardInterrupt):
                journal.keep(ONE)
        journal.keep(ONE)
    with Journal(path) as read:
        assert (read.drawn, read.records) == ((3, 4), 3)


def interrupted() -> None:
    raise KeyboardInterrupt
