"""Where the error sits: which labels the tree gets right and which it loses, and leaves by their share of the error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.certificates.confusion import CONFIDENCE, FEW, Confusion, LabelPair, LeafError
from fidelitree.display.wording import Html, at_most, counted, percent, row, section, span, table, tag, whole
from fidelitree.trees.answers import DEFER
from fidelitree.trees.disagreements import why_counted

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents, Shares

_LABELS_SHOWN = 16
_SHOWN = 12
_DEFERRED_SHOWN = 20
_TINY = 1e-12


def answers(contents: Contents) -> Html:
    """A row for each pair of labels that came up, or for the most frequent mistakes where there are many."""
    found = contents.certificate.confusion
    told = _without_table(contents) if found is None else _label_explanation(found)
    tables = () if found is None else (_class_table(found), _label_table(found))
    title = "What the target says, and what the tree says"
    return section("answers", title, tag("p", told, class_="note"), *tables)


def _class_table(found: Confusion) -> Html | None:
    """A row for each label of the target, the most frequent first: how often is it followed, and meant when given?"""
    first: dict[Any, LabelPair] = {}
    for cell in sorted(found.cells, key=lambda cell: (-cell.of, str(cell.target), cell.wrong)):
        first.setdefault(cell.target, cell)
    rows = [_class_row(found, cell) for cell in list(first.values())[:_LABELS_SHOWN]]
    names = (
        "Label",
        "Share of inputs",
        "When the target says it, the tree does",
        "When the tree says it, it is right",
    )
    shown = table(names, rows, "How often the tree follows each label", class_="numbers")
    return tag("div", shown, class_="scroll classes", tabindex=0) if rows else None


def _class_row(found: Confusion, cell: LabelPair) -> Html:
    said = sum(one.count for one in found.cells if one.tree == cell.target)
    right = 0 if cell.wrong else cell.count
    if not said:
        meant = "the tree never says it"
    else:
        meant = percent(right / said) if found.level is None else f"{whole(int(right))} of {whole(int(said))}"
    followed = "never" if cell.wrong else span(*found.share(cell))
    often = percent(cell.of / found.tests)
    return row(often, followed, meant, head=cell.target)


def _without_table(contents: Contents) -> str:
    if (near := contents.certificate.tolerance) is None:
        return "No answers were kept that could tell."
    return f"Both answer numbers. The tree is right where it is within {near:.6g} of the target, and wrong elsewhere."


def _label_explanation(found: Confusion) -> str:
    if found.level is None:
        return "The target's labels, and how often the tree gives each answer there. Every input was counted."
    tests = counted(int(found.tests), "test input")
    return (
        f"The target's labels among {tests}, and how often the tree gives each answer there. Each interval "
        f"holds with {percent(CONFIDENCE)} confidence on its own; none is part of the certificate."
    )


def _label_table(found: Confusion) -> Html:
    rows = found.rows(_LABELS_SHOWN)
    exact = found.level is None
    names = ("Target answers", "Tree answers", *(() if exact else ("Test inputs",)), "Share of that label")
    cells = (_label_row(found, cell) for cell in rows)
    shown = table(names, cells, "The target's answers against the tree's", class_="numbers")
    rest = found.cells_in_all - len(rows)
    more = f"And {counted(rest, 'more pair')} of labels: certificate.json lists the largest."
    inside = tag("div", shown, class_="scroll", tabindex=0)
    return tag("div", inside, tag("p", more, class_="note") if rest else None, id="pairs")


def _label_row(found: Confusion, cell: LabelPair) -> Html:
    mark = tag("strong", str(cell.tree), " ", tag("span", "(wrong)", class_="bad")) if cell.wrong else str(cell.tree)
    counts = [] if found.level is None else [tag("td", f"{whole(int(cell.count))} of {whole(int(cell.of))}")]
    return tag(
        "tr", tag("th", str(cell.target), scope="row"), tag("td", mark), *counts, tag("td", span(*found.share(cell)))
    )


def remaining(contents: Contents, shares: Shares) -> Html:
    """A table of the leaves that are wrong most often, or why there is none."""
    shown = _table(contents, shares) if _total(shares) > _TINY else None
    title = "Where the remaining error sits"
    return section("error", title, tag("p", _explanation(contents, shares), class_="note"), shown)


def deferred(contents: Contents, shares: Shares) -> Html | None:
    """Which inputs the tree does not answer, in words; nothing where it answers all."""
    tree = contents.tree
    leaves = [node for node in np.flatnonzero(tree.feature < 0).tolist() if tree.label(node) is DEFER]
    if not leaves:
        return None
    masses = shares.masses if not shares.estimated else None  # among answers there are none of these
    leaves.sort(key=lambda node: 0.0 if masses is None else -float(masses[node]))
    inputs = conditions(contents, set(leaves))
    often = {node: "–" if masses is None else percent(float(masses[node])) for node in leaves}
    rows = [row(often[node], head=inputs[node]) for node in leaves[:_DEFERRED_SHOWN]]
    told = f"In {counted(len(leaves), 'leaf', 'leaves')} the tree asks the target. No other tree of this size was found"
    note = f"{told} that answers more and errs as rarely."
    more = tag("p", f"And {counted(len(leaves) - len(rows), 'more leaf', 'more leaves')}.", class_="note")
    shown = tag("div", table(("Inputs with", "Share of inputs"), rows, "Deferred inputs"), class_="scroll", tabindex=0)
    rest = more if len(leaves) > len(rows) else None
    return section("deferred", "What it leaves to the target", tag("p", note, class_="note"), shown, rest)


def _total(shares: Shares) -> float:
    return 0.0 if shares.wrong is None else float(shares.wrong[0])


def _explanation(contents: Contents, shares: Shares) -> str:
    labels, certificate = contents.leaf_labels, contents.certificate
    if labels is None:
        return "No answers were kept that could tell."
    if labels.samples is None:
        if _total(shares) <= _TINY:
            return "Nowhere: the tree has no error at all."
        return f"The tree is wrong on exactly {at_most(_total(shares))} of inputs, spread over its leaves like this."
    wrong = round(_total(shares) * labels.samples)
    tests = counted(labels.samples, "test input")
    if not wrong:
        return (
            f"Nobody knows: the tree got every one of its {tests} right. They show that the error is at most "
            f"{certificate.error_at_most} in total, and nothing about where."
        )
    basis, errors, samples = "", certificate.errors, certificate.samples
    if errors is not None and (errors, samples) != (wrong, labels.samples):
        basis = f" {why_counted(errors, samples)}"
    return (
        f"Of {tests} the tree got {whole(wrong)} wrong.{basis} This is where they fell. Each interval holds with "
        f"{percent(CONFIDENCE)} confidence on its own, whenever the run ended; none is part of the certificate."
    )


def _table(contents: Contents, shares: Shares) -> Html:
    found = [entry for entry in contents.leaf_errors if entry.wrong > _TINY]
    told = conditions(contents, {node for entry in found for node in entry.nodes})
    alone, joined = ([entry for entry in found if (entry.share is None) is kind] for kind in (False, True))
    rows = [_row(contents, shares, entry, told) for entry in [*alone[:_SHOWN], *joined]]
    names = ("Inputs with", "Tree answers", "Reached by", "Wrong there", "Share of the error")
    shown = table(names, rows, "Leaves by their share of the error")
    rest = len(alone[_SHOWN:])
    more = tag("p", f"{counted(rest, 'more leaf has', 'more leaves have')} errors too.", class_="note")
    return tag("div", tag("div", shown, class_="scroll leaves", tabindex=0), more if rest else None)


def _row(contents: Contents, shares: Shares, entry: LeafError, told: dict[int, str]) -> Html:
    tree, masses, wrong, nodes = contents.tree, shares.masses, shares.wrong, list(entry.nodes)
    assert wrong is not None, "a row needs errors"
    if entry.share is None:
        each = "" if len(nodes) == 1 else " each"
        name: object = f"{counted(len(nodes), 'leaf', 'leaves')} with fewer than {FEW} test inputs{each}"
        answer = "–"
    else:
        name = tag("button", told[nodes[0]], type="button", class_="link", data_leaf=nodes[0])
        answer = str(tree.labels[tree.code[nodes[0]]])
    return tag(
        "tr",
        tag("th", name, scope="row"),
        tag("td", answer),
        tag("td", "–" if masses is None else percent(float(masses[nodes].sum()))),
        tag("td", _often(entry)),
        tag("td", tag("strong", percent(float(wrong[nodes].sum()) / _total(shares)))),
    )


def _often(entry: LeafError) -> str:
    if entry.share is None:
        return entry.counts
    return span(*entry.share) if entry.exact else f"{entry.counts}: {span(*entry.share)}"


def conditions(contents: Contents, leaves: set[int]) -> dict[int, str]:
    """What inputs of a leaf have in common, each feature once."""
    space, found = contents.space, {}
    for node, region in contents.tree.regions(space):
        if node in leaves:
            parts = [space.features[i].text(left) for i, left in region.restrictions.items()]
            found[node] = ", ".join(parts) or "all inputs"
    return found
