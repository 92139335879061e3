"""Files that somebody else may have written, read whole and up to a limit."""

from __future__ import annotations

import os
from pathlib import Path

from fidelitree.errors import FormatError, check_path, reading

_PORTION = 1 << 20


def read_bytes(path: str | os.PathLike[str], most: int, what: str) -> bytes:
    """All bytes of a file; a device tells no size and never ends, so that what is read is limited itself."""
    path = check_path("path", path)
    with reading(path), path.open("rb") as file:
        found = bytearray()
        # Python makes room for all that it is asked to read, so that a small file is read in small portions.
        while path.stat().st_size <= most and len(found) <= most and (more := file.read(_PORTION)):
            found += more
        large = path.stat().st_size > most or len(found) > most
    if large:
        raise FormatError(f"{path.name} is larger than the {most // 1_000_000} MB that {what} may have")
    return bytes(found)


def read_text(path: str | os.PathLike[str], most: int, what: str) -> str:
    """A file of text in UTF-8, with lines that end in a newline as Python has them."""
    try:
        return read_bytes(path, most, what).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise FormatError(f"{Path(path).name} must be text in UTF-8") from None
