"""Files that somebody else may have written, read whole and up to a limit."""

from __future__ import annotations

import os
from pathlib import Path

from fidelitree.checks import check_path
from fidelitree.errors import FormatError, reading


def read_bytes(path: str | os.PathLike[str], most: int, what: str) -> bytes:
    """All bytes of a file; a device tells no size and never ends, so that what is read is limited itself."""
    path = check_path("path", path)
    with reading(path), path.open("rb") as file:
        told = path.stat().st_size
        found = b"" if told > most else file.read(most + 1)
    if told > most or len(found) > most:
        raise FormatError(f"{path.name} is larger than the {most // 1_000_000} MB that {what} may have")
    return found


def read_text(path: str | os.PathLike[str], most: int, what: str) -> str:
    """A file of text in UTF-8, with lines that end in a newline as Python has them."""
    try:
        return read_bytes(path, most, what).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise FormatError(f"{Path(path).name} must be text in UTF-8") from None
