"""Where a command is to write: looked at before anything is paid for, not after."""

from __future__ import annotations

import os
from pathlib import Path

from fidelitree.errors import ParameterError


def check_place(option: str, path: Path, *, folder: bool = False) -> None:
    """Refuse a file, or a folder, that could not be written; folders that are missing on the way can be made."""
    wanted = "a folder" if folder else "a file"
    if path.exists() and path.is_dir() is not folder:
        raise ParameterError(f"{option} must be {wanted}, or a name that is not taken; {str(path)!r} is taken")
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir() and nearest != path:
        raise ParameterError(f"{option} must be {wanted} that can be made; {str(nearest)!r} is no folder")
    if not os.access(nearest, os.W_OK):
        raise ParameterError(f"{option} must be {wanted} that may be written; {str(nearest)!r} may not")
