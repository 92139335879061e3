"""A folder of results as pages: list, report, compare two, disagreements, rows of one's own, verify.

Nothing here listens to a network: a page is a function of its name and what was asked. Only results that lie in the
folder can be named, so that no path leads out of it.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from fidelitree.asking.journal.journal import Journal
from fidelitree.certificates import store
from fidelitree.display.markup import Html, join, plain_page, table, tag
from fidelitree.display.wording import at_least, percent, span, whole
from fidelitree.errors import FidelitreeError, FormatError, ParameterError, check_path
from fidelitree.runs.diff import diff
from fidelitree.theory.sequential import lower_bound, upper_bound
from fidelitree.trees.answers import Answers
from fidelitree.trees.disagreements import Disagreements, text

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from fidelitree.trees.tree import Tree

_LEVEL = 0.025  # at each end: 95 % together
_LISTED, _FEATURES = 200, 8
_TESTS = "certify"
_SIGNS = {True: "✓", False: "✗", None: "–"}


@dataclass(frozen=True)
class Page:
    """What is sent: a kind of text, and whether the page brings a policy of its own."""

    body: str
    kind: str = "text/html"
    status: int = 200
    own_policy: bool = False
    file: str = ""


class Viewer:
    """The results in a folder, and the folder itself where it is one."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = check_path("folder", folder)
        if not self.folder.is_dir():
            raise ParameterError(f"DIR must be a folder of results; there is no folder {str(self.folder)!r}")
        if not self.names():
            raise ParameterError(
                f"DIR must hold results, each in a folder of its own; there is none in {str(folder)!r}"
            )

    def names(self) -> dict[str, Path]:
        """Results by the names that pages use: looked up each time, so that new ones appear."""
        home = self.folder.resolve()
        found = (path.parent for path in sorted(self.folder.rglob(store.CERTIFICATE)))
        inside = (one for one in found if one.resolve().is_relative_to(home) and (one / store.TREE).is_file())
        here = ((one.relative_to(self.folder).as_posix(), one) for one in inside)
        return {("this" if name == "." else name): one for name, one in here}

    def page(self, name: str, asked: Mapping[str, str], uploaded: str | None = None) -> Page:
        """A page by its name; what cannot be shown is a page that says why."""
        try:
            if name == "":
                return Page(plain_page("Results", self._list()))
            if name == "compare":
                return Page(plain_page("Compare two trees", *self._compare(asked)))
            if name in ("report", "verify", "differ", "differ.csv", "rows"):
                result = store.load(self._chosen(asked, "of"))
                return self._about(name, result, asked, uploaded)
        except FidelitreeError as error:
            return Page(plain_page("That did not work", tag("p", str(error)), _BACK), status=400)
        return Page(plain_page("There is no such page", _BACK), status=404)

    def _chosen(self, asked: Mapping[str, str], name: str) -> Path:
        known, wanted = self.names(), asked.get(name, "")
        if wanted not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known)}; got {wanted!r:.80}")
        return known[wanted]

    def _about(self, name: str, result: store.Stored, asked: Mapping[str, str], uploaded: str | None) -> Page:
        title = f"{asked['of']}: "
        if name == "report":
            kept = result.folder / store.REPORT
            if not kept.is_file():
                raise ParameterError(f"{asked['of']} holds no {store.REPORT}")
            return Page(kept.read_text(encoding="utf-8"), own_policy=True)
        if name == "verify":
            return Page(plain_page(f"{title}checked", *_verified(result)))
        if name == "rows":
            return Page(plain_page(f"{title}rows of your own", *_rows(result, asked, uploaded)))
        found = _filtered(_stored_disagreements(result), asked.get("text", ""))
        if name == "differ.csv":
            return Page(found.to_csv(), "text/csv", file="disagreements.csv")
        return Page(plain_page(f"{title}disagreements", *_differing(found, asked)))

    def _list(self) -> Html:
        names = self.names()
        rows = (_line(name, store.load(path)) for name, path in names.items())
        heads = ("result", "leaves", "agrees on at least", "tests", "look at")
        choices = [tag("option", name) for name in names]
        chosen = (tag("label", f"{key} ", tag("select", *choices, name_=key)) for key in ("old", "new"))
        compare = tag("form", *chosen, tag("button", "Compare", type="submit"), action="compare")
        return join(table(heads, rows), tag("h2", "Compare two"), compare)

    def _compare(self, asked: Mapping[str, str]) -> list[Html]:
        old, new = (store.load(self._chosen(asked, name)) for name in ("old", "new"))
        if old.space is None:
            raise ParameterError(f"{asked['old']} holds no {store.SPACE}")
        found = diff(old.tree, new.tree, old.space, epsilon=0.001)
        sentences = (tag("p", line) for line in found.sentences())
        about = f"{asked['old']} against {asked['new']}, over the inputs of {asked['old']}."
        return [tag("p", about), *sentences, tag("pre", str(found.tree)), _BACK]


_BACK = tag("p", tag("a", "All results", href="."))


def _line(name: str, result: store.Stored) -> Html:
    told = result.certificate
    places = {"report": "report", "verify": "verify", "differ": "disagreements", "rows": "rows of your own"}
    links = (join(tag("a", words, href=f"{page}?of={quote(name)}"), " ") for page, words in places.items())
    cells = (result.tree.size, at_least(told.error_bound) if told.error_bound < 1 else "nothing", whole(told.samples))
    return tag("tr", tag("th", name, scope="row"), *(tag("td", cell) for cell in cells), tag("td", *links))


