"""``fidelitree show``: a stored tree, and what is promised about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fidelitree.cli.ending import AsJson, Code, say, say_json
from fidelitree.cli.picking import PickText, picked
from fidelitree.display.wording import leaves

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.runs.frontier_result import Frontier

PathText = Annotated[Path, typer.Argument(metavar="PATH", help="A result folder, or a stored tree (tree.json).")]


def show(path: PathText, pick: PickText = None, as_json: AsJson = False) -> int:
    """Print a stored tree, its certificate, and how often target and tree answer each pair of labels.

    A result folder also holds the frontier of its run: the curve is printed below, and --pick shows another tree of it.
    """
    from fidelitree.certificates.store import load
    from fidelitree.trees.tree import Tree

    plain: dict[str, Any] = {}
    certificate: Certificate | None = None
    if pick is not None:
        point = picked(path, pick)
        tree, certificate, plain = point.tree, point.certificate, {"run": dict(point.run)}
    elif path.is_dir():
        stored = load(path)
        tree, certificate = stored.tree, stored.certificate
        plain = {"run": dict(stored.run)}
    else:
        tree = Tree.load(path)
    shape = f"{leaves(tree.size)}, depth {tree.depth}, {len(tree.names)} features"
    if certificate is not None:
        plain |= {"certificate": certificate.to_dict(), "sentence": str(certificate)}
    if as_json:
        curve = _stored_curve(path)
        if curve is not None:
            plain["frontier"] = curve.rows()
        say_json({"tree": tree.to_dict(), "size": tree.size, "depth": tree.depth, **plain})
    elif certificate is None:
        say(tree, "", shape)
    else:
        say(tree, "", certificate, *certificate.sentences(tree.size), shape)
        if certificate.confusion is not None:
            say("", *certificate.confusion.lines())
        say(*_curve(path, tree.size))
    return Code.CERTIFIED


def _stored_curve(folder: Path) -> Frontier | None:
    from fidelitree.certificates.store import FRONTIER
    from fidelitree.runs.frontier_result import Frontier

    return Frontier.load(folder) if (folder / FRONTIER).is_file() else None


def _curve(folder: Path, size: int) -> list[str]:
    """The frontier, where one is stored; a star stands at the tree that is shown."""
    from fidelitree.display.frontier_chart import table

    found = _stored_curve(folder)
    if found is None:
        return []
    head, *lines = table(found.marks)
    shown = [f"{line}{'  *' if point.leaves == size else ''}" for point, line in zip(found.points, lines, strict=True)]
    return ["", head, *shown, *found.sentences()]
