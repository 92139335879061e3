"""Rows as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fidelitree.experiments.catalogue import save_rows, save_text

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Line:
    name: str
    share: float
    count: int


def test_a_column_for_each_field_and_a_line_for_each_row(tmp_path: Path) -> None:
    path = save_rows([Line("a, b", 0.1, 3), Line('"c"', 1e-12, 4)], tmp_path / "lines.csv")
    assert path == tmp_path / "lines.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows == [{"name": "a, b", "share": "0.1", "count": "3"}, {"name": '"c"', "share": "1e-12", "count": "4"}]
    assert b"\r" not in path.read_bytes(), "the same bytes on every machine"


def test_lines_of_text_end_with_a_newline_each(tmp_path: Path) -> None:
    path = save_text(["10.5 ± 0.5", "two"], tmp_path / "lines.txt")
    assert path.read_bytes() == "10.5 ± 0.5\ntwo\n".encode()
