"""The page: a frame, a style sheet and a script from files of this package, and the sections between them.

Nothing is fetched from anywhere. The policy in the head forbids it, and lets no script run but the page's own, which
is named there by its digest: a name that slipped through unescaped would still be inert.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from fidelitree.display.wording import Html, embedded, join, style, tag
from fidelitree.report.contents import About, Contents, Shares
from fidelitree.report.sections.assumed import assumed
from fidelitree.report.sections.bars import importance, influences, spending
from fidelitree.report.sections.checking import checking, files_of
from fidelitree.report.sections.course import course
from fidelitree.report.sections.differing import differing
from fidelitree.report.sections.remaining import answers, deferred, remaining
from fidelitree.report.sections.size_picker import size_picker
from fidelitree.report.sections.tree_outline import controls, scene
from fidelitree.report.sections.tree_views import tree_section
from fidelitree.report.sections.verdict import head, headline, masthead, promise, verdict

PARTS = ("head", "promise", "body", "record")
"""What changes with the tree: all but the names, the curve and the assumed inputs."""
_NOBODY = About()


def render(contents: Contents, about: About = _NOBODY) -> str:
    """The whole page as text; the same contents give the same page."""
    curve = contents.curve
    points, chosen = ((contents,), 0) if curve is None else (curve.points, curve.chosen)
    drawn = [_Point.of(contents if place == chosen else point, about) for place, point in enumerate(points)]
    script = "".join(map(_file, ("words.js", "tree.js", "report.js")))
    parts = {name: drawn[chosen].part(name) for name in PARTS}
    scenes = {"features": controls(contents), "chosen": chosen, "points": [point.scene for point in drawn]}
    return Template(_file("page.html")).substitute(
        title=join(about.title or headline(contents, about)),
        policy=_policy(script),
        style=join(Html(style("palette.css")), Html(_file("report.css"))),
        script=script,
        sizes="" if curve is None else tag("a", "Sizes", href="#curve"),
        data=join(embedded("scene", scenes), *(point.template() for point in drawn if point is not drawn[chosen])),
        sections=join(
            verdict(
                masthead(contents, about),
                parts["head"],
                None if curve is None else size_picker(curve),
                parts["promise"],
            ),
            parts["body"],
            assumed(contents.world),
            parts["record"],
        ),
    )


@dataclass(frozen=True)
class _Point:
    """Everything on the page that is about one tree: its parts as HTML, and what the script needs to draw it."""

    parts: Mapping[str, Html]
    scene: Mapping[str, Any]

    @classmethod
    def of(cls, contents: Contents, about: About) -> _Point:
        shares, found = Shares.of(contents), influences(contents.tree, contents.space)
        body = join(
            tree_section(contents, shares),
            deferred(contents, shares),
            answers(contents),
            remaining(contents, shares),
            differing(contents),
            tag("div", importance(contents, found), spending(contents), class_="pair"),
            course(contents),
        )
        files = files_of(contents, shares)
        parts = head(contents, about), promise(contents), body, checking(contents, files)
        drawing = {**scene(contents, shares, found.values), "files": files}
        return cls(dict(zip(PARTS, parts, strict=True)), drawing)

    def part(self, name: str) -> Html:
        """A part in its place."""
        return tag("div", self.parts[name], data_part=name)

    def template(self) -> Html:
        """All parts where no browser shows them, and no id counts; the script puts them in their places."""
        return tag("template", *map(self.part, PARTS), class_="tree-parts")


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
