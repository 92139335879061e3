"""Names and values as people read them: plain where that is clear, quoted where it would mislead."""

from __future__ import annotations

import re
from typing import Any

_MISLEADS = re.compile(r"[{},'\"\\]|: | (?:<=|<|>|=|!=|in|not in|and|then) ")


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
