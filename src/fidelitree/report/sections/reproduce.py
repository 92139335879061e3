"""How to have the same again, and how to check it."""

from __future__ import annotations

from fidelitree.display.markup import Html, tag
from fidelitree.display.wording import counted
from fidelitree.report.contents import Contents


def reproduce(contents: Contents) -> Html:
    """The call, the seed, the versions, the digests."""
    certificate = contents.certificate
    facts = [
        ("Seed", _seed(contents)),
        *((f"Version of {name}", version) for name, version in certificate.versions.items()),
        ("Method", _method(contents)),
        ("Inputs", _inputs(contents)),
        ("Digest of the tree", tag("code", certificate.tree_digest)),
        ("Digest of the inputs", tag("code", certificate.space_digest)),
    ]
    return tag(
        "section",
        tag("h2", "How to reproduce it", id="reproduce-title"),
        tag("p", "The same call with the same seed and versions gives the same tree, byte for byte.", class_="note"),
        tag("pre", contents.call, class_="call") if contents.call else None,
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="record"),
        id="reproduce",
        aria_labelledby="reproduce-title",
    )


def _method(contents: Contents) -> str:
    certificate = contents.certificate
    if certificate.method == "exact":
        return "exact: every input was counted"
    if not certificate.samples:
        return f"{certificate.method}, but no input was tested"
    return f"{certificate.method}, {certificate.protocol} test inputs"


def _seed(contents: Contents) -> str:
    certificate = contents.certificate
    if certificate.seed is None:
        return "none: nothing was drawn"
    return f"{certificate.seed}{'' if certificate.seed_chosen else ' (taken from the machine)'}"


def _inputs(contents: Contents) -> str:
    features = counted(len(contents.space), "feature")
    return f"rows of a table with {features}" if contents.rows else f"a product of {features}, {contents.space.extent}"
