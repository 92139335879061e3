"""Rows of an experiment as CSV, and its summary as text."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any


def save(rows: Sequence[Any], path: Path) -> Path:
    """Write dataclass rows, one column for each field."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    return path


def save_text(lines: Sequence[str], path: Path) -> Path:
    """Write the lines that the command also prints."""
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
