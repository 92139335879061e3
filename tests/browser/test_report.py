"""The report in a browser: it answers as the tree does, by mouse and by keyboard, and asks for nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from mixed import GAPS, mixed_tree, some_inputs
from reports import HOSTILE, SIZES

if TYPE_CHECKING:
    from pathlib import Path

Visit = Callable[..., Any]
EXPANDED = "#outline [aria-expanded=true]"


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("width", [1280, 390])
def test_page_opens_and_fits_the_screen(name: str, width: int, reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports[name], width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").inner_text().startswith("A tree with ")
    shown = page.locator("#outline [role=treeitem]").count()
    assert shown == {"small": 5, "medium": 79, "large": 41}[name]


@pytest.mark.parametrize("name", SIZES)
def test_node_collapses_and_opens_by_mouse(name: str, reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports[name]).page
    root = page.locator("#outline > [role=treeitem]")
    below = root.locator("[role=treeitem]").first
    assert below.is_visible()
    root.locator("> .row").click()
    assert root.get_attribute("aria-expanded") == "false"
    assert not below.is_visible()
    root.locator("> .row").click()
    assert root.get_attribute("aria-expanded") == "true"
    assert below.is_visible()


def test_everything_opens_and_collapses(
    reports: dict[str, Path], results: dict[str, ft.Distillation], visit: Visit
) -> None:
    page = visit(reports["large"]).page
    page.click("#expand")
    assert page.locator("#outline [role=treeitem]").count() == len(results["large"].tree.feature) == 3999
    page.click("#collapse")
    assert page.locator(EXPANDED).count() == 1, "the root stays open"


def test_keyboard_walks_the_tree(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["small"]).page
    assert page.locator("#outline [tabindex='0']").count() == 1
    page.locator("#outline > [role=treeitem]").focus()

    def here() -> str:
        return str(page.evaluate("document.activeElement.querySelector('.condition').textContent"))

    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "End", "Home"):
        page.keyboard.press(key)
        walked.append(here())
    assert walked == [
        "owner = 0",
        "owner = 1",
        "urban = 0",  # it was open: on to its first child
        "urban = 0",  # a leaf has nothing to open
        "owner = 1",
        "owner = 0",
        "urban = 1",
        "All inputs",
    ]
    page.keyboard.press("Enter")
    assert page.locator("#outline > [role=treeitem]").get_attribute("aria-expanded") == "false"
    page.keyboard.press("ArrowDown")
    assert here() == "All inputs", "there is nothing below a closed node"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert here() == "owner = 0"
    assert page.locator("#outline [tabindex='0']").count() == 1


def fill(page: Any, space: ft.ProductSpace, row: Any) -> None:
    """Type one input, given as inner values, into the form."""
    for i, feature in enumerate(space):
        control, value = page.locator(f"#feature-{i}"), row[i]
        if feature.kind == "boolean":
            if control.is_checked() != bool(value):  # by the keyboard: a click may miss while the page scrolls
                control.press("Space")
        elif feature.kind == "categorical":
            control.select_option(value=str(int(value)))
        else:
            control.fill("" if np.isnan(value) else repr(float(value)))


@pytest.mark.parametrize("name", SIZES)
def test_typed_input_is_followed_to_the_answer_of_the_tree(
    name: str, results: dict[str, ft.Distillation], reports: dict[str, Path], visit: Visit
) -> None:
    result = results[name]
    tree, space = result.tree, result.contents.space
    inputs = some_inputs(space, 5 if name == "large" else 12, seed=4)
    if name == "medium":  # at a cut, and at its two neighbours
        (node, test) = next((node, test) for node, test in sorted(tree.tests.items()) if test.kind == "numeric")
        for place, value in enumerate((test.cut, np.nextafter(test.cut, -np.inf), np.nextafter(test.cut, np.inf))):
            inputs[place, test.feature] = value
        assert node >= 0
    page = visit(reports[name]).page
    for details in page.locator("form details").all():
        details.evaluate("element => { element.open = true; }")
    for row, label, leaf in zip(inputs, tree.predict_inner(inputs), tree.reached_inner(inputs), strict=True):
        fill(page, space, row)
        page.click("button[type=submit]")
        assert page.locator("#answer .label").inner_text() == str(label)
        here = page.locator("[aria-current=true]")
        assert here.count() == 1
        assert here.is_visible()
        assert here.evaluate("element => element.node") == leaf
        assert page.locator(".on-path").count() == page.locator("#answer li").count() + 1
        assert page.locator("#node .conditions li").count() == page.locator("#answer li").count()


def test_category_that_nobody_knows_is_on_the_no_side(
    results: dict[str, ft.Distillation], reports: dict[str, Path], visit: Visit
) -> None:
    tree, space = results["medium"].tree, results["medium"].contents.space
    page = visit(reports["medium"]).page
    row = some_inputs(space, 1, seed=9)[0]
    job = space.index("job")
    row[job] = -1
    fill(page, space, row)
    page.click("button[type=submit]")
    assert page.locator("#answer .label").inner_text() == str(tree.predict_inner(row[None])[0])


def test_empty_field_is_a_missing_number_where_there_may_be_one(tmp_path: Path, visit: Visit) -> None:
    tree = mixed_tree(GAPS, np.random.default_rng(3), ["approve", "decline", "refer"], 0.95)
    assert {getattr(test, "missing", None) for test in tree.tests.values()} == {None, False, True}
    assert any(getattr(test, "cut", 0) == np.inf for test in tree.tests.values())
    result = ft.build_top_down(tree, GAPS, 0, max_leaves=25)
    page = visit(result.report(tmp_path / "gaps.html")).page
    inputs = some_inputs(GAPS, 25, seed=2)
    assert np.isnan(inputs).any(axis=0).sum() == 3
    for row, label in zip(inputs, result.tree.predict_inner(inputs), strict=True):
        fill(page, GAPS, row)
        page.click("button[type=submit]")
        assert page.locator("#answer .label").inner_text() == str(label)
    for _ in range(20):
        page.click("#random")
    assert page.locator("#asked :invalid").count() == 0
    page.click("#expand")
    shown = page.locator("#outline").inner_text()
    assert "or missing" in shown
    assert "is not missing" in shown


def test_missing_number_is_asked_for(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["medium"]).page
    page.locator("#asked input[type=number]").first.fill("")
    page.click("button[type=submit]")
    assert page.locator("#answer").inner_text() == ""
    assert page.locator("#asked :invalid").count() == 1


def test_random_input_gets_an_answer(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["medium"]).page
    for _ in range(5):
        page.click("#random")
        assert page.locator("#answer .label").inner_text() in ("approve", "decline", "refer")


def test_line_says_what_is_known_of_it(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["small"]).page
    page.locator(".row", has_text="urban = 1").hover()
    told = page.locator("#node").inner_text()
    assert "owner = 1" in told
    assert "25% of inputs" in told
    assert "yes 100%" in told
    page.locator("#outline > [role=treeitem]").focus()
    told = page.locator("#node").inner_text()
    assert "owner (influence on the tree 0.25)" in told
    assert "no 75%, yes 25%" in told


def test_leaf_named_in_the_table_of_errors_is_shown(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["large"]).page
    button = page.locator("[data-leaf]").first
    button.click()
    assert page.evaluate("document.activeElement.node") == int(button.get_attribute("data-leaf"))
    assert page.locator("#outline [role=treeitem]:focus").is_visible()


def test_theme_follows_the_system_and_the_switch(reports: dict[str, Path], visit: Visit) -> None:
    light, dark = (visit(reports["small"], scheme=scheme).page for scheme in ("light", "dark"))
    paper = "getComputedStyle(document.body).backgroundColor"
    assert (light.evaluate(paper), dark.evaluate(paper)) == ("rgb(250, 249, 246)", "rgb(18, 22, 27)")
    assert [page.locator("#theme").get_attribute("aria-pressed") for page in (light, dark)] == ["false", "true"]
    light.click("#theme")
    dark.click("#theme")
    assert (dark.evaluate(paper), light.evaluate(paper)) == ("rgb(250, 249, 246)", "rgb(18, 22, 27)")


@pytest.mark.parametrize("name", SIZES)
def test_page_prints(name: str, reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports[name], scheme="dark").page
    page.click("#collapse")
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF-")
    assert printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page/") >= 2
    shown = page.locator("#outline [role=treeitem]:visible").count()
    assert shown == {"small": 5, "medium": 79, "large": 3}[name], "a tree of moderate size is opened for printing"
    assert page.locator("#partly").get_attribute("hidden") == (None if name == "large" else "")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert not page.locator(".panel").is_visible()


def test_names_that_try_to_be_markup_are_only_names(hostile: ft.Distillation, tmp_path: Path, visit: Visit) -> None:
    page = visit(hostile.report(tmp_path / "hostile.html")).page
    assert page.locator("script").count() == 2, "the data and the page's own"
    assert page.locator("img, b, i").count() == 0
    assert page.locator("#outline").inner_text().count(f"{HOSTILE} = 1") == 1
    assert page.locator(f"label:text-is('{HOSTILE}')").count() == 1
    assert page.locator("#feature-1 option").all_inner_texts() == [
        "<b>bold</b>",
        '"&quot;',
        "(missing)",
        "(another value)",
    ]
    for _ in range(4):
        page.click("#random")
    for row in page.locator(".row").all():
        row.hover()


def test_policy_forbids_scripts_and_the_network(reports: dict[str, Path], visit: Visit) -> None:
    """The last line of defence: even markup that got in would not run."""
    opened = visit(reports["small"])
    failed: list[str] = []
    opened.page.on("requestfailed", lambda request: failed.append(request.failure))
    opened.page.evaluate(
        """() => {
            document.body.insertAdjacentHTML("beforeend", "<img src='nowhere.png' onerror='document.title = 1'>");
            const script = document.createElement("script");
            script.textContent = "document.title = 'ran'";
            document.body.append(script);
        }"""
    )
    opened.page.wait_for_timeout(100)
    assert opened.page.title().startswith("A tree with 3 leaves")
    assert any("Content Security Policy" in message for message in opened.messages)
    assert failed == ["csp"], "it was stopped before it left the page"
    opened.messages.clear()
    opened.requests.pop()
