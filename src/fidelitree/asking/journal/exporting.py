"""What a journal says about its run, and its answers as a table: they are the user's data."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.journal.journal import Journal
from fidelitree.errors import FormatError, MissingExtraError, ParameterError, writing

if TYPE_CHECKING:
    from fidelitree.asking.journal.run import Run

Table = dict[str, NDArray[Any]]
"""Columns by their names."""
SUFFIXES = (".csv", ".parquet")
_TYPES = {
    "boolean": "uint8",
    "numeric": "float64",
    "integer": "int64",
    "bool": "bool",
    "int": "int64",
    "float": "float64",
}


@dataclass(frozen=True)
class Info:
    """A journal at a glance; ``str()`` is a few lines for people."""

    path: str
    run: Run
    parts: int
    """Records: whole batches, or parts of them that came from different workers."""
    answers: int
    by_purpose: Mapping[str, int]
    seconds: float
    """How long the run has taken until the last answer, pauses left out."""
    ended: str | None
    """Why the run ended; None where it was cut off and can be resumed."""

    def __str__(self) -> str:
        run, purposes = self.run, ", ".join(f"{name} {count:,}" for name, count in self.by_purpose.items())
        arguments = ", ".join(f"{name}={value!r}" for name, value in run.arguments.items() if value is not None)
        return "\n".join(
            [
                f"journal  {self.path}",
                f"run      {run.door}({arguments}, seed={run.seed})",
                f"target   {run.target}",
                f"space    {len(run.features)} features, digest {run.space[:12]}...",
                f"made by  {', '.join(f'{name} {version}' for name, version in run.versions.items())}",
                f"answers  {self.answers:,} in {self.parts:,} parts ({purposes or 'none'}), {self.seconds:.1f} seconds",
                f"state    {'cut off: the same call goes on from here' if self.ended is None else self.ended}",
            ]
        )


def info(path: str | os.PathLike[str]) -> Info:
    """Read a journal through, checking every record; FormatError tells of a damaged one."""
    by_purpose: dict[str, int] = {}
    with Journal(path) as journal:
        for record in journal.all():
            by_purpose[record.purpose] = by_purpose.get(record.purpose, 0) + len(record.answers())
        ended = None if journal.ending is None else journal.ending.reason
        total = sum(by_purpose.values())
        return Info(os.fspath(path), journal.run, journal.records, total, by_purpose, journal.seconds, ended)


def export(path: str | os.PathLike[str], out: str | os.PathLike[str]) -> int:
    """Write every answer as one row: its purpose and batch, the features, the label; returns how many there were.

    The suffix decides: ``.csv`` or ``.parquet`` (which needs pyarrow). Rows stand in the order in which they were
    answered. Memory holds one batch at a time. A journal without an answer yet makes a table without rows.
    """
    written, suffix = Path(out), Path(out).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(f"out must end in {' or '.join(SUFFIXES)}; got {str(written)!r}")
    with Journal(path) as journal, writing(written, "give a file in a folder that exists"):
        tables = _tables(journal)
        return _write_csv(tables, written) if suffix == ".csv" else _write_parquet(tables, written)


def _tables(journal: Journal) -> Iterator[Table]:
    run, kinds = journal.run, set[str]()
    for record in journal.all():
        kinds.add(record.kind)
        if len(kinds) > 1:
            raise FormatError(f"labels of a journal must be of one kind; got {' and '.join(sorted(kinds))}")
        yield _table(run, record.purpose, record.batch, record.inner(len(run.features), run.bits), record.answers())
    if not kinds:
        yield _table(run, "", 0, np.empty((0, len(run.features))), np.empty(0, object))


def _table(run: Run, purpose: str, batch: int, inner: NDArray[Any], labels: NDArray[Any]) -> Table:
    names = [feature["name"] for feature in run.features]
    return {
        _free("purpose", names): np.full(len(inner), purpose, object),
        _free("batch", names): np.full(len(inner), batch),
        **{name: _column(run, i, inner[:, i]) for i, name in enumerate(names)},
        _free("label", names): labels,
    }


def _free(name: str, taken: list[str]) -> str:
    """A name for a column of our own that no feature has."""
    while name in taken:
        name += "_"
    return name


def _column(run: Run, i: int, inner: NDArray[Any]) -> NDArray[Any]:
    feature = run.features[i]
    if "values" in feature:
        return _looked_up(feature, inner)
    kind = "integer" if feature.get("integer") is True and not feature.get("missing") else feature["kind"]
    if kind == "integer" and not (np.abs(inner) < 2.0**53).all():
        raise FormatError(f"feature {feature['name']!r:.60} must hold whole numbers")
    return inner.astype(_TYPES[kind])


def _looked_up(feature: Mapping[str, Any], inner: NDArray[Any]) -> NDArray[Any]:
    values = [None if value is None else str(value) for value in feature["values"]]
    known = np.isfinite(inner) & (inner >= 0) & (inner < len(values)) & (inner == np.floor(inner))
    if not known.all():
        raise FormatError(f"feature {feature['name']!r:.60} must hold the codes of its {len(values)} values")
    return np.array([*values, None], object)[inner.astype(np.intp)]


def _write_csv(tables: Iterator[Table], out: Path) -> int:
    written = 0
    with out.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for table in tables:
            if not written:
                writer.writerow(table)
            columns = [column.tolist() for column in table.values()]
            writer.writerows(zip(*columns, strict=True))
            written += len(columns[0])
    return written


def _write_parquet(tables: Iterator[Table], out: Path) -> int:
    try:
        import pyarrow as pa  # a large library, for this format only
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise MissingExtraError("Parquet files need pyarrow, which is not installed: pip install pyarrow") from None
    written, writer = 0, None
    with ExitStack() as stack:
        for table in tables:
            arrow = pa.table({name: _arrow(pa, column) for name, column in table.items()})
            if writer is None:
                writer = stack.enter_context(parquet.ParquetWriter(out, arrow.schema))
            writer.write_table(arrow)
            written += arrow.num_rows
    return written


def _arrow(pa: Any, column: NDArray[Any]) -> Any:
    return pa.array(column.tolist(), pa.string()) if column.dtype == object else pa.array(column)
