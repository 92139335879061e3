"""``fidelitree verifier``: the program that checks a folder with Python alone, from a source that its sender is not."""

from __future__ import annotations

import hashlib
from typing import Annotated

import typer

from fidelitree.cli.ending import Code, say


def verifier(
    sha256: Annotated[bool, typer.Option("--sha256", help="Print its SHA-256 instead of the file.")] = False,
) -> int:
    """Print the genuine verify.py, which checks a stored result with Python alone.

    A folder holds a copy of it, but whoever sent the folder could have changed that copy. Run this one instead:
    python3 -I -S verify.py DIR. The documentation of each version lists its SHA-256.
    """
    from fidelitree.certificates.store import verifier as genuine

    content = genuine()
    if sha256:
        say(hashlib.sha256(content).hexdigest())
    else:
        typer.echo(content, nl=False)
    return Code.CERTIFIED
