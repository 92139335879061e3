"""One promise: bounds of all answers counted, tables that add up to the sentence, one number on every surface."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from commandline import run
from fidelitree.asking.journal.journal import Journal
from fidelitree.certificates.store import load
from fidelitree.runs.agree.recount import counted
from fidelitree.runs.viewer import Viewer
from fidelitree.theory.sequential import error_bound, least_error

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BITS = ft.ProductSpace.bernoulli(14, 0.4)
PEOPLE = ft.ProductSpace(
    [
        ft.Numeric("age", 18, 90),
        ft.Numeric("income", 0, 100),
        ft.Categorical("job", [*"abcdef"]),
        ft.Boolean("own", 0.3),
    ]
)


TABLE = {name: np.asarray(column) for name, column in PEOPLE.draw(1_500, seed=5).items()}


def votes(bits: Any) -> Any:
    """No small tree comes near it."""
    return (bits[:, :9].sum(axis=1) + bits[:, 0] + bits[:, 1] > 4).astype(int)


def grants(batch: Any) -> Any:
    """A curved border, and a rare answer."""
    score = np.asarray(batch["income"]) * np.sin(np.asarray(batch["age"]) / 20) + 20 * np.asarray(batch["own"])
    return np.where(np.asarray(batch["age"]) > 88, "ask", np.where(score > 30, "yes", "no"))


def amounts(batch: Any) -> Any:
    return np.asarray(batch["income"]) * 0.7 + np.asarray(batch["age"]) * 0.2


RUNS: dict[str, tuple[Callable[..., Any], Any, Any, dict[str, Any]]] = {
    "distill, certified": (ft.distill, votes, BITS, {"epsilon": 0.25}),
    "distill, ended by a limit": (ft.distill, votes, BITS, {"epsilon": 0.02, "max_queries": 900}),
    "distill, no epsilon": (ft.distill, grants, PEOPLE, {"epsilon": None, "max_queries": 900}),
    "distill, few leaves": (ft.distill, grants, PEOPLE, {"epsilon": 0.2, "max_leaves": 4}),
    "distill, over a table's draws": (ft.distill, grants, TABLE, {"epsilon": 0.2}),
    "distill, deferring": (ft.distill, grants, PEOPLE, {"epsilon": 0.05, "defer": True, "max_queries": 2_500}),
    "distill, numbers": (ft.distill, amounts, PEOPLE, {"epsilon": 0.2, "tolerance": 8, "max_queries": 2_500}),
    "frontier over bits": (ft.frontier, votes, BITS, {"max_queries": 2_000, "max_leaves": 20}),
    "frontier over people": (ft.frontier, grants, PEOPLE, {"max_queries": 2_500, "max_leaves": 16}),
}


@pytest.fixture(scope="module", params=RUNS, ids=str)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """What came of a run, and its journal."""
    door, target, space, more = RUNS[request.param]
    journal = tmp_path_factory.mktemp("run") / "run.db"
    return door(target, space, seed=11, journal=journal, **more), journal


def points(found: Any) -> list[ft.Distillation]:
    """The trees of a result: those of a frontier, or of the curve beside it."""
    if isinstance(found, ft.Frontier):
        return list(found)
    return [found, *(found.frontier or ())]


def test_a_bound_is_that_of_all_answers_counted_for_its_tree(made: tuple[Any, Path]) -> None:
    found, journal = made
    with Journal(journal) as kept:
        assert kept.drawn is not None
        _, drawn = kept.drawn
        opened = {(one.ledger, one.number): one for one in kept.attempts}
    for point in points(found):
        told = point.certificate
        if told.method == "exact":
            continue
        assert told.level is not None
        own = error_bound(told.errors_of_test or 0, told.samples, told.level)
        assert told.error_bound == pytest.approx(min(1, own + told.differs), rel=1e-9)
        if told.coverage is None and told.errors:
            low = least_error(told.errors_of_test or 0, told.samples, told.ledger, told.level) - told.differs
            assert told.interval == (pytest.approx(max(0.0, low)), told.error_bound)
        began = opened[told.ledger, told.attempt]
        counted = told.samples if told.drawn is None else told.drawn
        if told.ledger != "standing":  # whose learning inputs count as well
            left = drawn - began.tests - counted
            assert left in (0, 1), "from the opening to the end, but for an input that no budget was left to ask about"


def test_every_table_adds_up_to_the_sentence(made: tuple[Any, Path]) -> None:
    for point in points(made[0]):
        told = point.certificate
        if told.method == "exact" or point.answers is None:
            continue
        assert told.errors is not None
        assert (len(point.answers), told.errors) == (told.samples, round(sum(one.wrong for one in point.leaf_errors)))
        assert sum(one.reached for one in point.leaf_errors) == told.samples
        found = point.disagreements()
        assert (found.tests, found.wrong, found.counted) == (told.samples, told.errors, None)
        if told.confusion is not None:
            assert (told.confusion.tests, told.confusion.wrong) == (told.samples, told.errors)
        if told.samples:
            assert f"this tree disagreed on {told.errors:,}." in str(told)
            assert f"Tested on {told.samples:,} fresh input" in str(told)


def test_one_number_on_every_surface(made: tuple[Any, Path], tmp_path: Path) -> None:
    found = made[0]
    best = found.knee if isinstance(found, ft.Frontier) else found
    told = best.certificate
    if told.coverage is not None or told.standing.state == "nothing":
        return
    found.save(tmp_path / "kept")
    page = (tmp_path / "kept" / "report.html").read_text(encoding="utf-8")
    surfaces = {
        "certificate": str(told),
        "result": str(best),
        "card in a notebook": best._repr_html_(),
        "model card": best.card(),
        "report": html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style).*?</\1>", " ", page))),
        "show": run("show", tmp_path / "kept").out,
        "verify": run("verify", tmp_path / "kept").out,
    }
    for name, text in surfaces.items():
        if told.errors and not (name == "card in a notebook" and told.agreement not in text):
            assert re.search(rf"(?<![\d.]){re.escape(told.agreement[:-1])}0?%", text), f"{name}: {told.agreement}"
        assert re.findall(r"\d\.\d{3,}\s?%", text) == [], f"{name}: two digits after the point are enough"
        assert re.findall(r"\d %", text) == [], f"{name}: per cent follows its number at once"


def test_real_rows_stand_beside_the_certified_number(made: tuple[Any, Path]) -> None:
    found = made[0]
    told = (found.knee if isinstance(found, ft.Frontier) else found).certificate
    if told.real_rows is not None:
        assert f"{told.agreement} or more that is certified over draws" in told.doubts(1)[0]


def test_the_page_of_disagreements_shows_what_the_certificate_counts(made: tuple[Any, Path], tmp_path: Path) -> None:
    found = made[0]
    best = found.knee if isinstance(found, ft.Frontier) else found
    told = best.certificate
    if told.method == "exact":
        return
    found.save(tmp_path / "kept")
    stored = load(tmp_path / "kept")
    answers = counted(stored, stored.space)
    assert answers is not None
    assert len(answers) == told.samples
    if told.tolerance is None:
        assert int(np.count_nonzero(best.tree.predict_inner(answers.inputs) != answers.labels)) == told.errors
    page = str(Viewer(tmp_path).page("differ", {"of": "kept"}).body)
    assert f"differ on {told.errors:,} of {told.samples:,} stored test answers" in page
