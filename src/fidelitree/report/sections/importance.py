"""How much each feature matters to the tree."""

from __future__ import annotations

from fidelitree.display.markup import Html, tag
from fidelitree.display.wording import counted, figure, whole
from fidelitree.report.contents import Contents
from fidelitree.report.influences import Influences
from fidelitree.report.sections.bars import Row, bars

_SHOWN, _LISTED = 12, 300


def importance(contents: Contents, found: Influences) -> Html:
    """The tree's own influences, largest first; the rest folded away."""
    names, values = contents.space.names, found.values.tolist()
    order = sorted((i for i, value in enumerate(values) if value > 0), key=lambda i: -values[i])
    most = values[order[0]] if order else 1.0
    rows: list[Row] = [(names[i], figure(values[i]), values[i] / most) for i in order[:_LISTED]]
    columns = ("Feature", "Influence")
    more = f"{counted(len(rows) - _SHOWN, 'more feature')}"
    return tag(
        "section",
        tag("h2", "What the tree looks at", id="influence-title"),
        tag("p", _explanation(contents, found, len(order)), class_="note"),
        bars("Influence of each feature on the tree", columns, rows[:_SHOWN]) if rows else None,
        tag("details", tag("summary", more), bars("Further features", columns, rows[_SHOWN:]))
        if len(rows) > _SHOWN
        else None,
        id="influence",
        aria_labelledby="influence-title",
    )


def _explanation(contents: Contents, found: Influences, count: int) -> str:
    if not count:
        return "The tree gives one answer whatever the input: no feature has any influence on it."
    drawn = "from the table's columns, one by one" if contents.rows else "from its distribution"
    how = (
        "exact"
        if not found.rows
        else f"estimated from {whole(found.rows)} drawn inputs, each to within about {figure(1 / found.rows**0.5)}"
    )
    apart = "" if contents.rows else "; the target's may differ from them by up to twice the error"
    left = len(contents.space.names) - count
    others = f" {counted(left, 'other feature has', 'other features have')} none." if left else ""
    return (
        f"The influence of a feature is the probability that the tree's answer changes when that feature alone is "
        f"drawn anew {drawn}. These are the tree's own influences ({how}){apart}.{others}"
    )
