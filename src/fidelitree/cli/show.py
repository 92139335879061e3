"""``fidelitree show``: a stored tree, and what is promised about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fidelitree.cli.ending import AsJson, Code, say, say_json
from fidelitree.cli.picking import PathText, PickText, tree_at
from fidelitree.display.wording import leaves

if TYPE_CHECKING:
    from fidelitree.runs.frontier_result import Frontier


def show(path: PathText, pick: PickText = None, as_json: AsJson = False) -> int:
    """Print a stored tree, its certificate, and how often target and tree answer each pair of labels.

    A result folder also holds the frontier of its run: the curve is printed below, and --pick shows another tree of it.
    """
    tree, found = tree_at(path, pick)
    shape = f"{leaves(tree.size)}, depth {tree.depth}, {len(tree.names)} features"
    if as_json:
        curve, plain = _stored_curve(path), {"tree": tree.to_dict(), "size": tree.size, "depth": tree.depth}
        if found is not None:
            told = found.certificate
            plain |= {"run": dict(found.run), "certificate": told.to_dict(), "sentence": str(told)}
        say_json(plain if curve is None else {**plain, "frontier": curve.rows()})
    elif found is None:
        say(tree, "", shape)
    else:
        told = found.certificate
        say(tree, "", told, *told.sentences(tree.size), shape)
        if told.confusion is not None:
            say("", *told.confusion.lines())
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
    shown = [f"{line}{'  *' if point.leaves == size else ''}" for point, line in zip(found, lines, strict=True)]
    return ["", head, *shown, *found.sentences()]
