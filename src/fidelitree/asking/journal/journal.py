"""A run's answers on disk: durable before they are used, found again when the same run asks the same inputs."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, Self

from fidelitree.asking.journal.opening import (
    VERSION,
    in_our_words,
    open_to_read,
    open_to_write,
    schema_version,
    write_ahead,
)
from fidelitree.asking.journal.records import COLUMNS, Opened, Record
from fidelitree.asking.journal.run import Run, check_complete
from fidelitree.errors import FormatError, JournalError, is_text

ENDED = "ended"
LIMITS = "rungs"
"""The limits of every run that took the journal over."""
DRAWN = "drawn"
"""How many inputs were drawn for learning, and for tests, by the run that went farthest."""


@dataclass(frozen=True)
class Ending:
    """How a run ended: after so many questions, and why.

    ``late_looks`` are the looks at the clock that found a limited time, or its part for learning, to be over, each
    with the inputs that were answered by then of a batch that was cut off. How often a run looks depends on its answers
    alone, so a replay is struck at the same looks. Of a run that was interrupted the last one is that after which the
    interrupt is heard, be it in the middle of a search.
    """

    questions: int
    reason: str
    late_looks: tuple[tuple[int, int], ...] = ()

    @property
    def interrupted(self) -> bool:
        """Whether it was an interrupt."""
        return self.reason.endswith("interrupted")


class Journal:
    """The journal of one run.

    It is opened for a ``run``, which must be the one that it belongs to, or without one to be read only. Use it in a
    ``with`` block. No other process can open it meanwhile; a process that is killed lets go of it. ``records`` were
    there when it was opened, ``kept`` are there now. A run that is resumed with other limits takes the journal over
    with its first attempt or answer, or when it ends; until then the journal tells of the run before. ``attempts`` are
    those of all runs, ``all_limits`` their limits, ``drawn`` how far the farthest went through the inputs for tests.
    """

    def __init__(self, path: str | os.PathLike[str], run: Run | None = None) -> None:
        self.path = Path(path)
        self._connection = open_to_read(self.path) if run is None else open_to_write(self.path)
        self.writes, self._resumes = run is not None, False
        self.drawn: tuple[int, int] = 0, 0
        try:
            with self._talking():
                self.run = self._own(run)
                self.records, self.seconds = self._sums()
                self.kept = self.records
                self.ending = self._ending()
                self.attempts = self._attempts()
                self.drawn = self._drawn()
                if self.writes:
                    write_ahead(self._connection, on=True)
        except BaseException:
            self._connection.close()
            raise
        self.position: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self._now, self._live_since = 0.0, math.nan
        if not self.records:
            self.go_live()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
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

    @property
    def place(self) -> int:
        """Where the limits of this run stand among those of all runs; behind them where they are new."""
        limits = self.all_limits
        return limits.index(self.run.limits) if self.run.limits in limits else len(limits)

    @property
    def went_as_far(self) -> bool:
        """Whether a replay has drawn as many inputs as the run; with other runs, no more than the farthest."""
        if len(self.all_limits) == 1 and self.ending is not None:
            return self.position() == self.drawn
        no_farther = all(here <= most for here, most in zip(self.position(), self.drawn, strict=True))
        return no_farther or not self.lists_attempts

    def open_attempt(self, attempt: Opened) -> None:
        """Write down an attempt; when this returns, it is on disk. One that is replayed is remembered only."""
        if self.writes:
            marks = ", ".join("?" * len(astuple(attempt)))
            with self._talking(), self._at_once():
                self._take_over()
                self._connection.execute(f"INSERT INTO attempts VALUES ({marks})", astuple(attempt))
            self._resumes = False
        self.attempts.append(attempt)

    def all(self) -> Iterator[Record]:
        """Every record, in the order in which they were written."""
        with self._talking():
            for row in self._connection.execute(f"SELECT {COLUMNS} FROM answers ORDER BY id"):
                yield Record.read(row)

    def some(self, most: int, name: str = "") -> Iterator[Record]:
        """A few records whose purpose begins with a name, evenly spread."""
        with self._talking():
            found = self._connection.execute(
                "SELECT id FROM answers WHERE substr(purpose, 1, ?) = ? ORDER BY id", (len(name), name)
            )
            numbers = [number for (number,) in found]
            for place in range(min(most, len(numbers))):
                chosen = numbers[place * len(numbers) // min(most, len(numbers))]
                yield Record.read(
                    self._connection.execute(f"SELECT {COLUMNS} FROM answers WHERE id = ?", (chosen,)).fetchone()
                )

    def end(self, ending: Ending) -> None:
        """Write down how the run ended, so that a replay ends in the same place."""
        with self._talking(), self._at_once():
            self._take_over()
            self._write(ENDED, [ending.questions, ending.reason, ending.late_looks])

    def _own(self, run: Run | None) -> Run:
        entries = dict(self._connection.execute("SELECT name, value FROM run LIMIT 100"))
        self.all_limits: list[Mapping[str, Any]] = self._entry(LIMITS, list, [])
        version = schema_version(self._connection)
        self.lists_attempts = version > 1
        if entries and self.lists_attempts:
            check_complete(entries)
        if entries and self.lists_attempts and Run.of(entries).limits not in self.all_limits:
            raise FormatError("it is damaged: its limits are those of none of its runs")
        if run is None:
            return Run.of(entries)
        if not entries:
            self.all_limits = [run.limits]
            written = {**run.entries(), LIMITS: json.dumps(self.all_limits)}
            with self._at_once():
                self._connection.executemany("INSERT INTO run VALUES (?, ?)", written.items())
            return run
        was = Run.of(entries)
        was.check(run, replaying=False)
        if version != VERSION:
            raise JournalError(
                f"journal {str(self.path)!r} was made by an older fidelitree, which drew other test inputs: give "
                f"another journal"
            )
        self._resumes = True
        return replace(was, arguments=run.arguments)

    def _take_over(self) -> None:
        """Write the limits of a resumed run over those of the run before, whose ending is none any more.

        How far the run has come is written with every answer.
        """
        if self._resumes:
            written = self.run.entries()["arguments"]
            self._connection.execute("UPDATE run SET value = ? WHERE name = 'arguments'", (written,))
            self._connection.execute("DELETE FROM run WHERE name = ?", (ENDED,))
            self.all_limits += [self.run.limits] if self.run.limits not in self.all_limits else []
            self._write(LIMITS, self.all_limits)
        labels, tests = map(max, self.position(), self.drawn)
        if (labels, tests) != self.drawn:
            self.drawn = labels, tests
            self._write(DRAWN, self.drawn)

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """All of it or nothing, in the file and in what is remembered of it."""
        before = self.drawn, self.all_limits.copy()
        try:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
        except BaseException:
            self.drawn, self.all_limits = before
            raise

    def _sums(self) -> tuple[int, float]:
        count, seconds = self._connection.execute("SELECT count(*), max(seconds) FROM answers").fetchone()
        if not isinstance(seconds, (float, type(None))):
            raise FormatError("it is damaged: a time must be a number")
        return count, seconds or 0.0

    def _ending(self) -> Ending | None:
        match self._entry(ENDED, list, None):
            case None:
                return None
            case [int(questions), reason, *struck] if is_text(reason) and not isinstance(questions, bool):
                if struck or not self.lists_attempts:
                    return Ending(questions, reason, _strikes(*struck))
        raise FormatError("it is damaged: its ending is not one")

    def _attempts(self) -> list[Opened]:
        if not self.lists_attempts:
            return []
        rows = self._connection.execute("SELECT * FROM attempts ORDER BY ledger, number")
        found = [Opened.read(row) for row in rows]
        for ledger in {one.ledger for one in found}:
            numbers = [one.number for one in found if one.ledger == ledger]
            if numbers != list(range(1, len(numbers) + 1)):
                raise FormatError("it is damaged: attempts are missing")
        if len(self.all_limits) == 1 and any(one.passes_over for one in found):
            raise FormatError("it is damaged: an attempt passes over inputs that no earlier run has drawn")
        return found

    def _drawn(self) -> tuple[int, int]:
        match self._entry(DRAWN, list, [0, 0]):
            case [int(labels), int(tests)] if labels >= 0 and tests >= 0:
                return labels, tests
        raise FormatError("it is damaged: how many inputs were drawn is not told")

    def _entry(self, name: str, kind: type, default: Any) -> Any:
        """What the run has written under a name that not every journal has."""
        row = self._connection.execute("SELECT value FROM run WHERE name = ?", (name,)).fetchone()
        if row is None:
            return default
        try:
            found = json.loads(row[0])
        except (ValueError, TypeError, RecursionError):
            found = None
        if type(found) is not kind:
            raise FormatError(f"it is damaged: its {name!r} must be {kind.__name__}")
        return found

    def _write(self, name: str, value: Any) -> None:
        self._connection.execute("INSERT OR REPLACE INTO run VALUES (?, ?)", (name, json.dumps(value)))

    def _talking(self) -> AbstractContextManager[None]:
        return in_our_words(self.path, "journal ")


def _strikes(*told: Any) -> tuple[tuple[int, int], ...]:
    """Looks at the clock that found the time to be over, and answers of the batch by then; older journals have none."""
    try:
        found = tuple((look, rows) for listed in told for look, rows in listed)
    except (TypeError, ValueError):
        found = ((-1, -1),)
    if len(told) > 1 or any(type(number) is not int or number < 0 for pair in found for number in pair):
        raise FormatError("it is damaged: its ending is not one")
    return found
