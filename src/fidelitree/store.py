"""A result as a folder: the tree, its certificate, its space, how it came about.

================  ======================================================================================
``tree.json``     the tree
``certificate.json``  what is promised about it
``space.json``    where inputs come from, exactly; with `Rows`, all rows of the table
``trace.csv``     one line for each record of the trace
``run.json``      how the run was asked for, why it ended, what it cost
``report.html``   all of it for people, written by `Distillation.report`
``journal.db``    every answer, where the run kept a journal here
================  ======================================================================================
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fidelitree.certificate import Certificate
from fidelitree.checks import check_path
from fidelitree.errors import FormatError, ParameterError, reading, writing
from fidelitree.files import read_text
from fidelitree.rows import Rows
from fidelitree.space import ProductSpace
from fidelitree.tree import Tree
from fidelitree.treefile import MAX_BYTES

TREE, CERTIFICATE, SPACE, TRACE, RUN = "tree.json", "certificate.json", "space.json", "trace.csv", "run.json"
REPORT = "report.html"
JOURNAL = "journal.db"
"""The answers of the run, where it kept them here."""


@dataclass(frozen=True)
class Stored:
    """What a folder holds; what is not there is None, or empty."""

    folder: Path
    tree: Tree
    certificate: Certificate
    space: ProductSpace | Rows | None
    run: Mapping[str, Any]

    @property
    def journal(self) -> Path | None:
        """The answers of the run."""
        return self.folder / JOURNAL if (self.folder / JOURNAL).is_file() else None


@dataclass(frozen=True)
class Record:
    """What is stored beside the tree and its certificate."""

    space: ProductSpace | Rows
    trace: Sequence[Mapping[str, Any]]
    run: Mapping[str, Any]


def save(folder: str | os.PathLike[str], tree: Tree, certificate: Certificate, record: Record) -> list[Path]:
    """Write a result; the files, in the order in which one would open them."""
    folder = check_path("folder", folder)
    texts = {
        CERTIFICATE: certificate.to_json() + "\n",
        SPACE: json.dumps(record.space.to_dict()) + "\n",
        TRACE: _table(record.trace),
        RUN: json.dumps(dict(record.run), indent=1) + "\n",
    }
    with writing(folder, "give a folder, or a name that is not taken"):
        folder.mkdir(parents=True, exist_ok=True)
        tree.save(folder / TREE)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
    return [folder / name for name in (TREE, *texts)]


def _table(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV, under the names of the first one's entries."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else ["asked"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def load(folder: str | os.PathLike[str]) -> Stored:
    """Read a folder that `save` wrote; its files are data, nothing in them is executed."""
    folder = check_path("folder", folder)
    with reading(folder):
        found = folder.is_dir()
    if not found:
        raise ParameterError(f"folder must hold a stored result; there is no folder {str(folder)!r}")
    for name in (TREE, CERTIFICATE):
        if not (folder / name).is_file():
            raise ParameterError(f"folder must hold {TREE} and {CERTIFICATE}; {name} is not in {str(folder)!r}")
    space = load_space(folder / SPACE) if (folder / SPACE).is_file() else None
    run = _json(folder / RUN) if (folder / RUN).is_file() else {}
    if not isinstance(run, dict):
        raise FormatError(f"{RUN} must hold an object; got {run!r:.80}")
    certificate = Certificate.from_json(_text(folder / CERTIFICATE))
    return Stored(folder, Tree.load(folder / TREE), certificate, space, run)


def load_space(path: str | os.PathLike[str]) -> ProductSpace | Rows:
    """A space file in TOML, a stored space, or the stored rows of a table."""
    path = check_path("path", path)
    if path.suffix.lower() == ".toml":
        return ProductSpace.from_file(path)
    data = _json(path)
    stored_rows = isinstance(data, dict) and "rows" in data
    return Rows.from_dict(data) if stored_rows else ProductSpace.from_dict(data)


def _json(path: Path) -> Any:
    text = _text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} is not JSON: {error}") from None


def _text(path: Path) -> str:
    return read_text(path, MAX_BYTES, "a file of a stored result")
