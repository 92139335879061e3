"""What the run cost, by purpose."""

from __future__ import annotations

from fidelitree.display.markup import Html, tag
from fidelitree.display.wording import counted, whole
from fidelitree.report.contents import Contents
from fidelitree.report.sections.bars import bars

_PURPOSES = {
    "certify": "Testing the tree",
    "check": "Asking again, to see that answers do not change",
    "enumerate": "Asking about every input",
    "grow": "Choosing splits",
    "label": "Learning labels",
    "walk": "Following mistakes to features that matter",
}


def spending(contents: Contents) -> Html:
    """Labels used for each purpose, and how many of them the target had to answer."""
    asked, paid = contents.queries.asked, contents.queries.paid
    parts = sorted(asked.by_purpose.items(), key=lambda part: -part[1])
    most = max(asked.by_purpose.values(), default=0)
    rows = [(_PURPOSES.get(name, name), whole(count), count / most) for name, count in parts if count]
    table = bars("Labels asked by purpose", ("Purpose", "Labels"), rows) if rows else None
    return tag(
        "section",
        tag("h2", "What it cost", id="cost-title"),
        tag("p", _sentence(int(asked), int(paid)), class_="note"),
        table,
        id="cost",
        aria_labelledby="cost-title",
    )


def _sentence(asked: int, paid: int) -> str:
    if asked == 0:
        return "No label was asked for."
    labels = f"{counted(asked, 'label was', 'labels were')} used"
    if paid == asked:
        return f"{labels}, and the target answered each of them."
    return f"{labels}; the target answered {counted(paid, 'row')}: repeated inputs are answered from memory."
