"""How anybody can check the result, what there is to take along, and how to have the same again."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from fidelitree.display.wording import Html, section, tag
from fidelitree.errors import FidelitreeError
from fidelitree.export import to_c, to_sql
from fidelitree.report.sections.remaining import conditions

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents, Shares

_MOST = 300
"""Leaves of a tree whose files are part of the page: a file of SQL repeats the path to every leaf."""


def files_of(contents: Contents, shares: Shares) -> dict[str, str]:
    """Names and texts of the files that the page can write; of a very large tree only the tree itself."""
    tree = contents.tree
    if tree.size > _MOST:
        return {}
    makers: dict[str, Callable[[], str]] = {
        "tree.json": tree.to_json,
        "rules.txt": lambda: _rules(contents),
        "tree.sql": lambda: to_sql(tree),
        "tree.c": lambda: to_c(tree),
        "leaves.csv": lambda: _leaves(contents, shares),
    }
    if contents.disagreements:
        makers["disagreements.csv"] = contents.disagreements.to_csv
    return {name: text for name, make in makers.items() if (text := _made(make)) is not None}


def _made(make: Callable[[], str]) -> str | None:
    """None where a format cannot hold the tree: C has no categories without names, for one."""
    try:
        return make()
    except FidelitreeError:
        return None


def _rules(contents: Contents) -> str:
    told = conditions(contents, leaves_of(contents))
    lines = [f"If {told[leaf]} then {contents.tree.label(leaf)}." for leaf in told]
    return "\n".join(lines) + "\n"


def leaves_of(contents: Contents) -> set[int]:
    """The nodes that answer."""
    return {node for node, feature in enumerate(contents.tree.as_lists[0]) if feature < 0}


def _leaves(contents: Contents, shares: Shares) -> str:
    """A line for each leaf: what leads to it, its answer, and its shares of inputs and of errors."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("leaf", "inputs with", "label", "share of inputs", "share that is wrong"))
    for leaf, told in conditions(contents, leaves_of(contents)).items():
        numbers = ("" if column is None else repr(float(column[leaf])) for column in (shares.masses, shares.wrong))
        writer.writerow((leaf, told, contents.tree.label(leaf), *numbers))
    return text.getvalue()


def checking(contents: Contents, files: dict[str, str]) -> Html:
    """Commands, downloads, and the record of the run."""
    return section(
        "check",
        "How to check this",
        tag("p", "In the folder that result.save or --out wrote:", class_="note"),
        tag("ul", *(tag("li", text, tag("pre", command)) for text, command in contents.ways), class_="commands"),
        tag("div", tag("h3", "Take it along"), *_downloads(files), class_="downloads"),
        tag("h3", "Make it again"),
        tag("p", "The same call with the same seed and versions gives the same tree, byte for byte.", class_="note"),
        tag("pre", contents.call, class_="call") if contents.call else None,
        _record(contents),
    )


def _downloads(files: dict[str, str]) -> list[Html]:
    """Buttons, which paper does not show."""
    if not files:
        return [tag("p", "The tree is too large for files inside this page: fidelitree export writes them.")]
    buttons = (tag("button", name, type="button", data_file=name) for name in files)
    note = tag("p", "Written by this page: nothing is fetched.", class_="note")
    return [note, tag("div", *buttons, class_="tools")]


def _record(contents: Contents) -> Html:
    certificate = contents.certificate
    facts = [
        ("Seed", _seed(contents)),
        *((f"Version of {name}", version) for name, version in certificate.versions.items()),
        ("Method", _method(contents)),
        ("Inputs", _inputs(contents)),
        ("Digest of the tree", tag("code", certificate.tree_digest)),
        ("Digest of the inputs", tag("code", certificate.space_digest)),
    ]
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="record")


def _method(contents: Contents) -> str:
    certificate = contents.certificate
    if certificate.method == "exact":
        return "exact: every input was counted"
    if not certificate.samples:
        return f"{certificate.method}, but no input was tested"
    return f"{certificate.method}, {certificate.protocol} test inputs"


def _seed(contents: Contents) -> str:
    certificate = contents.certificate
    if certificate.seed is None:
        return "none: nothing was drawn"
    return f"{certificate.seed}{'' if certificate.seed_chosen else ' (taken from the machine)'}"


def _inputs(contents: Contents) -> str:
    fit = contents.world.fit
    return contents.world.in_words if fit is None else f"{contents.world.in_words}; {fit}"
