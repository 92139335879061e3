"""A binary tree as a figure of matplotlib: the boxes and lines of the drawing, for those who want a figure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from fidelitree.display.canvas import check_suffix, figure, save
from fidelitree.display.drawing import Sketch, laid_out
from fidelitree.display.wording import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INK, _PAPER, _LINE = "#404040", "#f4f4f4", "#9a9a9a"
_PIXELS = 72  # of a drawing to an inch of a figure
_FONT = 11.0
_FORK = 44.0  # before a box


def plot_tree(sketch: Sketch, path: str | os.PathLike[str] | None) -> Figure:
    """Boxes where the drawing has them; the figure is as large as the drawing."""
    if path is not None:
        check_suffix("path", path)
    boxes, (width, height) = laid_out(sketch)
    picture, places = figure(1, 1)
    picture.set_size_inches(width / _PIXELS, height / _PIXELS)
    axes = places[0, 0]
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for node, box in enumerate(boxes):
        for side, child in (("yes", sketch.yes[node]), ("no", sketch.no[node])):
            if child >= 0:
                end = boxes[child]
                across, down = [box.x, end.x - _FORK, end.x - _FORK / 2, end.x], [box.y, box.y, end.y, end.y]
                axes.plot(across, down, color=_LINE, lw=sketch.thick(child), zorder=1, solid_joinstyle="round")
                axes.text(end.x - 3, end.y - 5, side, ha="right", va="bottom", fontsize=_FONT - 3, color=_INK)
        leaf = sketch.no[node] < 0
        share = "" if sketch.share is None or not leaf else f"  {percent(sketch.share[node])}"
        frame = {
            "boxstyle": "round,pad=0.35" if leaf else "square,pad=0.35",
            "facecolor": f"C{sketch.code[node] % 10}" if leaf else _PAPER,
            "edgecolor": _INK,
            "alpha": 0.35 if leaf else 1.0,
        }
        axes.text(box.x, box.y, sketch.written(node) + share, va="center", fontsize=_FONT, bbox=frame, zorder=2)
    if path is not None:
        save(picture, path)
    return picture
