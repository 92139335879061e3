"""The prose of a page, sentence by sentence: no code, tables, headings, comments or generated parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_WORDS = 22
BANNED = ("dear", "vouch", "vouches", "vouched", "alike", "of the moment")
_DROPPED = (
    re.compile(r"<!-- Everything below is written by .*", re.DOTALL),  # of commands, whose words are elsewhere
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^(`{3,}|~{3,}).*?^\1", re.DOTALL | re.MULTILINE),
    re.compile(r"^(?:\||    |\s*#|:::|!\[|\s*<).*$", re.MULTILINE),  # tables, code, headings, pictures, markup
)
_FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+(?=[\"'(*_`A-Z0-9])|:\s*$")
_WORD = re.compile(r"[^\W_]+(?:[-'./][^\W_]+)*")


def sentences(page: str) -> Iterator[str]:
    """Sentences as they are written; code and formulas in a line count as one word."""
    for part in _DROPPED:
        page = part.sub("", page)
    page = _CODE.sub("Code", _FORMULA.sub("Formula", _LINK.sub(r"\1", page)))
    for block in _BLOCK.split(page):
        text = re.sub(r"^\s*(?:[-*]|\d+\.)\s+", "", " ".join(block.split()))
        yield from (one.strip() for one in _END.split(text) if one.strip())


def words(sentence: str) -> int:
    """How many there are, numbers among them."""
    return len(_WORD.findall(sentence))
