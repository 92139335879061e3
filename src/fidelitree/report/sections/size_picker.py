"""The certified curve with a control that moves along it: the page shows the tree that stands there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.display.frontier_chart import Mark, chart
from fidelitree.display.wording import Html, counted, table, tag, whole

if TYPE_CHECKING:
    from fidelitree.report.contents import SizeCurve


def size_picker(curve: SizeCurve) -> Html:
    """A chart, a slider below it, and the same in numbers; the page's script moves between them."""
    marks = curve.marks
    return tag(
        "div",
        tag("h2", "Pick a size", id="curve-title"),
        tag("p", f"{counted(len(marks), 'tree')} from the same run. {' '.join(curve.sentences)}", class_="note"),
        _mover(marks, curve.chosen),
        tag("figure", tag("div", chart(marks, curve.chosen), class_="scroll"), _legend(marks[0].what)),
        _table(marks, curve.chosen),
        class_="sizes",
        id="curve",
        role="group",
        aria_labelledby="curve-title",
    )


def told(mark: Mark) -> str:
    """A point in words."""
    knee = ", the knee" if mark.knee else ""
    return f"{counted(mark.leaves, 'leaf', 'leaves')}, at least {mark.agreement}{knee}"


def _legend(what: str) -> Html:
    keys = (("sure", f"Certified {what}"), ("reach", "What it can be at most"))
    legend = [tag("span", tag("span", class_=f"key {name}", aria_hidden="true"), text) for name, text in keys]
    return tag("figcaption", *legend, tag("span", "Horizontal scale: logarithm."), class_="legend")


def _mover(marks: list[Mark], chosen: int) -> Html:
    """Hidden until a script can follow it; every place has its words, for those who hear them."""
    slider = tag(
        "input",
        type="range",
        id="size",
        min=0,
        max=len(marks) - 1,
        step=1,
        value=chosen,
        aria_valuetext=told(marks[chosen]),
    )
    return tag(
        "div",
        tag("button", "\u2212", type="button", id="smaller", aria_label="Smaller tree"),
        tag("label", "Size of the tree", for_="size", class_="hidden"),
        slider,
        tag("button", "+", type="button", id="larger", aria_label="Larger tree"),
        tag("output", told(marks[chosen]), id="size-told", for_="size", aria_live="off"),
        class_="mover",
        id="mover",
        hidden=True,
    )


def _table(marks: list[Mark], chosen: int) -> Html:
    names = "Leaves", f"{marks[0].verb.capitalize()} at least", "At most", ""
    rows = (_row(mark, place, place == chosen) for place, mark in enumerate(marks))
    shown = table(names, rows, "Every tree of the curve", class_="numbers")
    inside = tag("div", shown, class_="scroll", tabindex=0)
    return tag("details", tag("summary", "The same in numbers"), inside, id="curve-numbers")


def _row(mark: Mark, place: int, here: bool) -> Html:
    size = tag("button", whole(mark.leaves), type="button", class_="link", data_point=place, data_told=told(mark))
    cells = (mark.agreement, mark.at_most, "knee" if mark.knee else "")
    return tag(
        "tr",
        tag("th", size, scope="row"),
        *(tag("td", cell) for cell in cells),
        aria_current="true" if here else None,
    )
