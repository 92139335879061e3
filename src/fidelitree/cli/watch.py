"""``fidelitree watch``: whether a stored result still keeps its promise on production rows."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fidelitree.cli.ending import AsJson, Code, Folder, check_place, note, tell, written
from fidelitree.cli.shared_options import interruptible
from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.runs.agree.monitor import Monitor

Rows = Annotated[
    Path, typer.Argument(metavar="ROWS", help="A table, JSON lines, a folder of such files, or - for standard input.")
]
_LINES = (".jsonl", ".ndjson")
_BATCH = 500  # rows between two looks, each of which is written down


@dataclass(frozen=True)
class WatchOptions:
    """What `ft.Monitor` can be told, and where its state lies."""

    label: Annotated[str, typer.Option(help="The column that holds the target's answers.")] = "label"
    delta: Annotated[float, typer.Option(help="The chance of a false alarm, over all time.")] = 0.05
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on from here, and write down how far it came.")
    ] = None
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page of the course.")] = None


def watch(folder: Folder, rows: Rows, options: WatchOptions, as_json: AsJson = False) -> int:
    """Check a stored tree on production rows that hold the target's answers.

    Give the same command again whenever there are new rows: with --state it goes on where it stopped. An alarm means
    that the tree errs more often than its certificate promises. Ends with 0 without an alarm, with 4 after one, and
    with 7 if Ctrl-C comes before one.
    """
    from fidelitree.runs.agree.monitor import Monitor
    from fidelitree.spaces.rows import ASSUMES_INDEPENDENT

    check_place("--state", options.state)
    check_place("--report", options.report)
    monitor = Monitor(folder, options.delta)
    if options.state is not None and options.state.exists():
        monitor.restore(options.state)
    try:
        with interruptible():
            _see_all(rows, monitor, options)
    except KeyboardInterrupt:
        if monitor.alarm is None:
            far = "nothing was written down" if options.state is None else f"{options.state} says how far it came"
            raise KeyboardInterrupt(f"interrupted: {far}") from None
    promises = [vars(one) for one in monitor.watched]
    told = {"alarm": monitor.alarm, "delta": monitor.delta, "assumes": [ASSUMES_INDEPENDENT], "promises": promises}
    tell(as_json, told, monitor)
    if options.report is not None:
        written([monitor.report(options.report)], as_json)
    return Code.CERTIFIED if monitor.alarm is None else Code.CHANGED


def _see_all(rows: Path, monitor: Monitor, options: WatchOptions) -> None:
    for name, records in _batches(rows, monitor):
        before = monitor.alarm
        _see(monitor, records, options.label)
        if name is None and before is None and monitor.alarm is not None:
            note(monitor.alarm)  # standard input may never end
        if name is not None:
            monitor.consumed[name] = monitor.consumed.get(name, 0) + len(records)
        if options.state is not None:
            monitor.save(options.state)


def _see(monitor: Monitor, records: list[dict[str, Any]], label: str) -> None:
    from fidelitree.runs.agree.monitor import rows_of

    if any(label not in one for one in records):
        raise ParameterError(f"--label must name a column of every row; {label!r} is missing")
    kind = type(monitor.tree.labels.item(0))
    answers = [one[label] for one in records]
    if any(type(answer) is not kind for answer in answers):
        odd = next(answer for answer in answers if type(answer) is not kind)
        raise ParameterError(f"--label must name answers of the tree's kind, {kind.__name__}; got {odd!r:.60}")
    monitor.see(rows_of(monitor.tree, records), answers)


def _batches(rows: Path, monitor: Monitor) -> Iterator[tuple[str | None, list[dict[str, Any]]]]:
    """Rows that were not seen yet, some at a time, with the file that they are from; standard input has none."""
    if str(rows) == "-":
        yield from ((None, batch) for batch in _arriving(sys.stdin.buffer))
        return
    if not rows.exists():
        raise ParameterError(f"ROWS must be a table, JSON lines or a folder; there is no {str(rows)!r}")
    for path in sorted(rows.iterdir()) if rows.is_dir() else [rows]:
        seen = monitor.consumed.get(path.name, 0)
        yield from ((path.name, batch) for batch in _in_batches(_records(path), seen))


def _arriving(source: Any) -> Iterator[list[dict[str, Any]]]:
    """The rows that have come in since the last look; nobody waits for more of them."""
    rest, chunk = b"", b"-"
    while chunk:
        chunk = source.read1(1 << 16)
        whole, end, rest = (rest + chunk).rpartition(b"\n") if chunk else (rest, b"\n", b"")
        if batch := list(_parsed(f"{line}\n" for line in (whole + end).decode().split("\n"))):
            yield batch


def _records(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix.lower() in _LINES:
        with path.open(encoding="utf-8") as file:
            yield from _parsed(file)
        return
    import narwhals as nw

    from fidelitree.cli.space_options import read_table

    yield from nw.from_native(read_table(path), eager_only=True).iter_rows(named=True)


def _parsed(lines: Any) -> Iterator[dict[str, Any]]:
    for line in lines:
        if not line.endswith("\n"):
            return  # it is being written
        if line.strip():
            try:
                record = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise ParameterError(f"ROWS must hold one JSON object a line; got {line.strip():.60}")
            yield record


def _in_batches(records: Iterator[dict[str, Any]], seen: int = 0) -> Iterator[list[dict[str, Any]]]:
    for found in range(seen):
        if next(records, None) is None:
            raise ParameterError(
                f"ROWS must only grow: {seen:,} rows of a file were read before, and now it has {found:,} - give other "
                f"rows another name, or begin with another --state"
            )
    while batch := list(islice(records, _BATCH)):
        yield batch
