"""``fidelitree report``: the page of a stored frontier, opened at any of its points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from fidelitree.cli.ending import AsJson, Code, Folder, check_place, tell
from fidelitree.cli.picking import PickText, picked


@dataclass(frozen=True)
class PageOptions:
    """Which point, and where to."""

    pick: PickText = None
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the page goes.")] = Path("report.html")
    title: Annotated[str, typer.Option(metavar="TEXT", help="A line above the headline.")] = ""
    target_name: Annotated[str, typer.Option(metavar="TEXT", help="What the model is called.")] = ""
    notes: Annotated[str, typer.Option(metavar="TEXT", help="A paragraph of yours.")] = ""
    date: Annotated[str | None, typer.Option(metavar="DATE", help="The day (default: today).")] = None


def report(folder: Folder, options: PageOptions, as_json: AsJson = False) -> int:
    """Write the report of a stored frontier again, opened at the knee or at another point; nobody is asked."""
    check_place("--out", options.out)
    point = picked(folder, options.pick or "knee")
    about = {"title": options.title, "target_name": options.target_name, "notes": options.notes}
    page = point.report(options.out, **about, date=options.date)
    tell(as_json, {"size": point.leaves, "file": str(page)}, point.certificate, f"wrote {page}")
    return Code.CERTIFIED
