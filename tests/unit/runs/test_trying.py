"""One input by hand: what is typed is read as a row is, and both answers stand side by side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.runs.viewer import Viewer
from journals import MIXED, on_mixed

if TYPE_CHECKING:
    from pathlib import Path

TYPED = {"of": "this", "f0": "1", "f1": "nurse", "f2": "50", "f3": "2"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    ft.distill(on_mixed, MIXED, 0.2, max_leaves=2, max_queries=200).save(folder)
    return folder


def page(folder: Path, target: Any = None, **asked: str) -> str:
    return Viewer(folder, target).page("ask", {"of": "this", **asked}).body


def cells(body: str) -> list[str]:
    return re.findall(r"<td>(.*?)</td>", body.rpartition("<tbody>")[2])


def test_an_input_that_was_drawn_fills_the_form(kept: Path) -> None:
    body = page(kept)
    assert body.count("<label>") == 4
    assert 'type="number"' in body
    assert "which the tree does not ask about" in body
    assert "--target MODEL" in body, "it says how to see the target's answer"
    assert page(kept, draw="1") != body
    assert "draw=2" in page(kept, draw="1")


def test_both_answers_stand_side_by_side(kept: Path) -> None:
    tree = ft.Tree.load(kept / "tree.json")
    row = {"owner": 1, "job": "nurse", "age": 50, "children": 2}
    ours, rule = tree.predict({name: [value] for name, value in row.items()})[0], str(tree.explain(row))
    assert cells(page(kept, **TYPED)) == [ours, rule.replace(">", "&gt;").replace("<", "&lt;")]
    agreeing = page(kept, lambda batch: [ours] * len(batch["age"]), **TYPED)
    assert cells(agreeing)[:2] == [ours, ours]
    assert "They agree on this input." in agreeing
    assert "They differ on this input." in page(kept, lambda batch: ["else"] * len(batch["age"]), **TYPED)


def test_what_was_typed_stays_in_the_form(kept: Path) -> None:
    body = page(kept, **TYPED)
    assert 'value="50"' in body
    assert re.search(r'<option value="nurse" selected>', body)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({**TYPED, "f2": "old"}, "column &#x27;age&#x27; must hold numbers"),
        ({"draw": "-1"}, "draw must be a whole number"),
        ({"draw": "x"}, "draw must be a whole number"),
    ],
)
def test_what_cannot_be_read_is_named(kept: Path, asked: dict[str, str], message: str) -> None:
    found = Viewer(kept).page("ask", {"of": "this", **asked})
    assert (found.status, message in found.body) == (400, True), found.body


def test_a_target_that_fails_is_a_page(kept: Path) -> None:
    found = Viewer(kept, lambda batch: 1 / 0).page("ask", {"of": "this", **TYPED})
    assert found.status == 400
    assert "division by zero" in found.body


def test_numbers_are_compared_within_the_tolerance(tmp_path: Path) -> None:
    space = ft.ProductSpace([ft.Numeric("age", 0, 100)])
    ft.distill(lambda batch: batch["age"] * 1.0, space, 0.2, tolerance=20.0).save(tmp_path)
    asked = {"f0": "50"}
    assert "They are within 20 of each other." in page(tmp_path, lambda batch: batch["age"] * 1.0, **asked)
    assert "They differ on this input." in page(tmp_path, lambda batch: batch["age"] + 500.0, **asked)


def test_a_tree_that_defers_says_so(tmp_path: Path) -> None:
    from fidelitree.trees.answers import DEFER

    made = ft.distill(on_mixed, MIXED, 0.2, max_leaves=2, max_queries=200)
    made.save(tmp_path)
    tree = ft.Tree.build(MIXED, [(0, 1, 2), 0, 1], ["none", DEFER])
    (tmp_path / "tree.json").write_text(tree.to_json())
    assert "The tree defers" in page(tmp_path, on_mixed, **TYPED)


def test_a_folder_without_a_space_has_no_form(kept: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(kept, tmp_path / "less")
    (tmp_path / "less" / "space.json").unlink()
    assert "holds no space.json" in Viewer(tmp_path).page("ask", {"of": "less"}).body
