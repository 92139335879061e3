"""What a notebook shows for a result: a small card that looks right on light and on dark pages."""

from __future__ import annotations

from collections.abc import Sequence

from fidelitree.display.markup import Html, tag
from fidelitree.display.standing import Standing

_FRAME = (
    "border:1px solid rgba(127,127,127,.45);border-radius:8px;padding:.8em 1.1em;max-width:52em;"
    "font-family:system-ui,sans-serif;line-height:1.5"
)
_STATUS = "font-weight:600;border:1px solid;border-radius:99px;padding:.1em .7em;font-size:.85em"
_FACTS = "margin:.5em 0 0;display:flex;flex-wrap:wrap;gap:.2em 1.6em;font-size:.92em"


def card(standing: Standing, sentence: str, facts: Sequence[tuple[str, str]], more: Html | None = None) -> str:
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
