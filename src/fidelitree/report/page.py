"""The page: a frame, a style sheet and a script from files of this package, and the sections between them.

Nothing is fetched from anywhere. The policy in the head forbids it, and lets no script run but the page's own, which
is named there by its digest: a name that slipped through unescaped would still be inert.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from string import Template

from fidelitree.display.markup import Html, embedded, join, tag
from fidelitree.report.contents import Contents, Shares
from fidelitree.report.sections.bars import importance, influences, spending
from fidelitree.report.sections.course import course
from fidelitree.report.sections.remaining import answers, remaining
from fidelitree.report.sections.tree_outline import scene, tree_section
from fidelitree.report.sections.verdict import headline, reproduce, verdict


def render(contents: Contents) -> str:
    """The whole page as text; the same contents give the same page."""
    shares, found = Shares.of(contents), influences(contents.tree, contents.space)
    script = _file("report.js")
    return Template(_file("page.html")).substitute(
        title=join(headline(contents)),
        policy=_policy(script),
        style=_file("report.css"),
        script=script,
        data=embedded("scene", scene(contents, shares, found.values)),
        sections=join(
            verdict(contents),
            tree_section(contents, shares),
            answers(contents),
            remaining(contents, shares),
            tag("div", importance(contents, found), spending(contents), class_="pair"),
            course(contents),
            reproduce(contents),
        ),
    )


def _policy(script: str) -> Html:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = (
        "default-src 'none'",
        f"script-src 'sha256-{digest}'",
        "style-src 'unsafe-inline'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return join("; ".join(rules))


@cache
def _file(name: str) -> str:
    return files("fidelitree.report").joinpath(name).read_text(encoding="utf-8")
