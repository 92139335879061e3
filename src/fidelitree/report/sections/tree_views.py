"""The tree three times: as a diagram, as an outline to open and close, and as rules; and a form to try an input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fidelitree.display.wording import Html, counted, join, percent, row, section, table, tag
from fidelitree.report.sections.remaining import conditions

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents, Shares

_MOST_CONTROLS = 200
_LEGIBLE = 0.7  # of a drawing's size, at least
_BESIDE = 700  # pixels that are left of a page beside the form; a wider drawing has all of it
_MOST_DRAWN, _MOST_RULES = 64, 300
"""Leaves of a tree that a diagram can show on a screen, and rules that somebody may read."""
_TOOLS = (("Expand all", "expand"), ("Collapse", "collapse"))
_TINY = 1e-12
_NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # a file needs it; a page that names no address is easier to trust


def tree_section(contents: Contents, shares: Shares) -> Html:
    """Tabs, of which the script shows one at a time; without a script, one after the other."""
    views = {
        "diagram": ("Diagram", _diagram(contents, shares)),
        "lines": ("Outline", _outline()),
        "rules": ("Rules", _rules(contents, shares)),
    }
    there = {name: view for name, view in views.items() if view[1] is not None}
    plain = tag("pre", str(contents.tree), tabindex=0)
    wide = "wide" if any(_least_width(str(view)) > _BESIDE for _, view in there.values()) else ""
    return section(
        "tree",
        "The tree",
        tag("p", _introduction(contents, shares), class_="note"),
        tag("div", tag("div", _tabs(there), *_panels(there)), _panel(contents), class_=f"workbench {wide}".strip()),
        tag("details", tag("summary", "The tree as text"), plain, class_="plain"),
    )


def _tabs(views: dict[str, tuple[str, Html | None]]) -> Html:
    buttons = (
        tag("button", text, type="button", role="tab", id=f"tab-{name}", aria_controls=f"view-{name}")
        for name, (text, _) in views.items()
    )
    return tag("div", *buttons, role="tablist", aria_label="Views of the tree", class_="tabs", hidden=True)


def _panels(views: dict[str, tuple[str, Html | None]]) -> list[Html]:
    return [
        tag("div", view, role="tabpanel", id=f"view-{name}", aria_labelledby=f"tab-{name}", class_="canvas")
        for name, (_, view) in views.items()
    ]


def _diagram(contents: Contents, shares: Shares) -> Html | None:
    """Lines as thick as their share of inputs, halos as wide as their share of the error."""
    tree = contents.tree
    if not 1 < tree.size <= _MOST_DRAWN:
        return None
    masses = None if shares.masses is None else shares.masses.tolist()
    total = 0.0 if shares.wrong is None else float(shares.wrong[0])
    halos = None if shares.wrong is None or total <= _TINY else (shares.wrong / total).tolist()
    keys = [
        *([] if masses is None else ["Thick lines carry many inputs."]),
        *([] if halos is None else ["A wide halo around a leaf means a large share of the error."]),
    ]
    note = tag("p", " ".join(keys), class_="note key-line") if keys else None
    return join(note, _fitting(tree.to_svg(masses, halos).replace(_NAMESPACE, "")))


def _fitting(svg: str) -> Html:
    """A drawing that shrinks to the width of the page as far as its text stays readable, and scrolls from there on."""
    return Html(
        re.sub(r'width="(\d+)"', lambda w: f'{w[0]} style="min-width:{_LEGIBLE * int(w[1]):.0f}px"', svg, count=1)
    )


def _least_width(view: str) -> int:
    """How narrow a view with a drawing can be without being cut off."""
    found = re.search(r"<svg [^>]*min-width:(\d+)px", view)
    return 0 if found is None else int(found[1])


def _rules(contents: Contents, shares: Shares) -> Html | None:
    """A row for each leaf, the one that most inputs reach first."""
    tree = contents.tree
    if not 1 < tree.size <= _MOST_RULES:
        return None
    told = conditions(contents, {node for node, feature in enumerate(tree.as_lists[0]) if feature < 0})
    masses = {} if shares.masses is None else {leaf: float(shares.masses[leaf]) for leaf in told}
    order = sorted(told, key=lambda leaf: -masses.get(leaf, 0.0))
    shares_of = {leaf: [percent(masses[leaf])] if masses else [] for leaf in order}
    rows = (row(tag("strong", str(tree.label(leaf))), *shares_of[leaf], head=told[leaf]) for leaf in order)
    names = ("If", "Then", *(("Share of inputs",) if masses else ()))
    return tag("div", table(names, rows, "The rules of the tree", class_="rules"))


def _introduction(contents: Contents, shares: Shares) -> str:
    size = contents.tree.size
    if size == 1:
        return "One leaf: the same answer for every input."
    if shares.masses is None:
        return "Each line is a condition; its inputs go on to the lines below it."
    how = "test rows" if shares.estimated else "inputs"
    return f"Each condition comes with the share of {how} that reach it. Point at one for more."


def _outline() -> Html:
    buttons = [tag("button", text, type="button", id=name) for text, name in _TOOLS]
    return join(
        tag("div", *buttons, class_="tools"),
        tag("ul", role="tree", aria_labelledby="tree-title", id="outline", class_="outline"),
        tag("noscript", tag("p", "This page draws the tree with a script; below it stands as text.")),
        tag("p", "Printed as it was opened on the screen.", class_="print-only note", id="partly", hidden=True),
    )


def _panel(contents: Contents) -> Html:
    return tag(
        "aside",
        tag("h3", "Try an input"),
        tag(
            "form",
            _buttons(),
            tag("output", id="answer", for_="input", aria_live="polite"),
            *_fields(contents),
            id="input",
            autocomplete="off",
        ),
        tag("h3", "This part of the tree"),
        tag("div", tag("p", _HINT, class_="note"), id="node"),
        class_="panel",
        aria_label="Details of the tree",
    )


_HINT = "Point at a condition or an answer of the tree, or move to it with the arrow keys."


def _fields(contents: Contents) -> list[Html]:
    """The script fills in a control for each feature: those that the tree asks about first."""
    asked = set(contents.tree.feature.tolist()) - {-1}
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
