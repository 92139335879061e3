"""A stored tree: a file, the result in a folder, or, with ``--pick``, one point of its frontier; nobody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.certificates.store import Stored
    from fidelitree.runs.frontier_result import Frontier
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.tree import Tree

PathText = Annotated[Path, typer.Argument(metavar="PATH", help="A result folder, or a stored tree (tree.json).")]
PickText = Annotated[
    str | None,
    typer.Option(
        "--pick",
        metavar="leaves=N|epsilon=E|price=P|knee",
        help="Another tree of the stored frontier: leaves=8, the largest with at most 8; epsilon=0.1, the smallest "
        "whose certified error is at most 10 %; price=0.01, the last whose leaves each bring 1 %; or the knee.",
    ),
]
_KINDS = {"leaves": int, "epsilon": float, "price": float}


def tree_at(path: Path, pick: str | None) -> tuple[Tree, Stored | Distillation | None]:
    """The tree that is meant, and the result that it belongs to; a file has none."""
    from fidelitree.certificates.store import load
    from fidelitree.trees.tree import Tree

    if pick is None and not path.is_dir():
        return Tree.load(path), None
    found = load(path) if pick is None else picked(path, pick)
    return found.tree, found


def picked(folder: Path, pick: str) -> Distillation:
    """The point that a text names, of the frontier in a folder."""
    from fidelitree.runs.frontier_result import Frontier

    if not folder.is_dir():
        raise ParameterError(f"--pick needs a result folder with a frontier; {str(folder)!r} is not a folder")
    return _point(Frontier.load(folder), pick)


def _point(found: Frontier, pick: str) -> Distillation:
    name, equals, value = pick.partition("=")
    if pick == "knee":
        return found.knee
    if not equals or name not in _KINDS:
        raise ParameterError(f"--pick must be knee, leaves=N, epsilon=E or price=P; got {pick!r}")
    try:
        number = _KINDS[name](value)
    except ValueError:
        raise ParameterError(f"--pick must name a number after {name}=; got {pick!r}") from None
    return found.at(**{name: number})
