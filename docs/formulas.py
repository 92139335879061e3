"""A hook of mkdocs: formulas between dollar signs become MathML when the site is built, so that a page loads nothing.

The extension arithmatex marks them. Formulas are those of TeX, which GitHub shows as well.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

MARKED = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', flags=re.DOTALL)
UPRIGHT = re.compile(r"\\(ln|exp|log)\s*(?=\\frac|\\text\{|\\varepsilon|[a-zA-Z0-9])")  # TeX leaves a gap behind these


def on_page_content(html_text: str, **_: Any) -> str:
    """Called by mkdocs for every page: the page with its formulas as MathML."""
    return MARKED.sub(
        lambda found: convert(_spaced(found[3]), display="block" if found[2] == "[" else "inline"),
        html_text,
    )


def _spaced(formula: str) -> str:
    return UPRIGHT.sub(r"\\\1\\,", html.unescape(formula).strip())
