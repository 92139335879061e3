"""Names, values and numbers as people read them.

Names are plain where that is clear, and quoted where they would mislead. Of numbers three digits are enough, and no
bound is rounded in the tree's favour.
"""

from __future__ import annotations

import math
import re
from typing import Any

_MISLEADS = re.compile(r"[{},'\"\\]|: | (?:<=|<|>|=|!=|in|not in|and|then) ")
_SLACK = 1e-9  # of a step: 0.3 is 30%, whatever its last bit says


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


def leaves(count: int) -> str:
    """A number of leaves in words.

    >>> leaves(1), leaves(2_000)
    ('1 leaf', '2,000 leaves')
    """
    return "1 leaf" if count == 1 else f"{count:,} leaves"


def percent(share: float) -> str:
    """About three digits.

    >>> [percent(share) for share in (0, 1, 0.5, 0.12345, 0.00712, 3e-7)]
    ['0%', '100%', '50%', '12.3%', '0.712%', '< 0.001%']
    """
    if 0 < share < 1e-5:
        return "< 0.001%"
    if 0.9995 <= share < 1:
        return "> 99.9%"
    return f"{_plain(100 * share, 3)}%"


def at_most(share: float, digits: int = 3) -> str:
    """Rounded up.

    >>> [at_most(share) for share in (0, 0.09891, 0.3, 1)]
    ['0%', '9.9%', '30%', '100%']
    """
    return f"{_plain(_up(100 * share, digits), 15)}%"


def at_least(share_of_others: float, digits: int = 3) -> str:
    """What is left when at most so much is taken away: rounded down.

    >>> [at_least(share) for share in (0, 0.09891, 0.0000123, 1)]
    ['100%', '90.1%', '99.99877%', '0%']
    """
    taken = _up(100 * share_of_others, digits)
    return f"{_plain(100 - taken, 15)}%"


def span(low: float, high: float) -> str:
    """Two ends, rounded away from each other; one number where they are the same.

    >>> span(0.36119, 0.3902), span(0, 0.00123), span(0.25, 0.25)
    ('36.1% to 39.1%', '0% to 0.123%', '25%')
    """
    if low == high:
        return percent(low)
    return f"{_plain(_down(100 * low, 3), 15)}% to {at_most(high)}"


def whole(count: int) -> str:
    """Thousands apart."""
    return f"{count:,}"


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> counted(1, "leaf", "leaves"), counted(2_000, "leaf", "leaves")
    ('1 leaf', '2,000 leaves')
    """
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def figure(value: float) -> str:
    """A plain number with three digits."""
    return "0" if abs(value) < 1e-9 else _plain(value, 3)


def _up(value: float, digits: int) -> float:
    if value <= 0:
        return 0.0
    places = max(0, digits - 1 - math.floor(math.log10(value)))
    if places > 13:  # more than are shown
        return 1e-13
    step = 10.0**places
    return min(100.0, math.ceil(value * step - _SLACK) / step)


def _down(value: float, digits: int) -> float:
    """Rounded down; what is too small to be seen is 0."""
    if value < 1e-2:
        return 0.0
    step = 10.0 ** max(0, digits - 1 - math.floor(math.log10(value)))
    return math.floor(value * step + _SLACK) / step


def _plain(value: float, digits: int) -> str:
    """Without an exponent and without trailing zeros."""
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{min(places, 13)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
