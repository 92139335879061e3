"""One input by hand: a form with a field for each feature, the tree's answer and, where there is a target, its own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from fidelitree.asking.counted import Counted
from fidelitree.display.markup import Html, join, row, table, tag
from fidelitree.display.wording import shown
from fidelitree.errors import ParameterError
from fidelitree.runs.agree.own_rows import column_of
from fidelitree.trees.deferring import DEFER, apart
from fidelitree.trees.disagreements import text, value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fidelitree.certificates.store import Stored
    from fidelitree.spaces.features import Feature
    from fidelitree.targets.labels import Target

_ONE_AT_A_TIME = threading.Lock()  # a browser may ask twice at once; a target is asked once at a time


def tried(result: Stored, asked: Mapping[str, str], target: Target | None) -> list[Html]:
    """The form, filled with what was asked or with an input that was drawn, and the answers to it."""
    if result.space is None:
        raise ParameterError("the folder holds no space.json, so nobody knows what an input looks like")
    features = result.space.product.features
    cells = _typed(asked, features) or _drawn(result, asked.get("draw", "0"))
    answers = _answers(result, cells, target)
    return [answers, _form(result, features, cells, asked)]


def _typed(asked: Mapping[str, str], features: tuple[Feature, ...]) -> dict[str, str]:
    """What somebody typed; every feature has its field."""
    if "f0" not in asked:
        return {}
    return {feature.name: asked.get(f"f{i}", "") for i, feature in enumerate(features)}


def _drawn(result: Stored, number: str) -> dict[str, str]:
    assert result.space is not None
    if not (number.isascii() and number.isdigit()):
        raise ParameterError(f"draw must be a whole number; got {number!r:.80}")
    space = result.space.product
    inner = space.encode(result.space.draw(1, seed=int(number[:9])))[0].tolist()
    values = (value_of(one, x) for one, x in zip(space.features, inner, strict=True))
    return {one.name: _cell(value) for one, value in zip(space.features, values, strict=True)}


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _answers(result: Stored, cells: dict[str, str], target: Target | None) -> Html:
    assert result.space is not None
    tree, product = result.tree, result.space.product
    batch = {name: column_of(tree, i, [cells]) for i, name in enumerate(tree.names)}
    ours = tree.predict(batch)[0]
    rule = str(tree.explain({name: column[0] for name, column in batch.items()}))
    lines = [("The tree", text(_plain(ours)))]
    told = "Give a target (fidelitree view DIR --target MODEL) to see its answer beside the tree's."
    if target is not None:
        with _ONE_AT_A_TIME:
            counted = Counted(target, product)
            theirs = counted.labels(counted.ask(product.encode(batch), "try"))[0]
        lines.append(("The target", text(_plain(theirs))))
        told = _verdict(ours, theirs, result.certificate.tolerance)
    rows = (row(value, head=head) for head, value in (*lines, ("The tree's rule", rule)))
    return join(tag("p", tag("strong", told)), table(("", "answers"), rows))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _verdict(ours: Any, theirs: Any, tolerance: float | None) -> str:
    if ours is DEFER:
        return "The tree defers: here it says, ask the target."
    if apart(np.array([ours]), np.array([theirs]), tolerance).any():
        return "They differ on this input."
    return "They agree on this input." if tolerance is None else f"They are within {tolerance:.6g} of each other."


def _form(result: Stored, features: tuple[Feature, ...], cells: dict[str, str], asked: Mapping[str, str]) -> Html:
    """What the tree asks about first; the rest, which the target may look at, is folded."""
    used = {i for i in result.tree.as_lists[0] if i >= 0}
    fields = {i: _field(i, one, cells[one.name]) for i, one in enumerate(features)}
    first = [field for i, field in fields.items() if i in used]
    rest = [field for i, field in fields.items() if i not in used]
    count = f"{len(rest):,} more, which the tree does not ask about"
    folded = tag("details", tag("summary", count), *rest) if rest else None
    which = tag("input", type="hidden", name_="of", value=asked["of"])
    number = asked.get("draw", "0")
    following = int(number[:9]) + 1 if number.isascii() and number.isdigit() else 1
    another = tag("a", "Draw another input", href=f"ask?of={quote(asked['of'])}&draw={following}")
    button = tag("button", "Ask", type="submit")
    return join(tag("form", which, *first, folded, tag("p", button), action="ask"), tag("p", another))


def _field(i: int, feature: Feature, cell: str) -> Html:
    name = f"f{i}"
    if feature.kind == "boolean" or feature.values is not None:
        values = ("0", "1") if feature.values is None else tuple(map(_cell, feature.values))
        choices = (tag("option", value or "missing", value=value, selected=value == cell) for value in values)
        field = tag("select", *choices, name_=name)
    else:
        field = tag("input", type="number", step="any", name_=name, value=cell)
    return tag("p", tag("label", f"{shown(feature.name)} ", field))
