"""A report without what its author says about it: the same result gives the same text, whatever it is called.

Title, name of the model, notes and date are plain text in known places of the page (`report.sections.verdict`). With
any markup in them a page is another one, and so it is with any other number, label or sentence anywhere.
"""

from __future__ import annotations

import hashlib
import re

NAMED = "named"
"""The class of the model's name in a headline."""
_TEXT = "[^<>]*"
_MASTHEAD = re.compile(
    rf'<div class="masthead">(?:<p class="title">({_TEXT})</p>)?<dl class="about">'
    rf"(?:<div><dt>Model</dt><dd>{_TEXT}</dd></div>)?(<div><dt>Inputs</dt><dd>{_TEXT}</dd></div>)"
    rf'(?:<div><dt>Written</dt><dd>{_TEXT}</dd></div>)?</dl>(?:<p class="notes">({_TEXT})</p>)?</div>'
)
_TITLE = re.compile(rf"<title>{_TEXT}</title>")
_NAME = re.compile(rf'(<h1 id="verdict-title">{_TEXT})<span class="{NAMED}">{_TEXT}</span>')

_HEADLINE = re.compile(r'<h1 id="verdict-title">(.*?)</h1>', re.DOTALL)


def facts_of(page: bytes) -> str:
    """SHA-256 of a report without its author's words."""
    try:
        text = page.decode()
    except UnicodeDecodeError:
        return hashlib.sha256(page).hexdigest()
    text = _MASTHEAD.sub(r"\2", _TITLE.sub("", text, count=1), count=1)
    return hashlib.sha256(_NAME.sub(r"\1the target", text).encode()).hexdigest()


def headline_of(page: bytes) -> str:
    """The verdict at the top of a report, without the model's name; nothing where there is none."""
    found = _HEADLINE.search(_NAME.sub(r"\1the target", page.decode(errors="replace")))
    return "" if found is None else found.group(1)


def has_words(page: bytes) -> bool:
    """Whether its author gave a report a title or notes, or the model a name."""
    text = page.decode(errors="replace")
    found = _MASTHEAD.search(text)
    return _NAME.search(text) is not None or (found is not None and any(found.group(1, 3)))
