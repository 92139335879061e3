"""A frontier to look at: agreement against leaves, both ends of every interval, the knee; as text, SVG and a figure.

Leaves are drawn on a logarithmic scale. The line is a staircase: with at most so many leaves, so much is certified.
Lines and text of the SVG have the colour of the text around it, so that it is as readable on dark pages as on light.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fidelitree.display.canvas import figure
from fidelitree.display.wording import SMALL, Html, at_least, leaves, percent, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 720.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 24.0, 26.0, 44.0
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)
_LINES = 6  # of the grid, at most
_APART = 17.0  # between two numbers below the axis
_SLACK = 1e-7  # of a step: 0.3 is 30%, whatever its last bit says
_TONE, _GREY = "#2b8cb0", "#808080"


@dataclass(frozen=True)
class Mark:
    """A tree with so many leaves: both ends of its error, and whether it is the knee.

    With ``coverage`` they are those of the share of inputs that it defers. With a ``tolerance`` answers are numbers,
    and an error is one that is further away. The digits of the agreement tell it from the ``goal``.
    """

    leaves: int
    low: float
    high: float
    knee: bool = False
    coverage: bool = False
    tolerance: float | None = None
    goal: float | None = None

    @property
    def verb(self) -> str:
        """What the tree does on the share that is shown.

        >>> Mark(2, 0.0, 0.1).verb, Mark(2, 0.0, 0.1, tolerance=2.5).verb
        ('agrees on', 'is within 2.5 on')
        """
        if self.coverage:
            return "answers"
        return "agrees on" if self.tolerance is None else f"is within {self.tolerance:.6g} on"

    @property
    def what(self) -> str:
        """What the share is."""
        return "coverage" if self.coverage else "agreement"

    @property
    def agreement(self) -> str:
        """What is certified: the number of the sentence about the tree; in a column it keeps its last zero.

        >>> [Mark(2, 0.0, high).agreement for high in (0.0998, 0.0052, 0.0, 1.0)]
        ['90.0%', '99.48%', '100%', 'nothing']
        >>> Mark(2, 0.0, 0.0998, goal=0.1).agreement
        '90.02%'
        """
        if self.high >= 1:
            return "nothing"
        told = at_least(self.high, self.goal)
        return told if "." in told or self.high < SMALL else f"{told[:-1]}.0%"

    @property
    def at_most(self) -> str:
        """How often it agrees at most: rounded up; a dash where nothing is known that says less than always.

        >>> [Mark(2, *ends).at_most for ends in ((0.0998, 0.2), (0.0023, 0.2), (0.0, 0.2), (0.0, 0.0))]
        ['90.1%', '99.77%', '-', '100%']
        """
        places = 2 if self.low < SMALL else 1
        step = 10**places
        most = math.ceil((1 - self.low) * 100 * step - _SLACK) / step
        return f"{most:.{places}f}%" if most < 100 else "-" if self.high and not self.low else "100%"


def table(marks: Sequence[Mark]) -> list[str]:
    r"""A line for each tree, under a head.

    >>> print(*table([Mark(1, 0.3, 0.4), Mark(5, 0.08, 0.1, knee=True)]), sep="\n")
    leaves  agrees on at least  at most
         1               60.0%    70.0%
         5               90.0%    92.0%  <- knee
    """
    head = f"{marks[0].verb} at least".rjust(18)
    lines = [f"leaves  {head}  at most"]
    for mark in marks:
        line = f"{mark.leaves:6,}  {mark.agreement:>{len(head)}}  {mark.at_most:>7}"
        lines.append(f"{line}{'  <- knee' if mark.knee else ''}")
    return lines


@dataclass(frozen=True)
class _Frame:
    """From leaves and agreement to places."""

    most: int
    least: float

    @classmethod
    def around(cls, marks: Sequence[Mark]) -> _Frame:
        low = min(1 - mark.high for mark in marks)
        return cls(max(2, *(mark.leaves for mark in marks)), max(0.0, math.floor(low * 20 - 0.25) / 20))

    def x(self, size: float) -> float:
        """Place on the logarithmic axis."""
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log(size) / math.log(self.most), 1)

    def y(self, agreement: float) -> float:
        """Place on the axis of agreement."""
        return round(_TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - agreement) / (1 - self.least), 1)

    def lines(self) -> list[float]:
        """Agreements worth a line of the grid."""
        step = next((step for step in _STEPS if (1 - self.least) / step <= _LINES), _STEPS[-1])
        return [1 - k * step for k in range(int((1 - self.least) / step + 1e-9) + 1)]


def chart(marks: Sequence[Mark], chosen: int | None = None) -> Html:
    """An SVG element; ``chosen`` is the place of the tree that is looked at."""
    frame = _Frame.around(marks)
    return tag(
        "svg",
        tag("title", f"Certified {marks[0].what} of each tree, by its leaves"),
        tag("desc", summary(marks)),
        *_axes(frame, marks),
        tag("path", d=_staircase(frame, marks), class_="stairs", fill="none", stroke=_TONE, stroke_opacity=0.55),
        *(_point(frame, mark, place, place == chosen) for place, mark in enumerate(marks)),
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        class_="chart curve",
        style="width:100%;height:auto;display:block",
    )


def summary(marks: Sequence[Mark]) -> str:
    """The curve in one sentence, for those who do not see it."""
    said = [f"{leaves(mark.leaves)} {mark.agreement}{' (the knee)' if mark.knee else ''}" for mark in marks]
    return f"Certified {marks[0].what}: {', '.join(said)}."


def _axes(frame: _Frame, marks: Sequence[Mark]) -> list[Html]:
    text = {"fill": "currentColor", "font_size": 12, "font_family": "system-ui,sans-serif"}
    parts = []
    for share in frame.lines():
        y = frame.y(share)
        line = {"x1": _LEFT, "x2": _WIDTH - _RIGHT, "y1": y, "y2": y, "class_": "grid"}
        parts.append(tag("line", **line, stroke="currentColor", stroke_opacity=0.18))
        parts.append(tag("text", percent(share), x=_LEFT - 8, y=y + 4, text_anchor="end", **text))
    last = -_APART
    for mark in marks:
        x = frame.x(mark.leaves)
        if x - last >= _APART:
            parts.append(tag("text", mark.leaves, x=x, y=_HEIGHT - _BOTTOM + 20, text_anchor="middle", **text))
            last = x
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    return [*parts, tag("text", "leaves", x=middle, y=_HEIGHT - 6, text_anchor="middle", **text)]


def _staircase(frame: _Frame, marks: Sequence[Mark]) -> str:
    first, *others = marks
    way = [f"M{frame.x(first.leaves):g} {frame.y(1 - first.high):g}"]
    way += [f"H{frame.x(mark.leaves):g}V{frame.y(1 - mark.high):g}" for mark in others]
    return "".join(way)


def _point(frame: _Frame, mark: Mark, place: int, here: bool) -> Html:
    """A dot at what is certified, and a line up to what the agreement is at most."""
    x, foot, top = frame.x(mark.leaves), frame.y(1 - mark.high), frame.y(1 - mark.low)
    ends = [
        ("line", {"x1": x, "x2": x, "y1": foot, "y2": top}),
        ("line", {"x1": x - 4, "x2": x + 4, "y1": top, "y2": top}),
    ]
    lines = [tag(name, **where, stroke=_TONE, stroke_width=1.5, class_="reach") for name, where in ends if foot != top]
    word = None
    if mark.knee:
        look = {"font_size": 12, "font_weight": 600, "font_family": "system-ui,sans-serif", "fill": "currentColor"}
        word = tag("text", "knee", x=x, y=top - 9, text_anchor="middle", class_="strong", **look)
    hit = tag("rect", x=x - 12, y=_TOP, width=24, height=_HEIGHT - _TOP - _BOTTOM, fill="none", pointer_events="all")
    dot = tag("circle", cx=x, cy=foot, r=4.5, fill=_TONE, class_="dot")
    most = "" if mark.at_most == "-" else f", at most {mark.at_most}"
    title = tag("title", f"{leaves(mark.leaves)}: {mark.verb} at least {mark.agreement}{most}")
    return tag("g", title, *lines, dot, word, hit, class_="point here" if here else "point", data_point=place)


def figure_of(marks: Sequence[Mark], title: str) -> Figure:
    """The same with matplotlib, on transparent paper, in tones that show on white and on black."""
    picture, places = figure(1, 1, 3.4)
    picture.patch.set_alpha(0)
    place, sizes = places[0, 0], [mark.leaves for mark in marks]
    place.patch.set_alpha(0)
    sure = [1 - mark.high for mark in marks]
    place.step(sizes, sure, where="post", color=_TONE, alpha=0.55)
    up = [[0.0] * len(marks), [mark.high - mark.low for mark in marks]]
    place.errorbar(sizes, sure, yerr=up, fmt="o", color=_TONE, elinewidth=1.5, capsize=3.5)
    for mark in marks:
        if mark.knee:
            where = (mark.leaves, 1 - mark.low)
            place.annotate("knee", where, (0, 7), textcoords="offset points", ha="center", color=_GREY, weight="bold")
    place.set_xscale("log")
    place.set_xticks(sizes, [f"{size}" for size in sizes], minor=False)
    place.minorticks_off()
    place.set_ylim(top=1.01)
    place.yaxis.set_major_formatter(lambda share, _: percent(min(1.0, share)))
    place.set_xlabel("leaves", color=_GREY)
    place.set_ylabel(f"certified {marks[0].what}", color=_GREY)
    place.set_title(title, fontsize=10, color=_GREY)
    place.tick_params(colors=_GREY, which="both")
    place.grid(axis="y", alpha=0.25, color=_GREY)
    place.spines[["top", "right"]].set_visible(False)
    place.spines[["left", "bottom"]].set_color(_GREY)
    return picture