def _verified(result: store.Stored) -> list[Html]:
    """Each check with a sign."""
    from fidelitree.runs.verify import verify  # noqa: PLC0415 - only this page needs it, and all that it loads

    found = verify(result.folder, answers=True)
    lines = [tag("li", f"{_SIGNS[check.passed]} {check.sentence}") for check in found.checks]
    return [tag("ul", *lines, style="list-style:none;padding:0"), tag("pre", str(found).splitlines()[-1]), _BACK]


def _stored_disagreements(result: store.Stored) -> Disagreements:
    """Among the answers of the run's tests, as far as a journal keeps them."""
    if result.journal is None or result.space is None:
        raise ParameterError("the folder keeps no answers one by one: it has no journal.db")
    inputs, labels = [], []
    with Journal(result.journal) as journal:
        run = journal.run
        for record in journal.all():
            if record.purpose == _TESTS:
                inputs.append(record.inner(len(run.features), run.bits))
                labels.append(np.asarray(record.answers()))
    if not inputs:
        raise ParameterError("the journal holds no answers of tests")
    kept = Answers(np.concatenate(inputs), np.concatenate(labels))
    return Disagreements.of(result.tree, kept, result.space.product, result.certificate.tolerance)


def _filtered(found: Disagreements, wanted: str) -> Disagreements:
    """Those in which some value, or an answer, contains a text."""
    if not wanted:
        return found
    kept = (one for one in found if any(wanted in text(value) for value in (*one.input.values(), one.tree, one.target)))
    return Disagreements(tuple(kept), found.tests, found.wrong, found.asked)


def _differing(found: Disagreements, asked: Mapping[str, str]) -> list[Html]:
    told = f"Tree and target differ on {whole(found.wrong)} of {whole(found.tests)} stored test answers of the run."
    shown = f" {whole(len(found))} of them contain the text." if asked.get("text") else ""
    field = tag("label", "Contains ", tag("input", name_="text", value=asked.get("text", "")))
    which = tag("input", type="hidden", name_="of", value=asked["of"])
    form = tag("form", which, field, tag("button", "Filter", type="submit"), action="differ")
    wanted = f"differ.csv?of={quote(asked['of'])}&text={quote(asked.get('text', ''))}"
    parts = [tag("p", told + shown), form, tag("p", tag("a", "As CSV", href=wanted))]
    if found:
        head, rows = found.cells(_LISTED, _FEATURES)
        parts.append(table(head, (tag("tr", *(tag("td", cell) for cell in row)) for row in rows)))
    return [*parts, _BACK]


def _rows(result: store.Stored, asked: Mapping[str, str], uploaded: str | None) -> list[Html]:
    """How often the tree agrees with the answers in a table of the user's own."""
    column = asked.get("label") or "label"
    form = tag(
        "form",
        tag("p", tag("label", "A CSV with the features ", tag("input", type="file", name_="table", accept=".csv"))),
        tag("p", tag("label", "Column of the target's answers ", tag("input", name_="label", value=column))),
        tag("button", "How often do they agree?", type="submit"),
        method="post",
        enctype="multipart/form-data",
        action=f"rows?of={quote(asked['of'])}",
    )
    return [*([] if uploaded is None else [agreement(result.tree, uploaded, column)]), form, _BACK]


def agreement(tree: Tree, uploaded: str, column: str) -> Html:
    """The share of rows on which they agree, with an interval, provided that the rows are independent draws."""
    rows = list(csv.DictReader(io.StringIO(uploaded)))
    if not rows:
        raise ParameterError("the table must have at least one row under its heads")
    gone = [name for name in (*(tree.names[i] for i in set(tree.as_lists[0]) - {-1}), column) if name not in rows[0]]
    if gone:
        raise ParameterError(f"the table must have the columns {', '.join(gone)}; it has {', '.join(rows[0])}")
    columns = {name: [row.get(name, "") for row in rows] for name in tree.names}
    said = tree.predict({name: _read(tree, i, columns[name]) for i, name in enumerate(tree.names)})
    right = sum(str(one) == row[column] for one, row in zip(said.tolist(), rows, strict=True))
    ends = lower_bound(right, len(rows), _LEVEL), upper_bound(right, len(rows), _LEVEL)
    exactly = f"They agree on {whole(right)} of {whole(len(rows))} rows, {percent(right / len(rows))}."
    sure = f" With 95% confidence, on {span(*ends)} of rows like these, if they are independent draws."
    return tag("p", tag("strong", exactly), sure)


def _read(tree: Tree, i: int, column: list[str]) -> list[Any]:
    """A column of text as the tree takes it; features that it does not ask about may be absent."""
    known = tree.values[i] if tree.values else None
    if known is not None:
        named = {str(value): value for value in known}
        return [named.get(cell, None if cell == "" else cell) for cell in column]
    try:
        numbers = [float(cell) if cell else float("nan") for cell in column]
    except ValueError as error:
        raise FormatError(f"feature {tree.names[i]!r} must hold numbers: {error}") from None
    if tree.kinds[i] == "boolean":
        return [int(number == 1) for number in numbers]
    return numbers
