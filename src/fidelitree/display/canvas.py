"""Empty figures; matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fidelitree.errors import MissingExtraError, ParameterError, check_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure(rows: int, columns: int, height: float = 3.1) -> tuple[Figure, Any]:
    """An empty figure that needs no screen, and its places, rows by columns."""
    picture = _matplotlib("figure").Figure(figsize=(5.2 * columns, height * rows), layout="constrained")
    return picture, picture.subplots(rows, columns, squeeze=False)


def check_suffix(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a file whose ending names no form in which a figure can be written."""
    known = sorted(_matplotlib("backend_bases").FigureCanvasBase.get_supported_filetypes())
    if check_path(name, path).suffix.lower().removeprefix(".") not in known:
        raise ParameterError(f"{name} must end in one of .{', .'.join(known)}; got {os.fspath(path)!r}")


def _matplotlib(part: str) -> Any:
    try:
        return import_module(f"matplotlib.{part}")
    except ImportError:
        raise MissingExtraError("figures need matplotlib; install it with: pip install 'fidelitree[plot]'") from None
