"""``--pick``: one point of a stored frontier, by its size, its error, or the knee; nobody is asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.runs.frontier_result import Frontier
    from fidelitree.runs.result import Distillation

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
