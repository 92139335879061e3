"""What a benchmark says: tables, bars and a remark, as aligned text and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 116


@dataclass(frozen=True)
class Table:
    """Rows of text under headings; every column but the first ``names`` is aligned to the right."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1

    def text(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        lines = [self._line(row, widths) for row in (self.headings, ["-" * width for width in widths], *self.rows)]
        return "\n".join(lines)

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        cells = list(map(str.ljust, row[: self.names], widths))
        cells += map(str.rjust, row[self.names :], widths[self.names :])
        return "  ".join(cells).rstrip()

    def markdown(self) -> str:
        rule = [":--" if k < self.names else "--:" for k in range(len(self.headings))]
        return "\n".join("| " + " | ".join(row) + " |" for row in (self.headings, rule, *self.rows))


@dataclass(frozen=True)
class Bar:
    """What was promised, what was measured; ``met`` is None at sizes that the promise is not about."""

    promise: str
    measured: str
    met: bool | None

    def __str__(self) -> str:
        verdict = {True: "met", False: "NOT MET", None: "not judged at smoke size"}[self.met]
        return f"bar: {self.promise}: {verdict} ({self.measured})"


@dataclass(frozen=True)
class Section:
    """The result of one benchmark."""

    name: str
    title: str
    tables: Sequence[Table]
    bars: Sequence[Bar]
    remark: str = ""

    def text(self) -> str:
        tables = "\n\n".join(table.text() for table in self.tables)
        return "\n".join([f"{self.name}: {self.title}", "", tables, "", *map(str, self.bars), fill(self.remark, WIDTH)])

    def markdown(self) -> str:
        tables = "\n\n".join(table.markdown() for table in self.tables)
        bars = "\n".join(f"- {bar}" for bar in self.bars)
        return "\n\n".join([f"## {self.name}: {self.title}", tables, bars, fill(self.remark, WIDTH)])


def duration(seconds: float) -> str:
    """A time to three digits, in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def times(ratio: float) -> str:
    """How many times as fast."""
    return f"{ratio:.3g}x" if ratio < 100 else f"{ratio:,.0f}x"
