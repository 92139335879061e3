"""What an author calls a report is nobody's promise; every number in it is."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.reportfile import facts_of, has_words
from fidelitree.runs.viewer import Viewer

SPACE = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Numeric("income", 0, 1)])
WORDS = ("", "Tree", "a < b & c", '"quoted" <script>1</script>', "the target", "A tree with 2 leaves", "x\ny", "ä 日本")


def older(batch: Any) -> Any:
    return np.where(batch["age"] > 40, "old", "young")


def near(batch: Any) -> Any:
    return batch["age"] / 10


RESULTS = {
    "certified": lambda: ft.distill(older, SPACE, 0.1, seed=0),
    "numbers": lambda: ft.distill(near, SPACE, 0.2, tolerance=1.0, seed=0),
    "exact": lambda: ft.distill(ft.targets.majority(3), ft.ProductSpace.bernoulli(3), 0),
    "nothing": lambda: ft.distill(older, SPACE, 0.01, seed=0, max_queries=8),
    "deferring": lambda: ft.distill(older, SPACE, 0.1, seed=0, defer=True),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_whatever_it_is_called_a_report_tells_the_same_facts(kind: str, tmp_path: Path) -> None:
    result, page = RESULTS[kind](), tmp_path / "page.html"
    plain = facts_of(result.report(page).read_bytes())
    for place, word in enumerate(WORDS):
        names = {"title": word, "target_name": WORDS[place - 1], "notes": WORDS[place - 2]}
        told = result.report(page, **names, date=dt.date(1999, 1, 1 + place)).read_bytes()
        assert facts_of(told) == plain
        assert has_words(told)
    assert not has_words(result.report(page).read_bytes())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result = ft.distill(older, SPACE, 0.1, seed=0, journal=tmp_path / "run.db")
    result.save(tmp_path / "kept")
    return tmp_path / "kept"


def test_save_takes_the_words_of_the_report(tmp_path: Path) -> None:
    for made in (ft.distill(older, SPACE, 0.1, seed=0), ft.frontier(older, SPACE, seed=0, max_queries=400)):
        page = made.save(tmp_path / "kept", title="Age", target_name="Risk 7", notes="For the board.")[-1]
        text = page.read_text(encoding="utf-8")
        assert '<p class="title">Age</p>' in text
        assert '<p class="notes">For the board.</p>' in text
        assert '<span class="named">Risk 7</span>' in text
        found = ft.verify(tmp_path / "kept")
        assert found.consistent
        assert found.remarks[-1] == (
            "title, notes and name of the model in report.html are its author's words, which nothing here checks"
        )


def test_a_report_with_other_words_in_a_saved_folder_is_no_contradiction(folder: Path) -> None:
    made = ft.distill(older, SPACE, 0.1, seed=0, journal=folder.parent / "run.db")
    made.report(folder / "report.html", title="Titled", notes="By me", date="2001-01-01")
    found = ft.verify(folder)
    assert found.verdict == "confirmed"
    assert "its author's words" in found.remarks[-1]


def test_a_report_that_was_written_again_from_the_folder_is_no_contradiction(folder: Path) -> None:
    for point in ft.Frontier.load(folder):
        point.report(folder / "report.html", title="Again")
        found = ft.verify(folder)
        assert found.verdict == "confirmed"
        again = "report.html was written again from this folder, after it was saved"
        mine = point.tree == ft.Tree.load(folder / "tree.json")
        other = "" if mine else f", about another point: the tree with {point.leaves} lea"
        assert found.remarks[-1].startswith(again + other)
        shown = Viewer(folder.parent).page("report", {"of": folder.name})
        assert (shown.status, "Again" in shown.body) == (200, True)


def test_a_report_of_another_point_contradicts_the_folder_and_is_named(tmp_path: Path) -> None:
    found = ft.frontier(older, SPACE, seed=0, max_queries=400)
    found.save(tmp_path / "kept")
    other = next(point for point in found if point.tree != found.knee.tree)
    other.report(tmp_path / "kept" / "report.html")
    told = ft.verify(tmp_path / "kept")
    assert told.verdict == "contradicted"
    assert "report.html has the headline of another point of the frontier" in told.remarks[-1]
    assert Viewer(tmp_path).page("report", {"of": "kept"}).status == 400


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("at least 90", "at least 99"),
        ('<h1 id="verdict-title">A tree with 2', '<h1 id="verdict-title">A tree with 1'),
        ("</dl></div><div", '</dl><p class="notes"><b>Checked by fidelitree</b></p></div><div'),
        ("the target", '<span class="named">the target on all inputs, and another tree</span>'),
        ("<main", '<p class="title">Certified</p><main'),
        ("</script>", ";</script>"),
        ("disagreed on 0", "disagreed on 1"),
    ],
)
def test_a_report_with_another_number_or_with_markup_contradicts_the_folder(folder: Path, was: str, now: str) -> None:
    page = folder / "report.html"
    text = page.read_text(encoding="utf-8")
    assert was in text
    page.write_text(text.replace(was, now), encoding="utf-8")
    assert ft.verify(folder).verdict == "contradicted"


def test_a_folder_of_an_older_version_lists_the_digest_of_the_whole_report(folder: Path) -> None:
    run = folder / "run.json"
    told = json.loads(run.read_text(encoding="utf-8"))
    told["files"]["report.html"] = hashlib.sha256((folder / "report.html").read_bytes()).hexdigest()
    run.write_text(json.dumps(told), encoding="utf-8")
    assert ft.verify(folder).verdict == "confirmed"


def test_a_report_that_is_no_text_has_a_digest_too() -> None:
    assert facts_of(b"\xff") != facts_of(b"\xfe")
    assert not has_words(b"\xff")
