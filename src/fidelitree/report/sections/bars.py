"""Tables whose numbers are also bars: how much each feature matters to the tree, and what the run cost, by purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.wording import Html, counted, figure, section, table, tag, whole
from fidelitree.exact.paths import PathSubfunction
from fidelitree.spaces.draw import Stream, draw, redraw

if TYPE_CHECKING:
    from fidelitree.asking.counted import Queries
    from fidelitree.report.contents import Contents
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree

Row = tuple[object, str, float]
"""A name, its number as text, and the length of its bar from 0 to 1."""
_PAIRS = 4_000_000  # pairs of leaves, for each feature: about a second
_ROWS = 20_000
_SHOWN, _LISTED = 12, 300
_PURPOSES = {
    "certify": "Testing the tree",
    "check": "Asking again, to see that answers do not change",
    "enumerate": "Asking about every input",
    "grow": "Choosing splits",
    "label": "Learning labels",
    "walk": "Following mistakes to features that matter",
}


def bars(caption: str, columns: tuple[str, str], rows: Sequence[Row]) -> Html:
    """One row for each name; the bar says nothing that the number does not."""
    return table((*columns, ""), (_row(*row) for row in rows), caption, class_="bars")


def _row(name: object, number: str, length: float) -> Html:
    drawn = tag("rect", width=f"{max(0.6, 100 * length):.2f}" if length else "0", height=10, rx=1)
    bar = tag("svg", drawn, viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true", focusable="false")
    return tag("tr", tag("th", name, scope="row"), tag("td", number), tag("td", bar, class_="bar"))


@dataclass(frozen=True, eq=False)
class Influences:
    """For each feature the probability that drawing it again changes the tree's answer.

    ``rows`` is the number of inputs that were drawn to estimate them, 0 where they are exact.
    """

    values: NDArray[np.float64]
    rows: int = 0


def influences(tree: Tree, space: ProductSpace) -> Influences:
    """Exact, or estimated where a large tree would make the reader wait."""
    if tree.size**2 * len(space) <= _PAIRS:
        return Influences(PathSubfunction(tree, space.whole).influences())
    return Influences(_estimated(tree, space), _ROWS)


def _estimated(tree: Tree, space: ProductSpace) -> NDArray[np.float64]:
    """The same inputs with each tested feature drawn again; what is not tested changes nothing."""
    whole, stream = space.whole, Stream.named(0, "report")
    inputs = draw(whole, stream, 0, _ROWS)
    before, found = tree.predict_inner(inputs.T), np.zeros(len(space))
    for i in sorted(set(tree.feature.tolist()) - {-1}):
        kept = inputs[i].copy()
        inputs[i] = redraw(whole, stream, 0, _ROWS, i)
        found[i] = (tree.predict_inner(inputs.T) != before).mean()
        inputs[i] = kept
    return found


def importance(contents: Contents, found: Influences) -> Html:
    """The tree's own influences, largest first; the rest folded away."""
    names, values = contents.space.names, found.values.tolist()
    order = sorted((i for i, value in enumerate(values) if value > 0), key=lambda i: -values[i])
    most = values[order[0]] if order else 1.0
    rows: list[Row] = [(names[i], figure(values[i]), values[i] / most) for i in order[:_LISTED]]
    columns = ("Feature", "Influence")
    more = f"{counted(len(rows) - _SHOWN, 'more feature')}"
    rest = tag("details", tag("summary", more), bars("Further features", columns, rows[_SHOWN:]))
    return section(
        "influence",
        "What the tree looks at",
        tag("p", _explanation(contents, found, len(order)), class_="note"),
        bars("Influence of each feature on the tree", columns, rows[:_SHOWN]) if rows else None,
        rest if len(rows) > _SHOWN else None,
    )


def _explanation(contents: Contents, found: Influences, count: int) -> str:
    if not count:
        return "The tree gives one answer whatever the input: no feature has any influence on it."
    independent = contents.world.independent is not None
    drawn = "from its distribution" if independent else "from the table's columns, one by one"
    how = (
        "exact"
        if not found.rows
        else f"estimated from {whole(found.rows)} drawn inputs, each to within about {figure(1 / found.rows**0.5)}"
    )
    apart = "; the target's may differ from them by up to twice the error" if independent else ""
    left = len(contents.space.names) - count
    others = f" {counted(left, 'other feature has', 'other features have')} none." if left else ""
    return (
        f"The influence of a feature is the probability that the tree's answer changes when that feature alone is "
        f"drawn anew {drawn}. These are the tree's own influences ({how}){apart}.{others}"
    )


def spending(contents: Contents) -> Html:
    """Labels used for each purpose, and how many of them the target had to answer."""
    asked, paid = contents.queries.asked, contents.queries.paid
    parts = sorted(asked.by_purpose.items(), key=lambda part: -part[1])
    most = max(asked.by_purpose.values(), default=0)
    rows = [(_PURPOSES.get(name, name), whole(count), count / most) for name, count in parts if count]
    drawn = bars("Labels asked by purpose", ("Purpose", "Labels"), rows) if rows else None
    said = " ".join([_sentence(int(asked), int(paid)), *_rounds(contents.queries)])
    return section("cost", "What it cost", tag("p", said, class_="note"), drawn)


def _sentence(asked: int, paid: int) -> str:
    if asked == 0:
        return "No label was asked for."
    labels = f"{counted(asked, 'label was', 'labels were')} used"
    if paid == asked:
        return f"{labels}, and the target answered each of them."
    if paid > asked:
        return f"{labels}; the target answered {counted(paid, 'row')}, some of them again to check that answers repeat."
    return f"{labels}; the target answered {counted(paid, 'row')}: repeated inputs are answered from memory."


def _rounds(queries: Queries) -> list[str]:
    """How often the run had to wait for answers, and what they cost."""
    waited = [f"They came in {counted(queries.rounds, 'round')}, one after the other."] if queries.rounds else []
    return waited if queries.cost is None else [*waited, f"They cost {queries.cost:,.6g}."]
