"""How the run went: trees on the way, each with its own error and its own certified bound; with a chart.

The chart is an inline SVG: no script, colours from the page's style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fidelitree.display.wording import Html, at_most, counted, join, percent, section, table, tag, whole
from fidelitree.report.contents import Contents, TracePoint

_WIDTH, _HEIGHT = 720.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 16.0, 16.0, 44.0
_MOST = 300  # points of a line: more could not be told apart
_TICKS = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
_ROWS = 24


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


def error_chart(steps: Sequence[TracePoint], epsilon: float | None, by_leaves: bool, summary: str) -> Html:
    """Trees against labels asked, or against leaves: a dot for the error of each, a line up to its certified bound.

    Dots are joined where each tree is the one before with one more split; elsewhere they are strangers to each other.
    """
    across: Callable[[TracePoint], int] = (lambda step: step.size) if by_leaves else (lambda step: step.asked)
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
        _axis_end(frame, steps[-1], across(steps[-1]), epsilon),
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        aria_labelledby="chart-title chart-desc",
        class_="chart",
    )


def certified(step: TracePoint) -> float | None:
    """What is certified for the tree of a step; None where that is nothing."""
    return step.error_bound if step.error_bound is not None and step.error_bound < 1 else None


def thinned(steps: Sequence[TracePoint], most: int = _MOST) -> list[TracePoint]:
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


def _axis_end(frame: Frame, step: TracePoint, x: int, epsilon: float | None) -> Html | None:
    """The tree that is returned."""
    bound = certified(step)
    if bound is None:
        return None
    end = tag("circle", cx=frame.x(x), cy=frame.y(bound), r=4, class_="end")
    text = tag("text", at_most(bound, epsilon), x=frame.x(x), y=frame.y(bound) - 10, text_anchor="end", class_="strong")
    return join(end, text)


def course(contents: Contents) -> Html:
    """A chart with its alternative: one sentence, and a table."""
    steps = (*contents.steps, _end(contents))
    enough = len(steps) > 2
    return section(
        "course",
        "How it got there",
        tag("p", _reason(contents), class_="note"),
        _figure(contents, steps) if enough else None,
        _table(steps, contents.certificate.epsilon) if enough else tag("p", _summary(contents)),
    )


def _end(contents: Contents) -> TracePoint:
    """The tree that is returned: what the certificate says, and its own error in the tests, at what the run cost."""
    certificate, labels, tree = contents.certificate, contents.leaf_labels, contents.tree
    error = None if labels is None else float(labels.wrong(tree).sum())
    exact = certificate.method == "exact"
    bound = certificate.error_bound
    return TracePoint(int(contents.queries.asked), tree.size, bound if exact else error, bound)


def _reason(contents: Contents) -> str:
    reason = contents.reason
    if reason == "certified":
        return "The run ended because the error asked for was certified."
    return f"The run ended because of this: {reason}." if reason else ""


def _summary(contents: Contents) -> str:
    certificate = contents.certificate
    size, asked = counted(contents.tree.size, "leaf", "leaves"), counted(int(contents.queries.asked), "label")
    if certificate.standing.state == "nothing":
        return f"After {asked} the tree had {size}, and nothing was certified."
    return f"After {asked} the tree had {size} and an error certified to be at most {certificate.error_at_most}."


def _figure(contents: Contents, steps: tuple[TracePoint, ...]) -> Html:
    chart = error_chart(steps, contents.certificate.epsilon, contents.by_leaves, _summary(contents))
    kind = "after each split" if contents.by_leaves else "of each tree on the way, estimated"
    keys = (("error", f"Error {kind}"), ("bound", "Error certified for the same tree"))
    legend = [tag("span", tag("span", class_=f"key {name}", aria_hidden="true"), text) for name, text in keys]
    caption = tag("figcaption", join(*legend), tag("span", "Vertical scale: square root."), class_="legend")
    return tag("figure", tag("div", chart, class_="scroll"), caption)


def _table(steps: tuple[TracePoint, ...], epsilon: float | None) -> Html:
    names = "Labels asked", "Leaves", "Its error", "Certified for it"
    rows = [(whole(step.asked), whole(step.size), *_shares(step, epsilon)) for step in thinned(steps, _ROWS)]
    some = "" if len(steps) <= _ROWS else f" ({_ROWS} of {whole(len(steps))} steps)"
    shown = tag("div", table(names, rows, class_="numbers"), class_="scroll", tabindex=0)
    return tag("details", tag("summary", f"The same in numbers{some}"), shown)


def _shares(step: TracePoint, epsilon: float | None) -> tuple[str, str]:
    bound = certified(step)
    return "–" if step.error is None else percent(step.error), "–" if bound is None else at_most(bound, epsilon)
