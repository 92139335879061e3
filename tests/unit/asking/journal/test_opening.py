"""Opening a journal: alone, whole, and nobody else's file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import fidelitree as ft
from fidelitree.asking.journal import opening
from fidelitree.asking.journal.opening import (
    APPLICATION,
    SCHEMA,
    VERSION,
    open_to_read,
    open_to_write,
    refuse,
    write_ahead,
)
from journals import BITS, Counting, on_bits

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_a_new_journal_is_durable_and_ours(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(open_to_write(path)) as connection:
        write_ahead(connection, on=True)
        found = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                "journal_mode",
                "synchronous",
                "locking_mode",
                "trusted_schema",
                "application_id",
                "user_version",
            )
        }
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,  # FULL
        "locking_mode": "exclusive",
        "trusted_schema": 0,
        "application_id": int.from_bytes(b"ftre"),
        "user_version": 3,
    }


@pytest.mark.parametrize("again", [open_to_write, open_to_read])
def test_the_second_to_open_it_is_refused(tmp_path: Path, again: object) -> None:
    path = tmp_path / "run.db"
    with closing(open_to_write(path)), pytest.raises(ft.JournalError, match=r"run\.db' is in use by another run"):
        again(path)
    again(path).close()


def test_another_process_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    code = (
        "import sys; from pathlib import Path; from fidelitree.asking.journal.opening import open_to_write; "
        "open_to_write(Path(sys.argv[1]))"
    )
    with closing(open_to_write(path)):
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=False)
    assert "JournalError" in done.stderr
    assert "is in use by another run: wait for it, or give another journal" in done.stderr


def other(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


OURS = (f"PRAGMA application_id={APPLICATION}", f"PRAGMA user_version={VERSION}", *SCHEMA)


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        (("CREATE TABLE t (x)",), "it is another program's file"),
        (
            (OURS[0], "PRAGMA user_version=4", *SCHEMA),
            "its schema must be version 3, which this fidelitree reads; got 4",
        ),
        (OURS[:-1], "its tables are not those of a journal"),
        ((*OURS, "CREATE VIEW v AS SELECT 1"), "its tables are not those of a journal"),
        (
            (*OURS, "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM run; END"),
            "its tables are not those of a journal",
        ),
    ],
)
@pytest.mark.parametrize("opening", [open_to_read, open_to_write])
def test_other_databases_are_refused(
    tmp_path: Path, statements: tuple[str, ...], sentence: str, opening: object
) -> None:
    path = tmp_path / "run.db"
    other(path, *statements)
    before = path.read_bytes()
    with pytest.raises(ft.FormatError) as caught:
        opening(path)
    assert path.read_bytes() == before
    assert str(caught.value) == f"not a journal of fidelitree: {str(path)!r}: {sentence}"


@pytest.mark.parametrize("opening", [open_to_read, open_to_write])
def test_a_schema_that_is_no_text_is_refused(tmp_path: Path, opening: object) -> None:
    path = tmp_path / "run.db"
    other(
        path,
        *OURS,
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_schema SET sql = CAST(x'43524541544520ff' AS TEXT) WHERE name = 'run'",
    )
    with pytest.raises(ft.FormatError) as caught:
        opening(path)
    assert str(caught.value) == f"not a journal of fidelitree: {str(path)!r}: its text is not UTF-8"


def test_damage_that_sqlite_only_mentions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    other(path, *OURS)
    damaged = bytearray(path.read_bytes())
    damaged[36:40] = (7).to_bytes(4)  # seven pages that nobody uses, and there is none
    path.write_bytes(damaged)
    with pytest.raises(ft.FormatError, match=r"it is damaged: .*size is 0 but should be 7"):
        open_to_read(path)


def test_a_file_that_is_refused_is_let_go_of(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    other(path, "CREATE TABLE t (x)")
    with pytest.raises(ft.FormatError, match="it is another program's file") as caught:
        open_to_write(path)
    other(path, "BEGIN EXCLUSIVE", "INSERT INTO t VALUES (1)", "COMMIT")
    assert caught.tb is not None, "which would keep it open otherwise"


@pytest.mark.parametrize("opening", [open_to_read, open_to_write])
def test_a_file_that_is_no_database_is_refused_and_not_touched(tmp_path: Path, opening: object) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\n" * 200, encoding="utf-8")
    with pytest.raises(
        ft.FormatError, match=r"not a journal of fidelitree, or a damaged one: .*file is not a database"
    ):
        opening(path)
    assert path.read_text(encoding="utf-8") == "dear diary\n" * 200


def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    path.touch()
    open_to_write(path).close()
    with closing(open_to_read(path)) as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (0,)


def test_a_journal_is_made_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "SCHEMA", (SCHEMA[0], "CREATE NONSENSE"))
    with pytest.raises(ft.FormatError, match="syntax error"):
        open_to_write(tmp_path / "run.db")
    monkeypatch.undo()
    open_to_write(tmp_path / "run.db").close()


@pytest.mark.parametrize(
    ("file", "folder", "mode"), [(True, True, "rw"), (True, False, "ro"), (False, True, "ro"), (False, False, "ro")]
)
def test_reading_takes_in_what_a_killed_run_left_where_it_may(
    file: bool, folder: bool, mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who may write nothing there reads what there is."""
    path, modes = tmp_path / "run.db", list[str]()
    open_to_write(path).close()
    rights = {path: file, tmp_path: folder}
    connect = opening._connect
    monkeypatch.setattr(opening.os, "access", lambda place, right: rights[place] and right == os.W_OK)
    monkeypatch.setattr(opening, "_connect", lambda place, mode: modes.append(mode) or connect(place, mode))
    open_to_read(path).close()
    assert modes == [mode]


