"""Reports of three sizes, and a browser to open them in: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from journals import MIXED as JOURNALLED
from journals import on_mixed
from mixed import MIXED, mixed_tree
from reports import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FLAGS = (
    "--no-sandbox",  # containers run as root, where Chromium refuses to start with one
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 180_000  # milliseconds that a busy machine may take for anything
NAMES = ("chromium", "chromium-browser", "google-chrome")


def _chromium() -> str | None:
    return os.environ.get("FIDELITREE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser(absent: Callable[[str], NoReturn]) -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        absent("no Playwright: pip install playwright")
    program = _chromium()
    if program is None:
        absent("no Chromium: apt-get install chromium, or name one in FIDELITREE_CHROMIUM")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=list(FLAGS), timeout=PATIENCE)
        yield running
        running.close()


@dataclass
class Opened:
    """A page with all it complained about and all it asked for."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Open a report, with the tree as an outline; after the test, the console must be empty and nothing fetched."""
    opened: list[tuple[Opened, Any]] = []

    def open_page(path: Path, width: int = 1280, scheme: str = "light", tab: str = "lines") -> Opened:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )  # a click cannot miss what does not move
        context.set_default_timeout(PATIENCE)
        found = Opened(context.new_page())
        found.page.on("console", lambda message: found.messages.append(message.text))
        found.page.on("pageerror", lambda error: found.messages.append(str(error)))
        found.page.on("dialog", lambda dialog: (found.messages.append(dialog.message), dialog.dismiss()))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(path.as_uri())
        if found.page.locator(f"#tab-{tab}").is_visible():
            found.page.evaluate(f"document.getElementById('tab-{tab}').click()")  # the focus stays where it is
        opened.append((found, context))
        return found

    yield open_page
    for found, context in opened:
        assert found.messages == []
        assert [url for url in found.requests if not url.startswith("file:")] == []
        assert len(found.requests) == 1, "the page itself, and nothing else"
        context.close()


@pytest.fixture(scope="session")
def results() -> dict[str, ft.Distillation]:
    """A tree with 3 leaves over bits, one of about 40 over any features, one of 2 000 over bits."""
    pair = ft.ProductSpace.bernoulli(2, names=["owner", "urban"])
    both = ft.distill(lambda bits: np.where(bits[:, 0] & bits[:, 1], "yes", "no"), pair, 0)
    medium = ft.build_top_down(_medium(), MIXED, 0, max_leaves=40)
    many = ft.ProductSpace.bernoulli(30, 0.4)
    large = ft.build_top_down(ft.targets.balanced(many, 11, seed=1), many, 0, max_leaves=2000)
    found = {"small": both, "medium": medium, "large": large}
    assert {name: result.tree.size for name, result in found.items()} == {"small": 3, "medium": 40, "large": 2000}
    return found


def _medium() -> ft.Tree:
    return mixed_tree(MIXED, np.random.default_rng(15), ["approve", "decline", "refer"], 0.95)


@pytest.fixture(scope="session")
def curve() -> ft.Frontier:
    """Trees of several sizes, with a knee."""
    found = ft.frontier(on_mixed, JOURNALLED, max_leaves=8, max_queries=800)
    assert len(found) >= 4
    assert found.has_knee
    return found


@pytest.fixture(scope="session")
def reports(
    results: dict[str, ft.Distillation], curve: ft.Frontier, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made: dict[str, Any] = {**results, "curve": curve}
    return {name: result.report(folder / f"{name}.html") for name, result in made.items()}


@pytest.fixture(scope="session")
def hostile() -> ft.Distillation:
    """Names, categories and labels that try to be markup."""
    space = ft.ProductSpace(
        [
            ft.Boolean(HOSTILE, 0.5),
            ft.Categorical("<img src=x onerror=alert(2)>", {"<b>bold</b>": 0.5, '"&quot;': 0.25, None: 0.25}),
            ft.Numeric("${style} ]]> <!--", 0, 1),
        ]
    )
    nodes = [(IsOne(0), 1, 2), (IsIn(1, frozenset({0})), 3, 4), (AtMost(2, 1 / 3), 5, 6), 0, 1, 1, 0]
    tree = ft.Tree.build(space, nodes, ["<i>no</i>", "'yes' & \u2028<script>"])
    return ft.build_top_down(tree, space.whole.space, 0)
