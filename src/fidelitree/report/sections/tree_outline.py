"""The tree to look at, and a form that follows an input down to its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.display.markup import Html, tag
from fidelitree.display.wording import counted
from fidelitree.report.scene import tested

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents, Shares

_MOST_CONTROLS = 200


def tree_section(contents: Contents, shares: Shares) -> Html:
    """The frame; the page's script draws the tree into it, because only what is open needs to be there."""
    return tag(
        "section",
        tag("h2", "The tree", id="tree-title"),
        tag("p", _introduction(contents, shares), class_="note"),
        tag("div", _outline(), _panel(contents), class_="workbench"),
        _as_text(contents),
        id="tree",
        aria_labelledby="tree-title",
    )


def _introduction(contents: Contents, shares: Shares) -> str:
    size = contents.tree.size
    if size == 1:
        return "One leaf: the same answer for every input."
    if shares.masses is None:
        return "Each line is a condition; its inputs go on to the lines below it."
    how = "test rows" if shares.estimated else "inputs"
    return f"Each line is a condition with the share of {how} that reach it. Point at a line for more."


def _outline() -> Html:
    return tag(
        "div",
        tag(
            "div",
            tag("button", "Expand all", type="button", id="expand"),
            tag("button", "Collapse", type="button", id="collapse"),
            class_="tools",
        ),
        tag("ul", role="tree", aria_labelledby="tree-title", id="outline", class_="outline"),
        tag("noscript", tag("p", "This page draws the tree with a script; below it stands as text.")),
        tag("p", "Printed as it was opened on the screen.", class_="print-only note", id="partly", hidden=True),
        class_="canvas",
    )


def _panel(contents: Contents) -> Html:
    return tag(
        "aside",
        tag("h3", "This line"),
        tag(
            "div", tag("p", "Point at a line of the tree, or move to it with the arrow keys.", class_="note"), id="node"
        ),
        tag("h3", "Try an input"),
        tag("form", *_fields(contents), _buttons(), id="input", autocomplete="off"),
        tag("output", id="answer", for_="input", aria_live="polite"),
        class_="panel",
        aria_label="Details of the tree",
    )


def _fields(contents: Contents) -> list[Html]:
    """The script fills in a control for each feature: those that the tree asks about first."""
    asked = tested(contents.tree)
    others = min(len(contents.space), _MOST_CONTROLS) - len(asked)
    fields = [tag("div", id="asked", class_="fields")]
    if others > 0:
        summary = f"{counted(len(contents.space) - len(asked), 'feature')} that the tree does not ask about"
        fields.append(tag("details", tag("summary", summary), tag("div", id="unasked", class_="fields")))
    return fields


def _buttons() -> Html:
    return tag(
        "div",
        tag("button", "Follow its path", type="submit", class_="primary"),
        tag("button", "Random input", type="button", id="random"),
        class_="tools",
    )


def _as_text(contents: Contents) -> Html:
    return tag(
        "details", tag("summary", "The tree as text"), tag("pre", str(contents.tree), tabindex=0), class_="plain"
    )
