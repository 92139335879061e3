"""The site: every page has its place in the navigation, and it is built without a warning and without a network."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FETCHED = re.compile(r"""<(?:script|img|iframe|source|video)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*rel=["']?"""
                     r"""(?:stylesheet|preconnect|icon|preload)[^>]*href=["']?(?:https?:)?//""")  # fmt: skip


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


@pytest.mark.parametrize("name", ["theory", "tight", "errata", "proofs", "paper"])
def test_formulas_are_typeset(name: str, site: Path) -> None:
    page = (site / f"{name}.html").read_text(encoding="utf-8")
    assert page.count("<math ") >= 5
    assert "arithmatex" not in page
    assert (
        re.findall(r"\$\$?\\\w+|\b(?:Delta|kappa|epsilon)[*\\^]", re.sub(r"<pre.*?</pre>", "", page, flags=re.DOTALL))
        == []
    )


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
    return runpy.run_path(str(DOCS / "measured.py"))


@pytest.mark.parametrize("name", ["../README", "peers", "campaign", "transfer", "frontiers"])
def test_quoted_tables_are_those_that_were_measured(name: str, quoting: dict[str, Any]) -> None:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert quoting["PART"].search(text) is not None
    assert quoting["quoted"](text) == text, "run: python docs/measured.py"
    row = next(line for line in text.splitlines() if re.match(r"\| (iid p=0.5|`ft.certify`|rows|2 \|)", line))
    assert quoting["quoted"](text.replace(row, row.replace("0", "7"))) == text
