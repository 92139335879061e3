"""A folder of results as pages: list, report, compare two, disagreements, rows of one's own, one input, verify.

Nothing here listens to a network: a page is a function of its name and what was asked. Only results that lie in the
folder can be named, and only files that lie in it themselves are read, so that no path and no link leads out of it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from fidelitree.asking.counted import Counted
from fidelitree.asking.journal.journal import Journal
from fidelitree.certificates import store
from fidelitree.display.wording import Html, at_least, join, plain_page, row, shown, table, tag, whole
from fidelitree.errors import RAISED, FidelitreeError, FormatError, ParameterError, check_path, read_bytes
from fidelitree.runs.agree.diff import diff
from fidelitree.runs.agree.own_rows import agreement, column_of
from fidelitree.runs.agree.recount import counted as counted_answers
from fidelitree.trees.answers import DEFER, Answers, answered, apart
from fidelitree.trees.disagreements import FEATURES, ON_PAGES, Disagreements, text, value_of
from fidelitree.trees.treefile import MAX_BYTES

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.certificates.store import Stored
    from fidelitree.spaces.features import Feature
    from fidelitree.targets.labels import Target

_TESTS = "certify"
_SIGNS = {True: "✓", False: "✗", None: "–"}


@dataclass(frozen=True)
class Page:
    """What is sent: a kind of text, and whether it is a page that others may have written, with scripts in it."""

    body: str
    kind: str = "text/html"
    status: int = 200
    foreign: bool = False
    file: str = ""
    framed: bool = False
    """Whether another page of ours holds it in a frame."""


class Viewer:
    """The results in a folder, and the folder itself where it is one; a target answers beside their trees."""

    def __init__(self, folder: str | os.PathLike[str], target: Target | None = None) -> None:
        self.target = target
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
                return Page(plain_page("Results", self._list(), places={}))
            if name == "compare":
                return Page(plain_page("Compare two trees", *self._compare(asked), places=_ALL))
            if name in ("report", "verify", "differ", "differ.csv", "rows", "ask"):
                result = self._opened(self._chosen(asked, "of"))
                return self._about(name, result, asked, uploaded)
        except RAISED as error:  # whatever a stranger's files or table bring about
            return Page(plain_page("That did not work", tag("p", _one_line(error)), places=_ALL), status=400)
        return Page(plain_page("There is no such page", places=_ALL), status=404)

    def _chosen(self, asked: Mapping[str, str], name: str) -> Path:
        known, wanted = self.names(), asked.get(name, "")
        if wanted not in known:
            raise ParameterError(f"{name} must be one of {', '.join(known)}; got {wanted!r:.80}")
        return known[wanted]

    def _opened(self, folder: Path) -> store.Stored:
        """A result of which every file lies here itself: a link may lead to whatever its reader may read."""
        home = self.folder.resolve()
        for one in sorted(folder.iterdir()):
            if not one.is_dir() and (one.is_symlink() or not one.resolve().is_relative_to(home)):
                raise ParameterError(f"a result must hold files, not links; {one.name} is a link: put a copy there")
        return store.load(folder)

    def _about(self, name: str, result: store.Stored, asked: Mapping[str, str], uploaded: str | None) -> Page:
        if name == "report":
            return Page(_report(result), foreign=True)
        if name == "verify":
            return _beside(asked, name, "checked", _verified(result))
        if name == "ask":
            return _beside(asked, name, "one input", tried(result, asked, self.target))
        if name == "rows":
            return _beside(asked, name, "rows of your own", _rows(result, asked, uploaded))
        every, deferred = _stored_disagreements(result)
        found = _filtered(every, asked.get("text", ""))
        if name == "differ.csv":
            return Page(found.to_csv(), "text/csv", file="disagreements.csv")
        return _beside(asked, name, "disagreements", _differing(found, deferred, asked))

    def _list(self) -> Html:
        names = self.names()
        rows = (self._line(name, path) for name, path in names.items())
        listed = table(("result", "model", "leaves", "agrees on at least", "tests", "look at"), rows)
        if len(names) < 2:
            return listed
        first = dict(zip(("old", "new"), names, strict=False))
        chosen = (tag("label", f"{key} ", _choice(key, names, first[key])) for key in first)
        compare = tag("form", *chosen, tag("button", "Compare", type="submit"), action="compare")
        return join(listed, tag("h2", "Compare two"), compare)

    def _line(self, name: str, folder: Path) -> Html:
        """A result on the list; one that is broken keeps nobody from the others."""
        head = tag("th", name, scope="row")
        try:
            return tag("tr", head, *_facts(name, self._opened(folder)))
        except RAISED as error:
            return tag("tr", head, tag("td", f"unreadable: {_one_line(error)}", colspan=5))

    def _compare(self, asked: Mapping[str, str]) -> list[Html]:
        old, new = (self._opened(self._chosen(asked, name)) for name in ("old", "new"))
        if old.space is None:
            raise ParameterError(f"{asked['old']} holds no {store.SPACE}")
        found = diff(old.tree, new.tree, old.space, epsilon=0.001)
        sentences = (tag("p", line) for line in found.sentences())
        about = f"{asked['old']} against {asked['new']}, over the inputs of {asked['old']}."
        return [tag("p", about), *sentences, tag("pre", str(found.tree))]


_ALL = {".": "All results"}
_PLACES = {
    "report": "report",
    "verify": "verify",
    "differ": "disagreements",
    "ask": "one input",
    "rows": "rows of your own",
}


def _links(name: str) -> dict[str, str]:
    """The pages of a result, by their addresses."""
    return {f"{page}?of={quote(name)}": words for page, words in _PLACES.items()}


def _beside(asked: Mapping[str, str], name: str, title: str, parts: list[Html]) -> Page:
    """A page of a result, with the way to the others."""
    of = asked["of"]
    return Page(plain_page(f"{of}: {title}", *parts, places={**_ALL, **_links(of)}, here=f"{name}?of={quote(of)}"))


def _choice(key: str, names: Iterable[str], first: str) -> Html:
    return tag("select", *(tag("option", name, selected=name == first) for name in names), name_=key)


def _one_line(error: BaseException) -> str:
    kind = "" if isinstance(error, FidelitreeError) else f"{type(error).__name__}: "
    return f"{kind}{' '.join(str(error).split()):.500}"


def _facts(name: str, result: store.Stored) -> list[Html]:
    links = (join(tag("a", words, href=href), " ") for href, words in _links(name).items())
    cells = (
        f"{result.run.get('target', '')!s:.60}",
        result.tree.size,
        _promise(result.certificate),
        whole(result.certificate.samples),
    )
    return [*(tag("td", cell) for cell in cells), tag("td", *links)]


def _promise(told: Certificate) -> str:
    """How often the tree agrees, how near it comes, and of how many inputs that is said."""
    if told.coverage == 0:
        return "nothing: it defers every input"
    if told.error_bound >= 1:
        return "nothing"
    near = "" if told.tolerance is None else f", within {told.tolerance:.6g}"
    of = "" if told.coverage is None else f" of what it answers: at least {at_least(told.lost)} of inputs"
    return f"{told.agreement}{near}{of}"


def _report(result: store.Stored) -> str:
    """The stored page, as the run wrote it."""
    kept, files = result.folder / store.REPORT, result.run.get(store.FILES)
    if not kept.is_file():
        raise ParameterError(f"the result holds no {store.REPORT}")
    body = read_bytes(kept, MAX_BYTES, "a report")
    if isinstance(files, dict) and store.REPORT in result.changed:
        from fidelitree.runs.agree.reports import with_report  # noqa: PLC0415 - it loads all that draws a page

        result, _ = with_report(result)
    if not isinstance(files, dict) or store.REPORT not in files or store.REPORT in result.changed:
        raise FormatError(
            f"{store.REPORT} must be the page that the run wrote; its digest is not the one in {store.RUN}"
        )
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise FormatError(f"{store.REPORT} must be text in UTF-8") from None


def _verified(result: store.Stored) -> list[Html]:
    """Each check with a sign: the checks and the verdict of ``fidelitree verify``, and no others."""
    from fidelitree.runs.agree.verify import verify  # noqa: PLC0415 - only this page needs it, and all that it loads

    found = verify(result.folder)
    lines = [tag("li", f"{_SIGNS[check.passed]} {check.sentence}") for check in found.checks]
    verdict = (tag("p", line) for line in found.explained.splitlines())
    notes = [*found.remarks, f"not checked: {', '.join(found.unchecked)}"]
    return [
        tag("blockquote", *verdict),
        tag("ul", *lines, class_="checks"),
        *(tag("p", f"{note}.", class_="note") for note in notes),
    ]


def _stored_disagreements(result: store.Stored) -> tuple[Disagreements, int]:
    """Among the answers of the run's tests, as far as a journal keeps them; and how many inputs the tree defers."""
    if result.journal is None or result.space is None:
        raise ParameterError("the folder keeps no answers one by one: it has no journal.db")
    told = result.certificate
    sure = counted_answers(result, result.space)
    if sure is not None:
        deferred = 0 if told.drawn is None else told.drawn - told.samples
        return Disagreements.of(result.tree, sure, result.space.product, told.tolerance), deferred
    inputs, labels = [], []
    with Journal(result.journal) as journal:
        run = journal.run
        for record in journal.all():
            if record.purpose == _TESTS:
                inputs.append(record.inner(len(run.features), run.bits))
                labels.append(np.asarray(record.answers()))
    if not inputs:
        raise ParameterError("the journal holds no answers of tests")
    rows, target = np.concatenate(inputs), np.concatenate(labels)
    own = answered(result.tree, rows)
    kept = Answers(rows[own], target[own])
    found = Disagreements.of(result.tree, kept, result.space.product, told.tolerance)
    return found.because(told.errors, told.samples), len(own) - len(kept)


