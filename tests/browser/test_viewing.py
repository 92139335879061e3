"""`fidelitree view` in a browser: from the list to every page, without a word on the console or a request elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.asking.events import TreeJudged
from fidelitree.cli.view import serving
from fidelitree.runs.live import LiveRun
from fidelitree.runs.viewer import Viewer
from journals import MIXED, on_mixed

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def address(curve: ft.Frontier, tmp_path: Path) -> Iterator[str]:
    """A frontier, and a result with a journal."""
    curve.save(tmp_path / "curve")
    (tmp_path / "kept").mkdir()
    journal = tmp_path / "kept" / "journal.db"
    ft.distill(on_mixed, MIXED, 0.2, max_leaves=2, max_queries=200, journal=journal).save(tmp_path / "kept")
    yield from _served(Viewer(tmp_path, on_mixed))


def _served(pages: Any) -> Iterator[str]:
    server = serving(pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.address
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_from_the_list_to_every_page(
    browser: Any, address: str, curve: ft.Frontier, tmp_path: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    context.set_default_timeout(180_000)
    page, messages, requests = context.new_page(), [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    row = page.locator("tr", has_text="curve")
    row.get_by_role("link", name="report").click()
    assert page.locator("h1").inner_text().startswith(f"A tree with {curve.knee.leaves} lea")
    page.focus("#size")
    page.keyboard.press("Home")
    assert page.locator("h1").inner_text().startswith(f"A tree with {curve[0].leaves} lea")
    page.goto(address)
    page.select_option("[name=old]", "curve")
    page.select_option("[name=new]", "kept")
    page.get_by_role("button", name="Compare").click()
    assert "Exactly, " in page.locator("body").inner_text()
    page.get_by_role("link", name="All results").click()
    page.locator("tr", has_text="kept").get_by_role("link", name="disagreements").click()
    shown = page.locator("tbody tr").count()
    assert shown > 0
    page.fill("[name=text]", "nowhere-at-all")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.locator("tbody tr").count() == 0
    page.goto(f"{address}rows?of=kept")
    (tmp_path / "rows.csv").write_text("owner,job,age,children,label\n1,nurse,50,2,no\n", encoding="utf-8")
    page.set_input_files("[name=table]", tmp_path / "rows.csv")
    page.get_by_role("button", name="How often do they agree?").click()
    assert "of 1 rows" in page.locator("strong").inner_text()
    page.goto(f"{address}ask?of=kept")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")  # the tree may not ask it
    page.focus("[name=f3]")
    page.keyboard.press("Control+a")
    page.keyboard.type("20")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.input_value("[name=f3]") == "20"
    assert page.locator("strong").inner_text() in ("They agree on this input.", "They differ on this input.")
    assert page.locator("tr", has_text="The target").count() == 1
    assert messages == []
    assert [url for url in requests if not url.startswith(address)] == []
    context.close()


def test_a_run_grows_in_the_page_and_its_button_stops_it(browser: Any) -> None:
    """The page loads its frame again by itself: the test waits for what it shows, and never for a time."""
    stopped = threading.Event()
    live = LiveRun("A run: model", stopped.set)
    served = _served(live)
    address = next(served)
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme="dark")
    context.set_default_timeout(180_000)
    page, messages, requests = context.new_page(), [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(f"{address}live")
    inside = page.frame_locator("iframe")
    inside.get_by_text("No tree was judged yet.").wait_for()
    for size, error in ((1, 0.4), (2, 0.2), (5, 0.1)):
        live(TreeJudged(100 * size, size, error, error + 0.05))
    inside.get_by_text("85.0%").first.wait_for(state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.focus("button")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert stopped.is_set()
    assert "best tree so far" in page.locator("body").inner_text()
    assert messages == []
    assert [url for url in requests if not url.startswith(address)] == []
    context.close()
    next(served, None)
