"""``fidelitree space``: what the inputs of a table are like, as a file to edit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fidelitree.cli.ending import Code, note, say
from fidelitree.cli.space_options import read_table

TableText = Annotated[Path, typer.Argument(metavar="TABLE", help="A table (.csv .tsv .parquet).")]


@dataclass(frozen=True)
class SpaceFileOptions:
    """Which columns, and where the file goes."""

    drop: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Leave a column out. Repeatable.")] = None
    categorical: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Read as categories. Repeatable.")] = (
        None
    )
    numeric: Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Read as numbers. Repeatable.")] = None
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the space file here.")] = None


def space(table: TableText, options: SpaceFileOptions) -> int:
    """Describe the columns of a table, and write their marginals as a space file (TOML) to edit.

    Give it to other commands as --space FILE. Numbers of many values become quantiles.
    """
    from fidelitree.spaces.describe import describe, to_toml
    from fidelitree.spaces.product import ProductSpace

    found = ProductSpace.from_data(
        read_table(table, options.drop or ()), options.categorical or (), options.numeric or ()
    )
    if options.out is None:
        say(to_toml(found, "pandas"))
        return Code.CERTIFIED
    say(describe(found))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(to_toml(found, "pandas"), encoding="utf-8")
    note(f"wrote {options.out}")
    return Code.CERTIFIED
