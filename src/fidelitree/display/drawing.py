"""A binary tree drawn as SVG.

A small tree runs from left to right, a column for each depth. A larger one drawn like that, or from the top down, is
wider than any screen: it becomes an outline, a row for each node, indented by depth, which is scrolled like any page.
Colours are those of the page around: lines and text use ``currentColor``, so that a drawing is as readable on dark
paper as on light. Nothing in it is loaded, run or looked up by an id, so that several may stand on one page.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from fidelitree.display.wording import percent

_ROW, _BOX, _PAD, _MARGIN = 34.0, 24.0, 9.0, 8.0
_GAP = 62.0
"""Between columns: room for a curve and for *yes* or *no*."""
_INDENT, _STEM, _LOW_ROW = 46.0, 14.0, 28.0
_FEW, _FLAT = 24, 6
"""Leaves and depth of a tree that fits on a screen in columns."""
_LONGEST = 44
_HUES = (210, 28, 140, 330, 265, 55, 185, 0)
_STYLE = (
    ".fidelitree{font:13px/1.2 system-ui,-apple-system,'Segoe UI',sans-serif}"
    ".fidelitree text{fill:currentColor;dominant-baseline:central}"
    ".fidelitree path{fill:none;stroke:currentColor;stroke-opacity:.45}"
    ".fidelitree rect{fill:currentColor;fill-opacity:.05;stroke:currentColor;stroke-opacity:.45}"
    ".fidelitree .leaf rect{fill-opacity:.22;stroke-opacity:.9}"
    ".fidelitree .leaf rect.halo{fill:none;stroke:#d00;stroke-opacity:.4}"
    ".fidelitree .leaf text{font-weight:600}"
    ".fidelitree .leaf .share,.fidelitree .side{font-size:11px;font-weight:400;fill-opacity:.8}"
    "svg.fidelitree:root{color-scheme:light dark;color:CanvasText;background:Canvas}"  # a file of its own
    "@media print{.fidelitree rect{print-color-adjust:exact;-webkit-print-color-adjust:exact}}"
)


@dataclass(frozen=True)
class Sketch:
    """What to draw: nodes in preorder with their children (-1 at a leaf) and what stands in them.

    ``code`` numbers the labels of leaves, -1 elsewhere; equal labels have equal colours. ``brief`` is what to show
    instead of some texts, which the pointer then shows. ``share`` is the probability of each node, which makes its line
    thicker; None where it is not known. ``wrong`` is each node's share of the error, which makes a halo around it.
    """

    no: Sequence[int]
    yes: Sequence[int]
    text: Sequence[str]
    code: Sequence[int]
    brief: Mapping[int, str]
    share: Sequence[float] | None = None
    wrong: Sequence[float] | None = None

    def written(self, node: int) -> str:
        """What the box of a node shows."""
        text = self.brief.get(node, self.text[node])
        return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"

    def width(self, node: int) -> float:
        """How wide its box is; the text of a leaf is bold."""
        return text_width(self.written(node)) * (1.1 if self.no[node] < 0 else 1) + 2 * _PAD

    def thick(self, node: int) -> float:
        """How thick the line to a node is."""
        return 1.2 if self.share is None else 0.8 + 7 * self.share[node]

    def halo(self, node: int) -> float:
        """How wide the halo of a leaf is: its area grows with its share of the error."""
        return 0.0 if self.wrong is None or self.no[node] >= 0 else 10 * self.wrong[node]


@dataclass(frozen=True)
class Box:
    """Where a node stands: left end, middle line, width."""

    x: float
    y: float
    width: float


def draw_tree(sketch: Sketch, title: str, description: str) -> str:
    """An SVG element; ``title`` and ``description`` are read out to those who do not see it."""
    order, depth = _walk(sketch)
    boxes, (width, height) = laid_out(sketch)
    line = _curves if _fits(sketch, depth) else _elbows
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fidelitree" role="img" {size}>',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>{_STYLE}</style>",
    ]
    lines += ["".join(line(sketch, boxes, node)) for node in order if sketch.no[node] >= 0]
    lines += [_node(sketch, boxes[node], node) for node in order]
    return "\n".join([*lines, "</svg>"]) + "\n"


def laid_out(sketch: Sketch) -> tuple[list[Box], tuple[float, float]]:
    """A box for each node, in columns or as an outline, and how wide and high they are together."""
    order, depth = _walk(sketch)
    boxes = (_in_columns if _fits(sketch, depth) else _in_outline)(sketch, order, depth)
    width = max(box.x + box.width for box in boxes) + _MARGIN + (60 if sketch.share else 0)
    return boxes, (width, max(box.y for box in boxes) + _BOX / 2 + _MARGIN)


def _fits(sketch: Sketch, depth: list[int]) -> bool:
    """Whether the tree fits on a screen in columns."""
    return len(sketch.no) < 2 * _FEW and max(depth) <= _FLAT


def _walk(sketch: Sketch) -> tuple[list[int], list[int]]:
    """Nodes from the top of the drawing to its end, yes before no; the depth of each node."""
    order, depth, waiting = [], [0] * len(sketch.no), [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if sketch.no[node] >= 0:
            for child in (sketch.no[node], sketch.yes[node]):
                depth[child] = depth[node] + 1
                waiting.append(child)
    return order, depth


def _in_columns(sketch: Sketch, order: list[int], depth: list[int]) -> list[Box]:
    """Leaves stand in rows, and whoever has children halfway between them."""
    rows = dict(zip((node for node in order if sketch.no[node] < 0), map(float, range(len(order))), strict=False))
    for node in reversed(order):
        if sketch.no[node] >= 0:
            rows[node] = (rows[sketch.no[node]] + rows[sketch.yes[node]]) / 2
    widths = [sketch.width(node) for node in range(len(order))]
    left, start = _MARGIN, []
    for column in range(max(depth) + 1):
        start.append(left)
        left += max(widths[node] for node in order if depth[node] == column) + _GAP
    middle = _MARGIN + _BOX / 2
    return [Box(start[depth[node]], middle + rows[node] * _ROW, widths[node]) for node in range(len(order))]


def _in_outline(sketch: Sketch, order: list[int], depth: list[int]) -> list[Box]:
    """A row for each node."""
    row = {node: place for place, node in enumerate(order)}
    middle = _MARGIN + _BOX / 2
    return [
        Box(_MARGIN + depth[node] * _INDENT, middle + row[node] * _LOW_ROW, sketch.width(node))
        for node in range(len(order))
    ]


def _curves(sketch: Sketch, boxes: Sequence[Box], node: int) -> list[str]:
    """The line out of a box, and the curves to both children, each with its answer."""
    fork, y = boxes[sketch.yes[node]].x - _GAP, boxes[node].y
    drawn = [_path(sketch.thick(node), f"M{boxes[node].x + boxes[node].width:.1f} {y:.1f}H{fork:.1f}")]
    for side, child, beside in (("yes", sketch.yes[node], -1), ("no", sketch.no[node], 1)):
        end, middle, thick = boxes[child], fork + _GAP / 2, sketch.thick(child)
        curve = f"M{fork:.1f} {y:.1f}C{middle:.1f} {y:.1f} {middle:.1f} {end.y:.1f} {end.x:.1f} {end.y:.1f}"
        drawn += [_path(thick, curve, child), _side(side, end.x - 5, end.y + beside * (thick / 2 + 7))]
    return drawn


def _elbows(sketch: Sketch, boxes: Sequence[Box], node: int) -> list[str]:
    """From the foot of a box straight down, and to the right to each child."""
    foot, drawn = boxes[node].x + _STEM, []
    top = boxes[node].y + _BOX / 2
    for side, child in (("yes", sketch.yes[node]), ("no", sketch.no[node])):
        end, thick = boxes[child], min(sketch.thick(child), 5.0)
        drawn.append(_path(thick, f"M{foot:.1f} {top:.1f}V{end.y:.1f}H{end.x:.1f}", child))
        drawn.append(_side(side, end.x - 4, end.y - thick / 2 - 6))
        top = end.y  # the longer line begins where the shorter one ends: two would be darker than one
    return drawn


def _path(thick: float, way: str, to: int | None = None) -> str:
    leads = "" if to is None else f' data-to="{to}"'
    return f'<path stroke-width="{thick:.2f}" d="{way}"{leads}/>'


def _side(side: str, x: float, y: float) -> str:
    return f'<text class="side" text-anchor="end" x="{x:.1f}" y="{y:.1f}">{side}</text>'


def _node(sketch: Sketch, box: Box, node: int) -> str:
    leaf = sketch.no[node] < 0
    where = f'data-node="{node}"' + ("" if leaf else f' data-yes="{sketch.yes[node]}" data-no="{sketch.no[node]}"')
    size = f'width="{box.width:.1f}" height="{_BOX:g}" rx="{_BOX / 2 if leaf else 4:g}"'
    paint = f' style="{_colour(sketch.code[node])}"' if leaf else ""
    parts = [
        f'<g class="{"leaf" if leaf else "test"}" {where}><title>{escape(sketch.text[node])}</title>',
        _halo(box, sketch.halo(node)),
        f'<rect x="{box.x:.1f}" y="{box.y - _BOX / 2:.1f}" {size}{paint}/>',
        f'<text text-anchor="middle" x="{box.x + box.width / 2:.1f}" y="{box.y:.1f}">',
        f"{escape(sketch.written(node))}</text>",
    ]
    if leaf and sketch.share is not None:
        share = escape(percent(sketch.share[node]))
        parts.append(
            f'<text class="share" x="{box.x + box.width + 6 + sketch.halo(node):.1f}" y="{box.y:.1f}">{share}</text>'
        )
    return "".join([*parts, "</g>"])


def _halo(box: Box, wide: float) -> str:
    """Around a leaf, as wide as its share of the error; nothing where it has next to none."""
    if wide < 0.1:
        return ""
    place = f'x="{box.x - wide / 2:.1f}" y="{box.y - _BOX / 2 - wide / 2:.1f}"'
    size = f'width="{box.width + wide:.1f}" height="{_BOX + wide:.1f}" rx="{(_BOX + wide) / 2:.1f}"'
    return f'<rect class="halo" {place} {size} stroke-width="{wide:.2f}"/>'


def _colour(code: int) -> str:
    """A hue for each label; further rounds of hues are paler."""
    hue, again = _HUES[code % len(_HUES)], code // len(_HUES)
    paint = f"hsl({hue} {max(30, 75 - 20 * again)}% 50%)"
    return f"fill:{paint};stroke:{paint}"


def text_width(text: str) -> float:
    """About as wide as text of 13 pixels is in the widest common font without serifs."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    large = sum(character.isupper() or character in "mw%@…<>=+" for character in text)
    small = sum(character in "iljtfr.,:;'|![](){} " for character in text)
    return 8.0 * len(text) + 6.0 * wide + 2.6 * large - 3.2 * small
