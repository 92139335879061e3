"""HTML from Python values; whatever is not marked as HTML is escaped."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VOID = frozenset({"input"})
"""Elements that have no end; of all there are, those that we use."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Html:
    """An element. A trailing ``_`` of an attribute is dropped, other ``_`` become ``-``; None leaves it out.

    >>> tag("a", "<b>", href="#x", class_="y")
    '<a href="#x" class="y">&lt;b&gt;</a>'
    """
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    return Html(f"<{name}{shown}>" if name in _VOID else f"<{name}{shown}>{join(*children)}</{name}>")


def join(*children: object) -> Html:
    """One after the other; nothing for None."""
    return Html("".join(_escaped(child) for child in children if child is not None))


def section(name: str, title: str, *parts: object) -> Html:
    """A part of a page under the heading that it is known by."""
    head = tag("h2", title, id=f"{name}-title")
    return tag("section", head, *parts, id=name, aria_labelledby=f"{name}-title")


def row(*cells: object, head: object = None) -> Html:
    """A row of a table; with a head, which names what it is about."""
    first = None if head is None else tag("th", head, scope="row")
    return tag("tr", first, *(tag("td", cell) for cell in cells))


def table(
    names: Sequence[str], rows: Iterable[Html | Sequence[object]], caption: str | None = None, **attributes: object
) -> Html:
    """Rows, or their cells, under a head; a caption is there for who does not see the table."""
    told = None if caption is None else tag("caption", caption, class_="hidden")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    body = (one if isinstance(one, Html) else row(*one) for one in rows)
    return tag("table", told, head, tag("tbody", *body), **attributes)


def plain_page(title: str, *parts: object) -> str:
    """A whole page without scripts."""
    style = "body{font-family:system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;line-height:1.5}"
    style += "pre{overflow:auto}td,th{text-align:left;padding:.15em 1em .15em 0}:root{color-scheme:light dark}"
    style += "table{display:block;overflow-x:auto}"
    meta = Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
    head = tag("head", meta, tag("title", title), Html(f"<style>{style}</style>"))
    return f"<!doctype html>\n{tag('html', head, tag('body', tag('h1', title), *parts), lang='en')}\n"


def embedded(identifier: str, data: Any) -> Html:
    """Data for a script to read, in a block that no browser runs and no name can break out of."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{identifier}">{text}</script>')


def _escaped(child: object) -> str:
    return child if isinstance(child, Html) else html.escape(str(child))


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
