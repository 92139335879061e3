"""The curve of a report in a browser: its control shows every tree, by mouse and by keyboard, and asks for nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from journals import MIXED, on_mixed

if TYPE_CHECKING:
    from pathlib import Path

Visit = Callable[..., Any]


@pytest.fixture
def page_file(reports: dict[str, Path]) -> Path:
    return reports["curve"]


def shows(page: Any, point: ft.Distillation) -> None:
    """Everything on the page is about this tree."""
    assert page.locator("h1").inner_text().startswith(f"A tree with {point.leaves} lea")
    assert page.locator(".certificate p").all_inner_texts() == str(point.certificate).splitlines()
    page.click("#expand")
    assert page.locator("#outline [role=treeitem]").count() == 2 * point.leaves - 1
    assert page.locator(".plain pre").text_content() == str(point.tree)
    assert point.tree.digest in page.locator("#check").inner_text()
    assert point.certificate.confusion is not None
    assert page.locator("#pairs tbody tr").count() == point.certificate.confusion.cells_in_all
    wrong = [entry for entry in point.leaf_errors if entry.wrong and entry.share is not None]
    assert page.locator("#error [data-leaf]").count() == len(wrong)
    assert page.locator(".curve .here").count() == 1
    told = page.locator("#size").get_attribute("aria-valuetext")
    assert told.startswith(f"{point.leaves} lea")
    assert page.locator("#size-told").inner_text() == told
    assert page.locator("#curve-numbers tr[aria-current]").count() == 1


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (390, "dark")])
def test_it_opens_at_the_knee_and_fits_the_screen(
    curve: ft.Frontier, page_file: Path, visit: Visit, width: int, scheme: str
) -> None:
    page = visit(page_file, width, scheme).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shows(page, curve.knee)
    assert page.locator(".curve .point").count() == len(curve)


def test_the_keyboard_moves_along_the_curve(curve: ft.Frontier, page_file: Path, visit: Visit) -> None:
    page = visit(page_file).page
    page.focus("#size")
    page.keyboard.press("Home")
    shows(page, curve[0])
    assert page.locator("#smaller").is_disabled()
    page.focus("#size")
    for point in curve[1:]:
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == "size", "the focus stays on the control"
        shows(page, point)
        page.focus("#size")
    assert page.locator("#larger").is_disabled()


def test_buttons_marks_and_rows_lead_to_their_trees(curve: ft.Frontier, page_file: Path, visit: Visit) -> None:
    page = visit(page_file).page
    page.locator(".curve .point").nth(1).click()
    shows(page, curve[1])
    page.click("#larger")
    shows(page, curve[2])
    page.click("#smaller")
    shows(page, curve[1])
    page.click("#curve-numbers summary")
    page.locator("#curve-numbers [data-point]").last.click()
    shows(page, curve[-1])


def test_the_control_stays_under_the_hand(page_file: Path, visit: Visit) -> None:
    page = visit(page_file, 390).page
    page.locator("#size").scroll_into_view_if_needed()
    page.evaluate("scrollBy({ top: 120, behavior: 'instant' })")
    place = "document.getElementById('size').getBoundingClientRect().top"
    before = page.evaluate(place)
    page.focus("#size")
    page.keyboard.press("Home")
    assert page.evaluate(place) == pytest.approx(before, abs=1)


def test_the_tree_that_is_shown_answers_inputs(curve: ft.Frontier, page_file: Path, visit: Visit) -> None:
    page = visit(page_file).page
    page.focus("#size")
    page.keyboard.press("Home")
    page.click("#random")
    label = curve[0].tree.labels[curve[0].tree.code[0]]
    assert page.locator("#answer").inner_text() == f"The tree answers {label}"


def test_on_paper_there_is_no_control(page_file: Path, visit: Visit) -> None:
    page = visit(page_file).page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert not page.locator("#mover").is_visible()
    assert page.locator(".chart.curve").is_visible()
    assert page.locator("#curve-numbers table").is_visible()


def test_a_result_of_distill_shows_its_curve_too(tmp_path: Path, visit: Visit) -> None:
    result = ft.distill(on_mixed, MIXED, 0.1)
    assert result.frontier is not None
    page = visit(result.report(tmp_path / "report.html")).page
    assert page.locator("h1").inner_text().startswith(f"A tree with {result.leaves} leaves")
    page.focus("#size")
    page.keyboard.press("Home")
    shows(page, result.frontier[0])


def test_without_a_script_the_chosen_tree_is_there(curve: ft.Frontier, page_file: Path, browser: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    assert page.locator("h1").inner_text().startswith(f"A tree with {curve.knee.leaves} leaves")
    assert not page.locator("#mover").is_visible()
    assert page.locator(".chart.curve").is_visible()
    context.close()
