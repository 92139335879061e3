"""Errors on the way, as an inline SVG: no script, colours from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fidelitree.display.markup import Html, join, tag
from fidelitree.display.wording import at_most, percent, whole
from fidelitree.report.contents import Step

_WIDTH, _HEIGHT = 720.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 16.0, 16.0, 44.0
_MOST = 300  # points of a line: more could not be told apart
_TICKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Frame:
    """From data to places: x is linear, y is the square root of a share, so that small errors have room."""

    x_most: float
    y_most: float

    def x(self, value: float) -> float:
        """Place on the horizontal axis."""
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * value / self.x_most, 1)

    def y(self, share: float) -> float:
        """Place on the vertical axis."""
        height = _HEIGHT - _TOP - _BOTTOM
        return round(_HEIGHT - _BOTTOM - height * math.sqrt(min(share, self.y_most) / self.y_most), 1)


def error_chart(steps: Sequence[Step], epsilon: float | None, by_leaves: bool, summary: str) -> Html:
    """Trees against labels asked, or against leaves: a dot for the error of each, a line up to its certified bound.

    Dots are joined where each tree is the one before with one more split; elsewhere they are strangers to each other.
    """
    across: Callable[[Step], int] = (lambda step: step.size) if by_leaves else (lambda step: step.asked)
    steps = thinned(steps)
    errors = [(across(step), step.error) for step in steps if step.error is not None]
    bounds = [(across(step), step.error, bound) for step in steps if (bound := certified(step)) is not None]
    shares = [share for _, share in errors] + [bound for *_, bound in bounds]
    top = max([*shares, 2 * (epsilon or 0)], default=1.0)
    frame = Frame(max(across(step) for step in steps), next(tick for tick in (*_TICKS[1:], 1.0) if tick >= min(top, 1)))
    return tag(
        "svg",
        tag("title", "Error and certified bound of each tree", id="chart-title"),
        tag("desc", summary, id="chart-desc"),
        _axes(frame, "leaves" if by_leaves else "labels asked"),
        _asked_for(frame, epsilon),
        _line(frame, errors, "line error") if by_leaves else None,
        *(_reach(frame, *bound) for bound in bounds),
        _dots(frame, errors),
        _end(frame, steps[-1], across(steps[-1])),
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        aria_labelledby="chart-title chart-desc",
        class_="chart",
    )


def certified(step: Step) -> float | None:
    """What is certified for the tree of a step; None where that is nothing."""
    return step.error_bound if step.error_bound is not None and step.error_bound < 1 else None


def thinned(steps: Sequence[Step], most: int = _MOST) -> list[Step]:
    """Evenly spaced steps, the first and the last among them."""
    if len(steps) <= most:
        return list(steps)
    places = {round(k * (len(steps) - 1) / (most - 1)) for k in range(most)}
    return [steps[place] for place in sorted(places)]


def _axes(frame: Frame, name: str) -> Html:
    parts = []
    for tick in _TICKS:
        if tick <= frame.y_most:
            y = frame.y(tick)
            parts.append(tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="grid"))
            parts.append(tag("text", percent(tick), x=_LEFT - 8, y=y + 4, text_anchor="end"))
    base = _HEIGHT - _BOTTOM + 18
    ticks = _round_ticks(frame.x_most)
    parts += [tag("text", whole(tick), x=frame.x(tick), y=base, text_anchor="middle") for tick in ticks]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(tag("text", name, x=middle, y=_HEIGHT - 6, text_anchor="middle", class_="axis"))
    return join(*parts)


def _round_ticks(most: float) -> list[int]:
    rough = max(1.0, most / 5)
    power = 10 ** math.floor(math.log10(rough))
    step = max(1, int(next(k * power for k in (1, 2, 5, 10) if k * power >= rough)))
    return list(range(0, int(most) + 1, step))


def _asked_for(frame: Frame, epsilon: float | None) -> Html | None:
    if not epsilon or epsilon > frame.y_most:
        return None
    y = frame.y(epsilon)
    line = tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y, class_="asked")
    return join(line, tag("text", f"{percent(epsilon)} asked for", x=_LEFT + 6, y=y - 6))


def _line(frame: Frame, points: Sequence[tuple[int, float]], name: str) -> Html | None:
    if len(points) < 2:
        return None
    return tag("polyline", points=" ".join(f"{frame.x(x):g},{frame.y(y):g}" for x, y in points), class_=name)


def _dots(frame: Frame, points: Sequence[tuple[int, float]]) -> Html:
    large = len(points) <= 60
    return join(
        *(tag("circle", cx=frame.x(x), cy=frame.y(y), r=2.5 if large else 1.2, class_="dot") for x, y in points)
    )


def _reach(frame: Frame, x: int, error: float | None, bound: float) -> Html:
    """From the error of a tree up to the error certified for it."""
    place, y = frame.x(x), frame.y(bound)
    line = tag("line", x1=place, x2=place, y1=frame.y(bound if error is None else error), y2=y, class_="line bound")
    return join(line, tag("line", x1=place - 3, x2=place + 3, y1=y, y2=y, class_="line bound"))


def _end(frame: Frame, step: Step, x: int) -> Html | None:
    """The tree that is returned."""
    bound = certified(step)
    if bound is None:
        return None
    end = tag("circle", cx=frame.x(x), cy=frame.y(bound), r=4, class_="end")
    text = tag("text", at_most(bound), x=frame.x(x), y=frame.y(bound) - 10, text_anchor="end", class_="strong")
    return join(end, text)
