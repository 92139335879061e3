"""The tree three times, files inside the page, sliders: what one can do with a report besides reading it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft

if TYPE_CHECKING:
    from pathlib import Path

Visit = Callable[..., Any]
VIEWS = ("diagram", "lines", "rules")


def seen(page: Any) -> list[str]:
    return [name for name in VIEWS if page.locator(f"#view-{name}").is_visible()]


def beside_knee(curve: ft.Frontier, step: int) -> ft.Distillation:
    return curve[[point.leaves for point in curve].index(curve.knee.leaves) + step]


def test_one_view_at_a_time_by_mouse_and_by_keyboard(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["medium"], tab="diagram").page
    assert seen(page) == ["diagram"]
    for name in ("rules", "lines", "diagram"):
        page.click(f"#tab-{name}")
        assert seen(page) == [name]
        assert page.locator("[role=tab][aria-selected=true]").get_attribute("id") == f"tab-{name}"
    page.focus("#tab-diagram")
    for key, name in (
        ("ArrowRight", "lines"),
        ("ArrowRight", "rules"),
        ("ArrowRight", "diagram"),
        ("ArrowLeft", "rules"),
    ):
        page.keyboard.press(key)
        assert seen(page) == [name]
        assert page.evaluate("document.activeElement.id") == f"tab-{name}"


def test_the_view_stays_along_the_curve(curve: ft.Frontier, reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["curve"], tab="rules").page
    page.click("#smaller")
    assert seen(page) == ["rules"]
    assert page.locator("#view-rules tbody tr").count() == beside_knee(curve, -1).leaves


def test_the_diagram_shows_the_path_of_an_input(
    results: dict[str, ft.Distillation], reports: dict[str, Path], visit: Visit
) -> None:
    page = visit(reports["medium"], tab="diagram").page
    assert page.locator("#view-diagram [data-node]").count() == len(results["medium"].tree.feature)
    page.click("#random")
    assert page.locator("#view-diagram g.taken").count() == page.locator("#answer li").count() + 1
    assert page.locator("#view-diagram path.taken").count() == page.locator("#answer li").count()
    page.locator("#view-diagram g.leaf").first.hover()
    assert "The tree answers" in page.locator("#node").inner_text()


def test_a_leaf_named_elsewhere_opens_the_outline(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["curve"], tab="diagram").page
    page.click("#smaller")
    page.locator("[data-leaf]").first.click()
    assert seen(page) == ["lines"]
    assert page.locator("#outline [role=treeitem]:focus").is_visible()


@pytest.mark.parametrize("name", ["tree.json", "tree.sql", "leaves.csv"])
def test_files_come_out_of_the_page(name: str, curve: ft.Frontier, reports: dict[str, Path], visit: Visit) -> None:
    opened = visit(reports["curve"])
    opened.page.click("#smaller")
    point = beside_knee(curve, -1)
    with opened.page.expect_download() as waiting:
        opened.page.click(f"[data-file='{name}']")
    text = waiting.value.path().read_text(encoding="utf-8")
    assert waiting.value.suggested_filename == name
    if name == "tree.json":
        assert ft.Tree.from_dict(json.loads(text)) == point.tree
    elif name == "tree.sql":
        assert text == ft.export.to_sql(point.tree)
    else:
        assert len(text.splitlines()) == point.leaves + 1
    opened.requests[:] = [url for url in opened.requests if not url.startswith("blob:")]


def test_sliders_and_numbers_follow_each_other(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["medium"]).page
    slider = page.locator("#asked input[type=range]").first
    number = page.locator(f"#feature-{slider.get_attribute('id').removeprefix('slide-')}")
    slider.focus()
    page.keyboard.press("Home")
    assert float(number.input_value()) == pytest.approx(float(slider.get_attribute("min")), rel=1e-6)
    assert page.locator("#answer .label").count() == 1, "a move is an input"
    middle = (float(slider.get_attribute("min")) + float(slider.get_attribute("max"))) / 2
    number.fill(str(round(middle)))
    assert float(slider.input_value()) == pytest.approx(round(middle), abs=1)


def test_on_paper_there_are_diagram_and_outline_and_no_buttons(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["curve"]).page
    page.emulate_media(media="print")
    assert seen(page) == ["diagram", "lines"]
    for name in (".tabs", ".downloads", ".panel"):
        assert not page.locator(name).is_visible()
    assert page.locator("#inputs table").is_visible()
    assert page.locator("#check").is_visible()


def test_a_wide_diagram_of_numbers_is_not_cut_off(tmp_path: Path, visit: Visit) -> None:
    def rule(batch: Any) -> Any:
        far = (batch["the first measurement"] > 0.51234) & (batch["the second measurement"] > 0.31234)
        return (far & (batch["the third measurement"] > 0.21234) & (batch["the fourth measurement"] > 0.41234)).astype(
            int
        )

    names = ("first", "second", "third", "fourth")
    space = ft.ProductSpace([ft.Numeric(f"the {name} measurement", 0, 1) for name in names])
    path = ft.distill(rule, space, epsilon=0.01, max_queries=4_000).report(tmp_path / "wide.html")
    page = visit(path, 1280).page
    assert page.locator(".workbench.wide").count() == 1
    hidden = "element => element.scrollWidth - element.clientWidth"
    assert page.locator("#view-diagram").evaluate(hidden) <= 0
