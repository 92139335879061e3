"""Plots; matplotlib is loaded when the first one is drawn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import MissingExtraError, ParameterError, check_path, writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BAR, _ENDS = "#56b4e9", "#333333"
_LONGEST_NAME = 28


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


def bars(
    names: Sequence[str],
    influences: NDArray[np.float64],
    intervals: NDArray[np.float64],
    title: str,
    most: int,
) -> Figure:
    """A bar for each of the most influential features, largest on top; a line from end to end of its interval."""
    order = np.argsort(-influences, kind="stable")[:most]
    picture, places = figure(1, 1, 0.9 + 0.27 * len(order))
    place, rows, ends = places[0, 0], range(len(order)), intervals[order].T
    place.barh(rows, influences[order], color=_BAR, height=0.7)
    if (ends[0] < ends[1]).any():
        off = np.maximum(np.abs(ends - influences[order]), 0.0)
        place.errorbar(influences[order], rows, xerr=off, fmt="none", ecolor=_ENDS, elinewidth=1.2, capsize=2.5)
    shown = [names[i] if len(names[i]) <= _LONGEST_NAME else names[i][: _LONGEST_NAME - 1] + "…" for i in order]
    place.set_yticks(rows, shown)
    place.set_ylim(len(order) - 0.4, -0.6)
    place.set_xlim(left=0)
    if not ends.any():
        place.set_xlim(0, 1)
    place.set_xlabel("influence (chance that a re-draw changes the label)")
    place.set_title(title, fontsize=10)
    place.grid(axis="x", alpha=0.25)
    place.set_axisbelow(True)
    place.spines[["top", "right"]].set_visible(False)
    return picture


def save(picture: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure; the suffix of the path says in which form."""
    with writing(Path(path), "give a file in a folder that exists"):
        picture.savefig(path, dpi=130)
