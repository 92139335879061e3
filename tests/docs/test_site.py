"""The site: every page has its place in the navigation, and it is built without a warning and without a network."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FETCHED = re.compile(r"""<(?:script|img|iframe|source|video)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*rel=["']?"""
                     r"""(?:stylesheet|preconnect|icon|preload)[^>]*href=["']?(?:https?:)?//""")  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fresh build."""
    missing = [name for name in ("mkdocs", "material", "mkdocstrings") if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    # Proxies that do not answer: a build that fetched anything would fail.
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
        "http_proxy": "http://[::1]:9",
        "https_proxy": "http://[::1]:9",
    }
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder


def _pages(nav: list[Any]) -> Iterator[str]:
    for entry in nav:
        for place in [entry] if isinstance(entry, str) else entry.values():
            yield from [place] if isinstance(place, str) else _pages(place)


def test_every_page_is_in_the_navigation_or_left_out_of_it() -> None:
    yaml = pytest.importorskip("yaml")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = [*_pages(settings["nav"]), *settings["not_in_nav"].split()]
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.glob("**/*.md"))


def test_learners_are_shown_as_they_are_called(site: Path) -> None:
    text = re.sub(r"<[^>]*>", "", (site / "api" / "learners.html").read_text(encoding="utf-8"))
    (shown,) = re.findall(r"lowest_rank\((.*?)\)", text, flags=re.DOTALL)[:1]
    assert re.findall(r"\w+(?=\s*[:=,])", shown)[:2] == ["target", "Target"], shown


def test_site_is_built_without_a_warning(site: Path) -> None:
    built = {str(page.relative_to(site).with_suffix("")) for page in site.glob("**/*.html")} - {"404"}
    built -= {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.glob("demo/*.html")}
    assert built == {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.glob("**/*.md")}


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    found = [
        (page.name, match[0]) for page in site.glob("**/*.html") for match in FETCHED.finditer(page.read_text("utf-8"))
    ]
    assert found == []
    styles = "".join(style.read_text("utf-8") for style in site.glob("**/*.css"))
    assert re.findall(r"@import|url\(['\"]?(?:https?:)?//", styles) == []


def test_search_works_from_the_disk(site: Path, absent: Callable[[str], NoReturn]) -> None:
    """No server and no network: the index is a script, and the search runs in a frame."""
    program = os.environ.get("FIDELITREE_CHROMIUM") or shutil.which("chromium")
    if program is None or find_spec("playwright") is None:
        absent("no Chromium or no Playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page, requests = browser.new_page(), []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.evaluate("document.getElementById('__search').click()")
        page.focus("input[name=query]")
        page.keyboard.type("Chow-Liu")
        page.locator(".md-search-result__link").first.wait_for(state="attached")
        assert "inputs.html" in "".join(
            link.get_attribute("href") or "" for link in page.locator(".md-search-result__link").all()
        )
        assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
        browser.close()


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.com/a.js"></script>',
        "<link rel=stylesheet href=//example.com/a.css>",
        '<link rel="icon" href="http://example.com/a.png">',
    ],
)
def test_what_is_fetched_is_noticed(text: str) -> None:
    assert FETCHED.search(text)


def test_every_public_name_is_on_the_page_of_names() -> None:
    import fidelitree

    page = "\n".join(one.read_text(encoding="utf-8") for one in sorted(DOCS.glob("api/*.md")))
    names = [name for name in fidelitree.__all__ if name != "__version__"]
    assert [name for name in names if not re.search(rf"^::: fidelitree\.(errors$|{name}\b)", page, re.MULTILINE)] == []


@pytest.fixture(scope="module")
def quoting() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "peer_tables.py"))


@pytest.mark.parametrize("name", ["README.md", "docs/peers.md"])
def test_quoted_tables_are_those_that_were_measured(name: str, quoting: dict[str, Any]) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert quoting["PART"].search(text) is not None
    assert quoting["quoted"](text) == text, "run: python docs/peer_tables.py"
    row = next(line for line in text.splitlines() if line.startswith("| iid p=0.5"))
    assert quoting["quoted"](text.replace(row, row.replace("1", "2"))) == text
