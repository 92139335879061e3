"""The tree to look at, a form that follows an input down to its answer, and the data that the page's script needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.confusion import FEW
from fidelitree.display.markup import Html, section, tag
from fidelitree.display.wording import counted
from fidelitree.spaces.features import AtMost, Boolean, Categorical, Feature, IsIn, Numeric

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents, Shares
    from fidelitree.trees.tree import Tree

_LEVELS = (np.arange(21) + 0.5) / 21
_DIGITS = 6
_MOST_CONTROLS = 200
_TOOLS = (("Expand all", "expand"), ("Collapse", "collapse"))


def controls(contents: Contents) -> list[dict[str, Any]]:
    """How to ask for a value of each feature, whatever the tree."""
    return [_control(entry) for entry in contents.space]


def scene(contents: Contents, shares: Shares, influences: NDArray[np.float64]) -> dict[str, Any]:
    """Nodes by columns, in their order; cuts exact, because the page must answer as the tree does."""
    tree, labels = contents.tree, contents.leaf_labels
    feature, no, yes, code = tree.as_lists
    thresholds = {node: test for node, test in tree.tests.items() if isinstance(test, AtMost)}
    return {
        "influences": _column(influences),
        "labels": [str(label) for label in tree.labels.tolist()],
        "nodes": {"feature": feature, "no": no, "yes": yes, "code": code},
        "cuts": {node: _cut(test) for node, test in thresholds.items()},
        "missing": {node: test.missing for node, test in thresholds.items() if test.missing is not None},
        "sets": {node: sorted(test.codes) for node, test in tree.tests.items() if isinstance(test, IsIn)},
        "masses": _column(shares.masses),
        "wrong": _column(shares.wrong),
        "estimated": shares.estimated,
        "classes": [] if labels is None else [str(name) for name in labels.classes],
        "counts": [] if labels is None else [[_brief(x) for x in row] for row in labels.shares.tolist()],
        "samples": None if labels is None else labels.samples,
        "here": _here(contents),
    }


def _here(contents: Contents) -> dict[int, str]:
    """How often each leaf is wrong, in words."""
    few = f"not known: fewer than {FEW} test inputs came here"
    return {node: few if entry.share is None else str(entry) for entry in contents.leaf_errors for node in entry.nodes}


def tested(tree: Tree) -> set[int]:
    """The features that the tree asks about."""
    return set(tree.feature.tolist()) - {-1}


def _control(feature: Feature) -> dict[str, Any]:
    """How to ask for a value, where to begin, and what to choose among at random."""
    described: dict[str, Any] = {"name": feature.name, "kind": feature.kind}
    if isinstance(feature, Boolean):
        described |= {"start": int(feature.p >= 0.5), "p": _brief(feature.p)}
    elif isinstance(feature, Categorical):
        chances = feature.probabilities.tolist()
        described |= {"values": [_shown(value) for value in feature.values], "p": [_brief(p) for p in chances]}
        described["start"] = int(np.argmax(chances))
    elif isinstance(feature, Numeric):
        likely = _quantiles(feature)
        described |= {"likely": likely, "start": likely[len(likely) // 2], "integer": feature.integer}
        described |= {"missing": _brief(feature.missing)} if feature.missing else {}
    return described


def _cut(test: AtMost) -> float | None:
    """JSON has no infinity: None asks whether a number is there."""
    return None if test.cut == math.inf else test.cut


def _quantiles(feature: Numeric) -> list[float]:
    """Values from the bottom to the top of the marginal."""
    if feature.points is None:
        edges, shares = feature.marginal.edges, feature.marginal.shares  # type: ignore[union-attr]
        found = np.interp(_LEVELS, np.concatenate([[0.0], np.cumsum(shares)]), edges)
        return [float(f"{value:.4g}") for value in found.tolist()]
    values, shares = feature.listed((-math.inf, math.inf))
    places = np.searchsorted(np.cumsum(shares), _LEVELS)
    return [float(value) for value in values[np.minimum(places, len(values) - 1)]]


def _shown(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def _column(values: NDArray[np.float64] | None) -> list[float] | None:
    return None if values is None else [_brief(value) for value in values.tolist()]


def _brief(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def tree_section(contents: Contents, shares: Shares) -> Html:
    """The frame; the page's script draws the tree into it, because only what is open needs to be there."""
    plain = tag("pre", str(contents.tree), tabindex=0)
    return section(
        "tree",
        "The tree",
        tag("p", _introduction(contents, shares), class_="note"),
        tag("div", _outline(), _panel(contents), class_="workbench"),
        tag("details", tag("summary", "The tree as text"), plain, class_="plain"),
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
    buttons = [tag("button", text, type="button", id=name) for text, name in _TOOLS]
    return tag(
        "div",
        tag("div", *buttons, class_="tools"),
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
