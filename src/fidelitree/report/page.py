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

from fidelitree.display.markup import Html, embedded, join, tag
from fidelitree.report.contents import Contents, Shares
from fidelitree.report.sections.bars import importance, influences, spending
from fidelitree.report.sections.course import course
from fidelitree.report.sections.remaining import answers, deferred, remaining
from fidelitree.report.sections.size_picker import size_picker
from fidelitree.report.sections.tree_outline import controls, scene, tree_section
from fidelitree.report.sections.verdict import head, headline, promise, reproduce, verdict

PARTS = ("head", "promise", "body")
"""What changes with the tree: all but the curve."""


def render(contents: Contents) -> str:
    """The whole page as text; the same contents give the same page."""
    curve = contents.curve
    points, chosen = ((contents,), 0) if curve is None else (curve.points, curve.chosen)
    drawn = [_Point.of(contents if place == chosen else point) for place, point in enumerate(points)]
    script = "".join(map(_file, ("tree.js", "report.js")))
    parts = {name: drawn[chosen].part(name) for name in PARTS}
    scenes = {"features": controls(contents), "chosen": chosen, "points": [point.scene for point in drawn]}
    return Template(_file("page.html")).substitute(
        title=join(headline(contents)),
        policy=_policy(script),
        style=_file("report.css"),
        script=script,
        sizes="" if curve is None else tag("a", "Sizes", href="#curve"),
        data=join(embedded("scene", scenes), *(point.template() for point in drawn if point is not drawn[chosen])),
        sections=join(
            verdict(parts["head"], None if curve is None else size_picker(curve), parts["promise"]),
            parts["body"],
        ),
    )


@dataclass(frozen=True)
class _Point:
    """Everything on the page that is about one tree: its parts as HTML, and what the script needs to draw it."""

    parts: Mapping[str, Html]
    scene: Mapping[str, Any]

    @classmethod
    def of(cls, contents: Contents) -> _Point:
        shares, found = Shares.of(contents), influences(contents.tree, contents.space)
        body = join(
            tree_section(contents, shares),
            deferred(contents, shares),
            answers(contents),
            remaining(contents, shares),
            tag("div", importance(contents, found), spending(contents), class_="pair"),
            course(contents),
            reproduce(contents),
        )
        parts = head(contents), promise(contents), body
        return cls(dict(zip(PARTS, parts, strict=True)), scene(contents, shares, found.values))

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
