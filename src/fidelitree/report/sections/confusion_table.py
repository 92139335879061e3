"""Which labels the tree gets right, and which it loses: the target's answers against the tree's."""

from __future__ import annotations

from fidelitree.certificates.confusion import CONFIDENCE, Confusion, LabelPair
from fidelitree.display.markup import Html, tag
from fidelitree.display.wording import counted, percent, span, whole
from fidelitree.report.contents import Contents

_SHOWN = 16


def answers(contents: Contents) -> Html:
    """A row for each pair of labels that came up, or for the most frequent mistakes where there are many."""
    found = contents.certificate.confusion
    return tag(
        "section",
        tag("h2", "What the target says, and what the tree says", id="answers-title"),
        tag("p", "No answers were kept that could tell." if found is None else _explanation(found), class_="note"),
        None if found is None else _table(found),
        id="answers",
        aria_labelledby="answers-title",
    )


def _explanation(found: Confusion) -> str:
    if found.level is None:
        return "The target's labels, and how often the tree gives each answer there. Every input was counted."
    tests = counted(int(found.tests), "test input")
    return (
        f"The target's labels among {tests}, and how often the tree gives each answer there. Each interval "
        f"holds with {percent(CONFIDENCE)} confidence on its own; none is part of the certificate."
    )


def _table(found: Confusion) -> Html:
    rows = found.rows(_SHOWN)
    exact = found.level is None
    names = ("Target answers", "Tree answers", *(() if exact else ("Test inputs",)), "Share of that label")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    caption = tag("caption", "The target's answers against the tree's", class_="hidden")
    table = tag("table", caption, head, tag("tbody", *(_row(found, cell) for cell in rows)), class_="numbers")
    rest = found.cells_in_all - len(rows)
    more = f"And {counted(rest, 'more pair')} of labels: certificate.json lists the largest." if rest else None
    return tag(
        "div", tag("div", table, class_="scroll", tabindex=0), None if more is None else tag("p", more, class_="note")
    )


def _row(found: Confusion, cell: LabelPair) -> Html:
    mark = tag("strong", str(cell.tree), " ", tag("span", "(wrong)", class_="bad")) if cell.wrong else str(cell.tree)
    counts = [] if found.level is None else [tag("td", f"{whole(int(cell.count))} of {whole(int(cell.of))}")]
    return tag(
        "tr", tag("th", str(cell.target), scope="row"), tag("td", mark), *counts, tag("td", span(*found.share(cell)))
    )
