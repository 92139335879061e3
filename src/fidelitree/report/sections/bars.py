"""Tables whose numbers are also bars."""

from __future__ import annotations

from collections.abc import Sequence

from fidelitree.display.markup import Html, tag

Row = tuple[object, str, float]
"""A name, its number as text, and the length of its bar from 0 to 1."""


def bars(caption: str, columns: tuple[str, str], rows: Sequence[Row]) -> Html:
    """One row for each name; the bar says nothing that the number does not."""
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in columns), tag("td")))
    body = tag("tbody", *(_row(*row) for row in rows))
    return tag("table", tag("caption", caption, class_="hidden"), head, body, class_="bars")


def _row(name: object, number: str, length: float) -> Html:
    drawn = tag("rect", width=f"{max(0.6, 100 * length):.2f}" if length else "0", height=10, rx=1)
    bar = tag("svg", drawn, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true", focusable="false")
    return tag("tr", tag("th", name, scope="row"), tag("td", number), tag("td", bar, class_="bar"))
