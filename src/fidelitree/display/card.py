"""What a notebook shows for a result: how it stands, on a small card that looks right on light and on dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fidelitree.display.wording import Html, at_least, tag

_OPENED, _SHOWN = 40, 400  # lines that a notebook shows at once, and that it shows at all
_FRAME = (
    "border:1px solid rgba(127,127,127,.45);border-radius:8px;padding:.8em 1.1em;max-width:52em;"
    "font-family:system-ui,sans-serif;line-height:1.5"
)
_STATUS = "font-weight:600;border:1px solid;border-radius:99px;padding:.1em .7em;font-size:.85em"
_FACTS = "margin:.5em 0 0;display:flex;flex-wrap:wrap;gap:.2em 1.6em;font-size:.92em"


@dataclass(frozen=True)
class Status:
    """``state`` is ``met``, ``missed`` or ``nothing``; ``words`` say it."""

    state: str
    words: str

    @property
    def badge(self) -> str:
        """The words with a sign before them, beginning with a capital."""
        sign = {"met": "✓", "missed": "✗", "nothing": "✗"}[self.state]
        return f"{sign} {self.words[0].upper()}{self.words[1:]}"


def standing(epsilon: float | None, error_bound: float, exact: bool) -> Status:
    """Where no error was named, any certified one meets the goal.

    >>> [standing(0.1, bound, False).words for bound in (0.08, 0.108, 1.0)]
    ['certified, goal met', 'certified at 89.2% agreement, goal missed', 'nothing certified']
    >>> standing(None, 0.108, False).words
    'certified at 89.2% agreement'
    """
    if error_bound >= 1 and (epsilon is None or not exact):
        return Status("nothing", "nothing certified")
    certified = f"certified at {at_least(error_bound, epsilon)} agreement"
    if epsilon is None:
        return Status("met", certified)
    if error_bound > epsilon:
        return Status("missed", f"{certified}, goal missed")
    return Status("met", "certified, goal met")


def card(standing: Status, sentence: str, facts: Sequence[tuple[str, str]], more: Html | None = None) -> str:
    """How it stands, the certificate's sentence, some figures, and what comes below."""
    shown = [tag("span", name, " ", tag("strong", value)) for name, value in facts]
    return tag(
        "div",
        tag("span", standing.badge, style=_STATUS),
        tag("p", sentence, style="margin:.6em 0 0"),
        tag("div", *shown, style=_FACTS),
        more,
        style=_FRAME,
    )


def folded(summary: str, text: str, opened: bool) -> Html:
    """Plain text below a card, to be opened."""
    body = tag("pre", text, style="margin:.5em 0 0;overflow:auto;max-height:30em;background:none")
    return tag("details", tag("summary", summary, style="cursor:pointer"), body, open=opened, style="margin-top:.6em")


def unfolded(summary: str, lines: Sequence[str]) -> Html:
    """The same, open from the start where it is short; of very many lines the first."""
    shown = [*lines[:_SHOWN], *(["..."] if len(lines) > _SHOWN else [])]
    return folded(summary, "\n".join(shown), opened=len(lines) <= _OPENED)
