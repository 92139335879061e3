"""Whether a report in a folder is a page of its frontier, written again after the result was saved.

`Frontier.load("kept").knee.report("kept/report.html", title="Age")` gives such a page: its words are its author's, and
its facts are those of a point. A page with other facts is none, even where its headline is that of a point.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fidelitree.certificates.reportfile import facts_of, has_words, headline_of
from fidelitree.certificates.store import REPORT, Stored
from fidelitree.display.wording import leaves
from fidelitree.errors import FidelitreeError
from fidelitree.report.page import render
from fidelitree.runs.frontier_result import Frontier

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation


def with_report(stored: Stored) -> tuple[Stored, str | None]:
    """The result, which knows now whether its report was written again, and what a reader of the report should know."""
    if REPORT not in stored.changed:
        words = f"title, notes and name of the model in {REPORT} are its author's words, which nothing here checks"
        return stored, words if has_words(stored.report) else None
    pages = [(point, render(point.contents).encode()) for point in _points(stored)]
    for point, page in pages:
        if facts_of(page) == facts_of(stored.report):
            other = "" if point.tree == stored.tree else f", about another point: the tree with {leaves(point.leaves)}"
            return replace(
                stored, rewritten=True
            ), f"{REPORT} was written again from this folder, after it was saved{other}"
    for point, page in pages:
        if point.tree != stored.tree and headline_of(page) == headline_of(stored.report) != "":
            return stored, (
                f"{REPORT} has the headline of another point of the frontier, with {leaves(point.leaves)}, and was not "
                f"written from this folder: write it with Frontier.load"
            )
    return stored, None


def _points(stored: Stored) -> list[Distillation]:
    """The points of a stored frontier; none where it cannot be read."""
    if stored.frontier is None:
        return []
    try:
        return [*Frontier.load(stored.folder)]
    except FidelitreeError:
        return []