def _filtered(found: Disagreements, wanted: str) -> Disagreements:
    """Those in which some value, or an answer, contains a text."""
    if not wanted:
        return found
    kept = (one for one in found if any(wanted in text(value) for value in (*one.input.values(), one.tree, one.target)))
    return replace(found, found=tuple(kept))


def _differing(found: Disagreements, deferred: int, asked: Mapping[str, str]) -> list[Html]:
    told = f"Tree and target differ on {whole(found.wrong)} of {whole(found.tests)} stored test answers of the run."
    told += found.why + (f" The tree defers {whole(deferred)} more, which are left out." if deferred else "")
    shown = f" {whole(len(found))} of them contain the text." if asked.get("text") else ""
    field = tag("label", "Contains ", tag("input", name_="text", value=asked.get("text", "")))
    which = tag("input", type="hidden", name_="of", value=asked["of"])
    form = tag("form", which, field, tag("button", "Filter", type="submit"), action="differ")
    wanted = f"differ.csv?of={quote(asked['of'])}&text={quote(asked.get('text', ''))}"
    parts = [tag("p", told + shown), form, tag("p", tag("a", "As CSV", href=wanted))]
    if found:
        head, rows = found.cells(ON_PAGES, FEATURES)
        parts.append(table(head, rows))
    return parts


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
    if uploaded is None:
        return [form]
    told = agreement(result.tree, uploaded, column, result.certificate.tolerance)
    return [tag("p", tag("strong", told[0]), f" {told[1]}"), form]


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
    form = tag("form", which, *first, folded, tag("p", button), action="ask", class_="fields")
    return join(form, tag("p", another))


def _field(i: int, feature: Feature, cell: str) -> Html:
    name = f"f{i}"
    if feature.kind == "boolean" or feature.values is not None:
        values = ("0", "1") if feature.values is None else tuple(map(_cell, feature.values))
        choices = (tag("option", value or "missing", value=value, selected=value == cell) for value in values)
        field = tag("select", *choices, name_=name)
    else:
        field = tag("input", type="number", step="any", name_=name, value=cell)
    return tag("p", tag("label", f"{shown(feature.name)} ", field))
