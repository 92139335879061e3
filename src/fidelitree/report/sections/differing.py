"""Examples of inputs on which target and tree differ: the first ones, as they were drawn, so that nobody chose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.display.wording import Html, counted, row, section, table, tag, whole
from fidelitree.trees.disagreements import EXAMPLES, FEATURES

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents
    from fidelitree.trees.disagreements import Disagreements


def differing(contents: Contents) -> Html:
    """Ten of them, or why there are none to show."""
    found = contents.disagreements
    shown = _table(found) if found else None
    return section("differ", "Where they differ: examples", tag("p", _told(contents), class_="note"), shown)


def _told(contents: Contents) -> str:
    found = contents.disagreements
    if found is None:
        exact = contents.certificate.method == "exact"
        none = "There are none: target and tree agree on every input."
        return none if exact and contents.certificate.error_bound == 0 else "The answers were not kept one by one."
    tests = counted(found.tests, "fresh input")
    if not found:
        return f"There are none to show: target and tree agree on all {tests} of the test."
    first = "These are all of them"
    if found.wrong > EXAMPLES:
        first = f"These are the first {EXAMPLES}, as they were drawn"
    return f"They differ on {whole(found.wrong)} of {tests}. {first}.{_columns(found)}"


def _columns(found: Disagreements) -> str:
    names = found.asked or tuple(found[0].input)
    rest = len(found[0].input) - min(len(names), FEATURES)
    return f" {counted(rest, 'feature is', 'features are')} not shown here; disagreements.csv has all." if rest else ""


def _table(found: Disagreements) -> Html:
    head, rows = found.cells(EXAMPLES, FEATURES)
    names = [*head[:-2], "Tree answers", "Target answers"]
    lines = (row(*cells[1:-2], *(tag("strong", label) for label in cells[-2:]), head=cells[0]) for cells in rows)
    return tag("div", table(names, lines, "Inputs on which they differ", class_="numbers"), class_="scroll", tabindex=0)