def test_a_run_writes_ahead_and_leaves_one_file(tmp_path: Path) -> None:
    with closing(open_to_write(tmp_path / "run.db")) as connection:
        for on, mode in ((True, "wal"), (False, "delete")):
            write_ahead(connection, on=on)
            assert connection.execute("PRAGMA journal_mode").fetchone() == (mode,)


def test_reading_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ft.JournalError, match="does not exist"):
        open_to_read(tmp_path / "run.db")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error_about_the_folder(tmp_path: Path) -> None:
    with pytest.raises(ft.JournalError) as caught:
        open_to_write(tmp_path / "nowhere" / "run.db")
    assert "cannot be written: unable to open database file. Its folder must exist" in str(caught.value)


@contextmanager
def without_rights() -> Iterator[None]:
    """Root may write anywhere: as root, be nobody for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_folder_is_told_before_anything_is_asked() -> None:
    target = Counting(on_bits)
    ft.distill(target, BITS, 0.2)  # what is imported on the way is imported now
    target.rows = 0
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        with (
            without_rights(),
            pytest.raises(ft.JournalError, match="Its folder must exist, and be one that you may write to"),
        ):
            ft.distill(target, BITS, 0.2, journal=Path(folder, "run.db"))
        Path(folder).chmod(0o755)
        assert not any(Path(folder).iterdir())
    assert target.rows == 0


def test_a_strangers_file_is_read_within_limits(tmp_path: Path) -> None:
    with closing(open_to_write(tmp_path / "run.db")) as connection:
        found = {name: connection.getlimit(getattr(sqlite3, f"SQLITE_LIMIT_{name}")) for name in LIMITS}
    assert found == LIMITS


LIMITS = {
    "LENGTH": 67_108_864,
    "SQL_LENGTH": 10_000,
    "COLUMN": 32,
    "EXPR_DEPTH": 32,
    "COMPOUND_SELECT": 8,
    "VDBE_OP": 25_000,
    "FUNCTION_ARG": 8,
    "ATTACHED": 0,
    "LIKE_PATTERN_LENGTH": 64,
    "VARIABLE_NUMBER": 32,
    "TRIGGER_DEPTH": 1,
}

IN_USE = "is in use by another run: wait for it, or give another journal"
FULL = "cannot be written: disk it is. Every answer before this one is kept: make room, then make the same call again"
NOT_WRITABLE = "cannot be written: disk it is. Its folder must exist, and be one that you may write to"


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("SQLITE_BUSY", IN_USE),
        ("SQLITE_BUSY_SNAPSHOT", IN_USE),
        ("SQLITE_LOCKED", IN_USE),
        ("SQLITE_FULL", FULL),
        ("SQLITE_IOERR", FULL),
        ("SQLITE_IOERR_WRITE", FULL),
        ("SQLITE_READONLY", NOT_WRITABLE),
        ("SQLITE_CANTOPEN", NOT_WRITABLE),
        ("SQLITE_PERM", NOT_WRITABLE),
        ("SQLITE_AUTH", NOT_WRITABLE),
    ],
)
def test_what_sqlite_says_is_said_about_the_journal(code: str, sentence: str) -> None:
    error = sqlite3.OperationalError("disk it is")
    error.sqlite_errorcode = getattr(sqlite3, code)
    with pytest.raises(ft.JournalError) as caught:
        refuse(Path("run.db"), error)
    assert str(caught.value) == f"journal 'run.db' {sentence}"


@pytest.mark.parametrize("code", [None, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR])
def test_anything_else_is_damage(code: int | None) -> None:
    error = sqlite3.DatabaseError("malformed")
    if code is not None:
        error.sqlite_errorcode = code
    with pytest.raises(ft.FormatError) as caught:
        refuse(Path("run.db"), error)
    assert str(caught.value) == "not a journal of fidelitree, or a damaged one: 'run.db': malformed"


def test_large_values_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with closing(open_to_write(path)) as connection:
        with pytest.raises(sqlite3.Error, match="too big"):
            connection.execute("INSERT INTO run VALUES ('x', zeroblob(70000000))")
        with pytest.raises(sqlite3.Error, match="too many attached"):
            connection.execute("ATTACH ':memory:' AS other")


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_nobody_else_may_read_a_journal_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, connect = dict[str, set[int]](), opening._connect

    def look() -> None:
        for file in tmp_path.iterdir():
            seen.setdefault(file.name, set()).add(file.stat().st_mode & 0o777)

    def model(batch: object) -> object:
        look()
        return on_bits(batch)

    monkeypatch.setattr(opening, "_connect", lambda path, mode: (look(), connect(path, mode))[1])
    before = os.umask(0)
    try:
        ft.distill(model, BITS, 0.1, journal=tmp_path / "run.db")
        look()
    finally:
        os.umask(before)
    assert seen == {"run.db": {0o600}, "run.db-wal": {0o600}}


@pytest.mark.skipif(os.name != "posix", reason="needs modes of files")
def test_a_journal_behind_a_link_is_private_too(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    open_to_write(tmp_path / "link.db").close()
    assert (tmp_path / "real.db").stat().st_mode & 0o777 == 0o600
