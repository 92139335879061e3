"""How the run went: trees on the way, each with its own error and its own certified bound."""

from __future__ import annotations

from fidelitree.display.markup import Html, join, tag
from fidelitree.display.wording import at_most, counted, percent, whole
from fidelitree.report.chart import certified, error_chart, thinned
from fidelitree.report.contents import Contents, Step

_ROWS = 24


def course(contents: Contents) -> Html:
    """A chart with its alternative: one sentence, and a table."""
    steps = (*contents.steps, _end(contents))
    enough = len(steps) > 2
    return tag(
        "section",
        tag("h2", "How it got there", id="course-title"),
        tag("p", _reason(contents), class_="note"),
        _figure(contents, steps) if enough else None,
        _table(steps) if enough else tag("p", _summary(contents)),
        id="course",
        aria_labelledby="course-title",
    )


def _end(contents: Contents) -> Step:
    """The tree that is returned: what the certificate says, and its own error in the tests, at what the run cost."""
    certificate, labels, tree = contents.certificate, contents.leaf_labels, contents.tree
    error = None if labels is None else float(labels.wrong(tree).sum())
    exact = certificate.method == "exact"
    bound = certificate.error_bound
    return Step(int(contents.queries.asked), tree.size, bound if exact else error, bound)


def _reason(contents: Contents) -> str:
    reason = contents.reason
    if reason == "certified":
        return "The run ended because the error asked for was certified."
    return f"The run ended because of this: {reason}." if reason else ""


def _summary(contents: Contents) -> str:
    certificate = contents.certificate
    size, asked = counted(contents.tree.size, "leaf", "leaves"), counted(int(contents.queries.asked), "label")
    if certificate.standing.state == "nothing":
        return f"After {asked} the tree had {size}, and nothing was certified."
    return f"After {asked} the tree had {size} and an error certified to be at most {at_most(certificate.error_bound)}."


def _figure(contents: Contents, steps: tuple[Step, ...]) -> Html:
    chart = error_chart(steps, contents.certificate.epsilon, contents.by_leaves, _summary(contents))
    kind = "after each split" if contents.by_leaves else "of each tree on the way, estimated"
    keys = (("error", f"Error {kind}"), ("bound", "Error certified for the same tree"))
    legend = [tag("span", tag("span", class_=f"key {name}", aria_hidden="true"), text) for name, text in keys]
    caption = tag("figcaption", join(*legend), tag("span", "Vertical scale: square root."), class_="legend")
    return tag("figure", tag("div", chart, class_="scroll"), caption)


def _table(steps: tuple[Step, ...]) -> Html:
    names = "Labels asked", "Leaves", "Its error", "Certified for it"
    rows = [
        tag("tr", *(tag("td", text) for text in (whole(step.asked), whole(step.size), *_shares(step))))
        for step in thinned(steps, _ROWS)
    ]
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    some = "" if len(steps) <= _ROWS else f" ({_ROWS} of {whole(len(steps))} steps)"
    table = tag("div", tag("table", head, tag("tbody", *rows), class_="numbers"), class_="scroll", tabindex=0)
    return tag("details", tag("summary", f"The same in numbers{some}"), table)


def _shares(step: Step) -> tuple[str, str]:
    bound = certified(step)
    return "–" if step.error is None else percent(step.error), "–" if bound is None else at_most(bound)
