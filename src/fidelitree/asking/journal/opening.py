"""Opening the file of a journal: ours or nobody's, alone, and without trusting what it says.

A file from a stranger is data. SQLite is told not to trust its schema, to refuse anything large, and the schema must be
to the letter the one that is written here: no view, no trigger, no expression of theirs is ever evaluated.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from fidelitree.errors import FormatError, JournalError

APPLICATION = 0x66747265  # "ftre"
VERSION = 3
MOST_BYTES = 64 << 20
"""Of one value; a part of a batch is far smaller."""
SCHEMA = (
    "CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE answers (
    id INTEGER PRIMARY KEY, purpose TEXT NOT NULL, batch INTEGER NOT NULL, start INTEGER NOT NULL,
    count INTEGER NOT NULL, digest BLOB NOT NULL, kind TEXT NOT NULL, inputs BLOB NOT NULL, labels BLOB NOT NULL,
    seconds REAL NOT NULL, seal BLOB NOT NULL)""",
    "CREATE INDEX by_batch ON answers (purpose, batch)",
    """CREATE TABLE attempts (
    ledger TEXT NOT NULL, number INTEGER NOT NULL, tree TEXT NOT NULL, labels INTEGER NOT NULL, tests INTEGER NOT NULL,
    labels_since INTEGER NOT NULL, tests_since INTEGER NOT NULL, run INTEGER NOT NULL, before TEXT NOT NULL,
    key TEXT NOT NULL, PRIMARY KEY (ledger, number)) WITHOUT ROWID""",
)
_WITHOUT_KEYS = """CREATE TABLE attempts (
    ledger TEXT NOT NULL, number INTEGER NOT NULL, tree TEXT NOT NULL, labels INTEGER NOT NULL, tests INTEGER NOT NULL,
    labels_since INTEGER NOT NULL, tests_since INTEGER NOT NULL, PRIMARY KEY (ledger, number)) WITHOUT ROWID"""
SCHEMAS = {1: SCHEMA[:3], 2: (*SCHEMA[:3], _WITHOUT_KEYS), VERSION: SCHEMA}
"""By version; the first one knew nothing of attempts, the second nothing of keys."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MOST_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 32,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 32,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 8,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 64,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 32,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}


def open_to_write(path: Path) -> sqlite3.Connection:
    """The journal at a path, made there if there is none; nobody else can open it until it is closed.

    A file that is refused is left as it was: only `write_ahead` changes one that was there before.
    """
    _make_private(path)
    connection = _connect(path, "rwc")
    with _closed_on_error(path, connection):
        connection.execute("PRAGMA synchronous=FULL")
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                _make(connection)
        _check_schema(connection)
    return connection


def _make_private(path: Path) -> None:
    """An empty file that only its owner may read, where there is none yet; SQLite gives its other files the same mode.

    A file that is there must not be opened here: closing it would let go of the locks that this process has on it.
    """
    with suppress(OSError):  # SQLite says what is wrong, in words about the journal
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def write_ahead(connection: sqlite3.Connection, on: bool) -> None:
    """Where a run writes: into a second file, which costs one flush a transaction; or all in one file, to be copied."""
    connection.execute(f"PRAGMA journal_mode={'WAL' if on else 'DELETE'}")


def open_to_read(path: Path) -> sqlite3.Connection:
    """A journal that exists, not to be changed."""
    if not path.is_file():
        raise JournalError(f"journal {str(path)!r} does not exist")
    may_write = os.access(path, os.W_OK) and os.access(path.absolute().parent, os.W_OK)
    # Where a run was killed, its last answers lie in a second file, and only who may write can take them in.
    connection = _connect(path, "rw" if may_write else "ro")
    with _closed_on_error(path, connection):
        connection.execute("PRAGMA query_only=ON")
        _check_schema(connection)
    return connection


def copied(path: Path, to: Path) -> None:
    """A whole copy of a journal, which only its owner may read; JournalError where a run is writing it."""
    with closing(open_to_read(path)) as journal:
        _make_private(to)
        with closing(sqlite3.connect(to)) as copy, _closed_on_error(path, journal):
            journal.backup(copy)


@contextmanager
def _closed_on_error(path: Path, connection: sqlite3.Connection) -> Iterator[None]:
    with ExitStack() as on_error:
        on_error.callback(connection.close)
        with in_our_words(path, "not a journal of fidelitree: "):
            yield
        on_error.pop_all()


@contextmanager
def in_our_words(path: Path, before: str) -> Iterator[None]:
    """Our own errors for SQLite's, with the name of the file."""
    try:
        yield
    except sqlite3.Error as error:
        refuse(path, error)
    except UnicodeDecodeError:  # what SQLite says about a damaged schema quotes it
        raise FormatError(f"{before}{str(path)!r}: its text is not UTF-8") from None
    except FormatError as error:
        raise FormatError(f"{before}{str(path)!r}: {error}") from None


def refuse(path: Path, error: sqlite3.Error) -> NoReturn:
    """What SQLite says, in words about the journal."""
    name, said = str(path), str(error)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise JournalError(f"journal {name!r} is in use by another run: wait for it, or give another journal") from None
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and "disk" in said):
        raise JournalError(
            f"journal {name!r} cannot be written: {said}. Every answer before this one is kept: make room, then make "
            f"the same call again"
        ) from None
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH):
        raise JournalError(
            f"journal {name!r} cannot be written: {said}. Its folder must exist, and be one that you may write to"
        ) from None
    raise FormatError(f"not a journal of fidelitree, or a damaged one: {name!r}: {said}") from None


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=0)
    except sqlite3.Error as error:
        refuse(path, error)
    with _closed_on_error(path, connection):
        connection.isolation_level = None
        connection.text_factory = _text
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
        # Exclusive before anything is read: the first run keeps the lock, and a crash gives it back.
        for pragma in ("locking_mode=EXCLUSIVE", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {pragma}")
    return connection


def _text(stored: bytes) -> str:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        raise FormatError("its text is not UTF-8") from None


def _make(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute(f"PRAGMA user_version={VERSION}")
    for statement in SCHEMA:
        connection.execute(statement)


def schema_version(connection: sqlite3.Connection) -> int:
    """The version of the schema, which was checked."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_schema(connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise FormatError("it is another program's file")
    if version not in SCHEMAS:
        raise FormatError(f"its schema must be version {VERSION}, which this fidelitree reads; got {version}")
    found = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid LIMIT 9").fetchall()
    if tuple(sql for (sql,) in found) != SCHEMAS[version]:
        raise FormatError("its tables are not those of a journal")
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise FormatError(f"it is damaged: {verdict!r:.100}")
