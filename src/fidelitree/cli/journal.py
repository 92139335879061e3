"""``fidelitree journal``: what a journal holds, and its answers as a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fidelitree.cli.ending import AsJson, Code, say, tell

app = typer.Typer(help="Look into the journal of a run, or take its answers out.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="JOURNAL", help="The journal of a run, or the folder that holds it.")]


@app.command("info")
def info(journal: File, as_json: AsJson = False) -> int:
    """Say which run a journal belongs to, how far it came, and how it ended."""
    from fidelitree.asking import journal as journals

    found = journals.info(_file(journal))
    tell(as_json, asdict(found), found)
    return Code.CERTIFIED


@app.command("export")
def export(
    journal: File,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The table to write: a file that ends in .csv or .parquet.")
    ],
) -> int:
    """Write every answer of a journal as a row of a table, into the file OUT."""
    from fidelitree.asking import journal as journals

    say(f"wrote {journals.export(_file(journal), out):,} answers to {out}")
    return Code.CERTIFIED


def _file(journal: Path) -> Path:
    from fidelitree.certificates.store import JOURNAL

    return journal / JOURNAL if journal.is_dir() else journal
