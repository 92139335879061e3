"""What a command says on standard output: sentences for people, or one JSON object for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of sentences.")]


def say(*lines: object) -> None:
    """Lines as they are; a terminal may wrap them, nothing else does."""
    for line in lines:
        typer.echo(str(line))


def say_json(data: dict[str, Any]) -> None:
    """One JSON object."""
    typer.echo(json.dumps(data, indent=1))


def written(paths: Sequence[Path], as_json: bool) -> None:
    """Which files there are now; not after a JSON object, which must be all that is printed."""
    if not as_json:
        say(*(f"wrote {path}" for path in paths))


def note(line: str) -> None:
    """Something that a person should know and a script should not read."""
    typer.echo(line, err=True)
