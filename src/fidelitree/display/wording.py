"""Names, values and numbers as people read them, and HTML made of them.

Names are plain where that is clear, and quoted where they would mislead. One rule for shares, on every surface: per
cent with one digit after the point; with two below 1 %, above 99 %, or where one does not tell a bound from the goal;
never more. No bound is rounded in the tree's favour. Whatever is not marked as HTML is escaped.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

_MISLEADS = re.compile(r"[{},'\"\\]|: | (?:<=|<|>|=|!=|in|not in|and|then) ")
_FINEST = 16  # places after the point, beyond which 1 - epsilon is 1
_SLACK = 1e-9  # of a step: 0.3 is 30%, whatever its last bit says
SMALL = 0.01  # a share below it has two digits after the point in per cent


def shown(value: Any) -> str:
    r"""A name, category or label for a line of text.

    Text is quoted where it holds line breaks, invisible characters, blanks at an end, or what a condition is made of.

    >>> print(shown("marital status"), shown("a, b"), shown("two\nlines"), shown(3), shown(None))
    marital status 'a, b' 'two\nlines' 3 None
    """
    text = str(value)
    clear = text != "" and text == text.strip() and text.isprintable()
    if isinstance(value, str):
        clear = clear and not _MISLEADS.search(text)
    return text if clear else repr(value if isinstance(value, str) else text)


def category(value: Any) -> str:
    """A category for a line of text; one that is called like a missing one is quoted.

    >>> print(category("north"), category(None), category("missing"))
    north missing 'missing'
    """
    return "missing" if value is None else repr(value) if value == "missing" else shown(value)


def leaves(count: int) -> str:
    """A number of leaves in words.

    >>> leaves(1), leaves(2_000)
    ('1 leaf', '2,000 leaves')
    """
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def percent(share: float) -> str:
    """A share as it was counted: one digit after the point, two below 1 %.

    >>> [percent(share) for share in (0, 1, 0.5, 0.12345, 0.00712, 3e-7)]
    ['0%', '100%', '50%', '12.3%', '0.71%', '< 0.01%']
    """
    if 0 < share < 5e-5:
        return "< 0.01%"
    if 0.9995 <= share < 1:
        return "> 99.9%"
    return f"{_plain(100 * share, _places(share))}%"


def at_most(share: float, goal: float | None = None) -> str:
    """Rounded up: one digit after the point, two below 1 % or where one does not tell it from the goal.

    >>> [at_most(share) for share in (0, 0.09891, 0.3, 0.000123, 1)], at_most(0.0498, goal=0.05)
    (['0%', '9.9%', '30%', '0.02%', '100%'], '4.98%')
    """
    return f"{_plain(_up(share, goal), 2)}%"


def at_least(share_of_others: float, goal: float | None = None) -> str:
    """What is left when at most so much is taken away: rounded down, with as many digits as `at_most`.

    >>> [at_least(share) for share in (0, 0.09891, 0.0000123, 1)], at_least(0.0498, goal=0.05)
    (['100%', '90.1%', '99.99%', '0%'], '95.02%')
    """
    return f"{_plain(100 - _up(share_of_others, goal), 2)}%"


def goal_of(epsilon: float) -> str:
    """The agreement that was asked for, as it was asked for.

    >>> goal_of(0.05), goal_of(0.01565243), goal_of(0.00001)
    ('95%', '98.43%', '99.999%')
    """
    places = 2 if epsilon == 0 else min(_FINEST, max(2, -math.floor(math.log10(100 * epsilon))))
    step = 10.0**places
    return f"{_plain(math.floor(100 * (1 - epsilon) * step + _SLACK) / step, places)}%"


def span(low: float, high: float) -> str:
    """Two ends, rounded away from each other; one number where they are the same.

    >>> span(0.36119, 0.3902), span(0, 0.00123), span(0.9951, 0.9999), span(0.25, 0.25)
    ('36.1% to 39.1%', '0% to 0.13%', '99.51% to 99.99%', '25%')
    """
    if low == high:
        return percent(low)
    places = 2 if high < SMALL or low > 1 - SMALL else 1
    step = 10.0**places
    least = math.floor(100 * low * step + _SLACK) / step
    most = min(100.0, math.ceil(100 * high * step - _SLACK) / step)
    return f"{_plain(least, places)}% to {_plain(most, places)}%"


def whole(count: int) -> str:
    """Thousands apart."""
    return f"{count:,}"


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "leaf", "leaves"), counted(2_000, "leaf", "leaves")
    ('1 leaf', '2,000 leaves')
    """
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of text in which the cells of a column begin below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def figure(value: float) -> str:
    """A plain number with three digits."""
    if abs(value) < 1e-9:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return _plain(value, min(places, 13))


def _places(share: float) -> int:
    """Digits after the point of a share in per cent."""
    return 2 if share < SMALL else 1


def _up(share: float, goal: float | None) -> float:
    """In per cent, rounded up."""
    places = _places(share)
    if goal is not None and _rounded_up(share, places) == _rounded_up(goal, places):
        places = 2
    return _rounded_up(share, places)


def _rounded_up(share: float, places: int) -> float:
    """In per cent; what is not nothing is never shown as nothing."""
    step = 10.0**places
    least = 1 if share > 0 else 0
    return min(100.0, max(least, math.ceil(100 * share * step - _SLACK)) / step)


def _plain(value: float, places: int) -> str:
    """Without an exponent and without trailing zeros."""
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


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
    """Rows, or their cells, under a head; a caption is there for who does not see the table. A name may be empty."""
    told = None if caption is None else tag("caption", caption, class_="hidden")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") if name else tag("td") for name in names)))
    body = (one if isinstance(one, Html) else row(*one) for one in rows)
    return tag("table", told, head, tag("tbody", *body), **attributes)


def plain_page(title: str, *parts: object, places: Mapping[str, str] | None = None, here: str = "") -> str:
    """A whole page without scripts; ``places`` are the pages beside it, by their addresses, for its head."""
    meta = Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
    head = tag("head", meta, tag("title", title), Html(f"<style>{style('palette.css')}{style('plain.css')}</style>"))
    links = ((href, words, "page" if href == here else None) for href, words in (places or {}).items())
    others = (tag("a", words, href=href, aria_current=current) for href, words, current in links)
    top = None if places is None else tag("header", tag("span", "fidelitree", class_="brand"), *others)
    body = tag("body", top, tag("main", tag("h1", title), *parts))
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


@cache
def style(name: str) -> str:
    """A file of styles that lies beside this one."""
    return files("fidelitree.display").joinpath(name).read_text(encoding="utf-8")


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
