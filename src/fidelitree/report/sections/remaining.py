"""Where the remaining error sits: leaves by their share of it."""

from __future__ import annotations

import numpy as np

from fidelitree.display.markup import Html, tag
from fidelitree.display.numbers import at_most, counted, percent, whole
from fidelitree.report.contents import Contents
from fidelitree.report.shares import Shares

_SHOWN = 12
_MANY = 200  # errors from which on a share of them means something
_TINY = 1e-12


def remaining(contents: Contents, shares: Shares) -> Html:
    """A table of the leaves that are wrong most often, or why there is none."""
    return tag(
        "section",
        tag("h2", "Where the remaining error sits", id="error-title"),
        tag("p", _explanation(contents, shares), class_="note"),
        _table(contents, shares) if _total(shares) > _TINY else None,
        id="error",
        aria_labelledby="error-title",
    )


def _total(shares: Shares) -> float:
    return 0.0 if shares.wrong is None else float(shares.wrong[0])


def _explanation(contents: Contents, shares: Shares) -> str:
    labels, certificate = contents.leaf_labels, contents.certificate
    if labels is None:
        return "No answers were kept that could tell."
    if labels.samples is None:
        if _total(shares) <= _TINY:
            return "Nowhere: the tree has no error at all."
        return f"The tree is wrong on exactly {at_most(_total(shares), 4)} of inputs, spread over its leaves like this."
    wrong = round(_total(shares) * labels.samples)
    tests = counted(labels.samples, "test input")
    if not wrong:
        return (
            f"Nobody knows: the tree got every one of its {tests} right. They show that the error is at most "
            f"{at_most(certificate.error_bound)} in total, and nothing about where."
        )
    basis = ""
    if certificate.samples < labels.samples:
        basis = f" (the bound was lowest after the first {whole(certificate.samples)} of them, and stays as it was)"
    rough = "with so few, the shares are rough, and" if wrong < _MANY else "the shares are"
    return (
        f"Of {tests} the tree got {whole(wrong)} wrong{basis}. This is where they fell; {rough} a little too kind, "
        f"because a run ends when its answers suffice."
    )


def _table(contents: Contents, shares: Shares) -> Html:
    tree, wrong = contents.tree, shares.wrong
    assert wrong is not None, "a table needs errors"
    leaves = np.flatnonzero(tree.feature < 0)
    order = [int(leaf) for leaf in leaves[np.argsort(-wrong[leaves], kind="stable")] if wrong[leaf] > _TINY]
    conditions = _conditions(contents, set(order[:_SHOWN]))
    rows = [_row(contents, shares, leaf, conditions[leaf]) for leaf in order[:_SHOWN]]
    names = ("Inputs with", "Tree answers", "Reached by", "Wrong there", "Share of the error")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    table = tag(
        "table", tag("caption", "Leaves by their share of the error", class_="hidden"), head, tag("tbody", *rows)
    )
    rest = len(order) - len(rows)
    note = (
        tag("p", f"{counted(rest, 'more leaf has', 'more leaves have')} errors too.", class_="note") if rest else None
    )
    return tag("div", tag("div", table, class_="scroll leaves", tabindex=0), note)


def _row(contents: Contents, shares: Shares, leaf: int, condition: str) -> Html:
    tree, masses, wrong = contents.tree, shares.masses, shares.wrong
    assert wrong is not None, "a row needs errors"
    labels = contents.leaf_labels
    assert labels is not None, "errors come from labels"
    place = int((tree.feature[:leaf] < 0).sum())
    reached = float(labels.shares[place].sum())
    button = tag("button", condition, type="button", class_="link", data_leaf=leaf)
    return tag(
        "tr",
        tag("th", button, scope="row"),
        tag("td", str(tree.labels[tree.code[leaf]])),
        tag("td", "–" if masses is None else percent(float(masses[leaf]))),
        tag("td", percent(float(wrong[leaf]) / reached) if reached > 0 else "–"),
        tag("td", tag("strong", percent(float(wrong[leaf]) / _total(shares)))),
    )


def _conditions(contents: Contents, leaves: set[int]) -> dict[int, str]:
    """What inputs of a leaf have in common, each feature once."""
    space, found = contents.space, {}
    for node, region in contents.tree.regions(space):
        if node in leaves:
            parts = [space.features[i].text(left) for i, left in region.restrictions.items()]
            found[node] = ", ".join(parts) or "all inputs"
    return found
