"""A run's answers on disk: durable before they are used, found again when the same run asks the same inputs."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from fidelitree.checks import is_text
from fidelitree.errors import FormatError
from fidelitree.journal.opening import open_to_read, open_to_write, refuse, write_ahead
from fidelitree.journal.records import COLUMNS, Record
from fidelitree.journal.run import Run

ENDED = "ended"


@dataclass(frozen=True)
class Ending:
    """How a run ended: after so many questions, and why.

    ``strikes`` are the looks at the clock that found a limited time, or the part of it for learning, to be over, each
    with the inputs that were answered by then of a batch that was cut off. How often a run looks depends on its answers
    alone, so a replay is struck at the same looks.
    """

    questions: int
    reason: str
    strikes: tuple[tuple[int, int], ...] = ()


class Journal:
    """The journal of one run.

    It is opened for a ``run``, which must be the one that it belongs to, or without one to be read only. Use it in a
    ``with`` block. No other process can open it meanwhile; a process that is killed lets go of it. ``records`` were
    there when it was opened, ``kept`` are there now. A run that is resumed with other limits takes the journal over
    with its first answer, or when it ends; until then the journal tells of the run before.
    """

    def __init__(self, path: str | os.PathLike[str], run: Run | None = None) -> None:
        self.path = Path(path)
        self._connection = open_to_read(self.path) if run is None else open_to_write(self.path)
        self.writes, self._resumes = run is not None, False
        try:
            with self._talking():
                self.run = self._own(run)
                self.records, self.seconds = self._sums()
                self.kept = self.records
                self.ending = self._ending()
                if self.writes:
                    write_ahead(self._connection, on=True)
        except BaseException:
            self._connection.close()
            raise
        self._now, self._live_since = 0.0, math.nan
        if not self.records:
            self.go_live()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave one file that can be copied, and let others open it."""
        with suppress(sqlite3.Error):  # all answers are on disk: tidying up must not hide why a run ended
            if self.writes:
                write_ahead(self._connection, on=False)
        self._connection.close()

    def clock(self) -> float:
        """How long the run has taken: as it was when the answers came that are replayed; from the last on, as it goes.

        What is worked out between two of them was worked out before, and takes none of a limited time.
        """
        if math.isnan(self._live_since):
            return self._now
        return self.seconds + time.monotonic() - self._live_since

    def go_live(self) -> None:
        """The last answer was replayed, or the target is about to be asked: time passes again."""
        if math.isnan(self._live_since):
            self._live_since = time.monotonic()

    def find(self, purpose: str, batch: int) -> Iterator[Record]:
        """What is known of a batch, part by part; some of it may belong to a run that asked other inputs."""
        with self._talking():
            found = self._connection.execute(
                f"SELECT {COLUMNS} FROM answers WHERE purpose = ? AND batch = ? ORDER BY start, id", (purpose, batch)
            )
            for row in found:
                record = Record.read(row)
                self._now = max(self._now, record.seconds)
                if self._now >= self.seconds:
                    self.go_live()
                yield record

    def keep(self, record: Record) -> None:
        """Write a record; when this returns, it is on disk."""
        self.go_live()
        timed = replace(record, seconds=self.clock())
        marks = ", ".join("?" * len(timed.row()))
        with self._talking(), self._at_once():
            self._take_over()
            self._connection.execute(f"INSERT INTO answers ({COLUMNS}) VALUES ({marks})", timed.row())
        self._resumes = False
        self.kept += 1

    def all(self) -> Iterator[Record]:
        """Every record, in the order in which they were written."""
        with self._talking():
            for row in self._connection.execute(f"SELECT {COLUMNS} FROM answers ORDER BY id"):
                yield Record.read(row)

    def some(self, most: int) -> Iterator[Record]:
        """A few records, evenly spread."""
        with self._talking():
            numbers = [number for (number,) in self._connection.execute("SELECT id FROM answers ORDER BY id")]
            for place in range(min(most, len(numbers))):
                chosen = numbers[place * len(numbers) // min(most, len(numbers))]
                yield Record.read(
                    self._connection.execute(f"SELECT {COLUMNS} FROM answers WHERE id = ?", (chosen,)).fetchone()
                )

    def end(self, ending: Ending) -> None:
        """Write down how the run ended, so that a replay ends in the same place."""
        with self._talking(), self._at_once():
            self._take_over()
            self._connection.execute(
                "INSERT OR REPLACE INTO run VALUES (?, ?)",
                (ENDED, json.dumps([ending.questions, ending.reason, ending.strikes])),
            )

    def _own(self, run: Run | None) -> Run:
        entries = dict(self._connection.execute("SELECT name, value FROM run LIMIT 100"))
        if run is None:
            return Run.of(entries)
        if not entries:
            with self._at_once():
                self._connection.executemany("INSERT INTO run VALUES (?, ?)", run.entries().items())
            return run
        was = Run.of(entries)
        was.check(run, replaying=False)
        self._resumes = True
        return replace(was, arguments=run.arguments)

    def _take_over(self) -> None:
        """Write the limits of a resumed run over those of the run before, whose ending is none any more."""
        if self._resumes:
            written = self.run.entries()["arguments"]
            self._connection.execute("UPDATE run SET value = ? WHERE name = 'arguments'", (written,))
            self._connection.execute("DELETE FROM run WHERE name = ?", (ENDED,))

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """All of it or nothing."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def _sums(self) -> tuple[int, float]:
        count, seconds = self._connection.execute("SELECT count(*), max(seconds) FROM answers").fetchone()
        if not isinstance(seconds, (float, type(None))):
            raise FormatError("it is damaged: a time must be a number")
        return count, seconds or 0.0

    def _ending(self) -> Ending | None:
        row = self._connection.execute("SELECT value FROM run WHERE name = ?", (ENDED,)).fetchone()
        if row is None:
            return None
        try:
            questions, reason, *told = json.loads(row[0])
            strikes = tuple((look, rows) for look, rows in (told[0] if told else ()))
        except (ValueError, TypeError, RecursionError):
            questions, reason, strikes = None, None, ()
        whole = {type(number) for pair in strikes for number in pair} <= {int}
        if type(questions) is not int or not is_text(reason) or not whole:
            raise FormatError("it is damaged: its ending is not one")
        return Ending(questions, reason, strikes)

    @contextmanager
    def _talking(self) -> Iterator[None]:
        """Our own errors for SQLite's, with the name of the file."""
        try:
            yield
        except sqlite3.Error as error:
            refuse(self.path, error)
        except UnicodeDecodeError:
            raise FormatError(f"journal {str(self.path)!r}: its text is not UTF-8") from None
        except FormatError as error:
            raise FormatError(f"journal {str(self.path)!r}: {error}") from None
