"""``fidelitree export``: a stored tree in another format."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fidelitree.cli.ending import AsJson, Code, say, say_json
from fidelitree.cli.picking import PathText, PickText, tree_at
from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree


@dataclass(frozen=True)
class ExportOptions:
    """Which format, and where to."""

    to: Annotated[str, typer.Option(metavar="FORMAT", help="Name of the format; an unknown one lists them all.")]
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to a file instead of printing.")] = None
    pick: PickText = None


def export(path: PathText, options: ExportOptions, as_json: AsJson = False) -> int:
    """Write a stored tree as rules, code, a picture, a circuit or a model.

    Formats that are not text (sklearn, onnx) need --out. --pick takes another tree of the frontier that was stored with
    the result.
    """
    from fidelitree.export import FORMATS

    if options.to not in FORMATS:
        raise ParameterError(f"--to must be one of {', '.join(FORMATS)}; got {options.to!r}")
    tree, found = tree_at(path, options.pick)
    content = _content(_call(FORMATS[options.to], tree, None if found is None else found.space), options)
    if options.out is not None:
        options.out.write_bytes(content)
    text = None if options.out is not None else content.decode()
    if as_json:
        say_json({"format": options.to, "text": text, "file": None if options.out is None else str(options.out)})
    elif text is None:
        say(f"wrote {options.out}")
    else:
        typer.echo(text, nl=not text.endswith("\n"))
    return Code.CERTIFIED


def _call(make: Any, tree: Tree, space: World | None) -> Any:
    """Formats that can say more about a tree whose space is known are told it."""
    known = space is not None and (space.masses is not None or space.table is not None)  # a sampler is not stored
    if known and "space" in inspect.signature(make).parameters:
        return make(tree, space=space)
    return make(tree)


def _content(made: Any, options: ExportOptions) -> bytes:
    """What the file holds: text, an ONNX model as it stores itself, a scikit-learn tree as a skops file."""
    foreign = hasattr(made, "SerializeToString") or hasattr(made, "predict")
    if foreign and options.out is None:
        raise ParameterError(
            f"--to {options.to} makes a model, which is not text: say where to write it with --out FILE"
        )
    if hasattr(made, "SerializeToString"):
        return bytes(made.SerializeToString())
    if hasattr(made, "predict"):
        from fidelitree.errors import need

        return bytes(need("skops.io", "skops", "scikit-learn trees in files").dumps(made))
    return str(made).encode()
