"""``fidelitree show``: a stored tree, and what is promised about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fidelitree.cli.ending import AsJson, Code, say, say_json
from fidelitree.display.wording import leaves

PathText = Annotated[Path, typer.Argument(metavar="PATH", help="A result folder, or a stored tree (tree.json).")]


def show(path: PathText, as_json: AsJson = False) -> int:
    """Print a stored tree, its certificate, and how often target and tree answer each pair of labels."""
    from fidelitree.certificates.store import load
    from fidelitree.trees.tree import Tree

    plain: dict[str, Any] = {}
    if path.is_dir():
        stored = load(path)
        tree, certificate = stored.tree, stored.certificate
        plain = {"certificate": certificate.to_dict(), "sentence": str(certificate), "run": dict(stored.run)}
    else:
        tree, certificate = Tree.load(path), None
    shape = f"{leaves(tree.size)}, depth {tree.depth}, {len(tree.names)} features"
    if as_json:
        say_json({"tree": tree.to_dict(), "size": tree.size, "depth": tree.depth, **plain})
    elif certificate is None:
        say(tree, "", shape)
    else:
        say(tree, "", certificate, *certificate.sentences(tree.size), shape)
        if certificate.confusion is not None:
            say("", *certificate.confusion.lines())
    return Code.CERTIFIED
