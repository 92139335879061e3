"""The documentation is searched from the disk: no server and no network."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_search_works_from_the_disk(site: Path, browser: Any) -> None:
    """The index is a script, and the search runs in a frame."""
    page, requests = browser.new_page(), []
    page.on("request", lambda request: requests.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.evaluate("document.getElementById('__search').click()")
    page.focus("input[name=query]")
    page.keyboard.type("Chow-Liu")
    page.locator(".md-search-result__link").first.wait_for(state="attached")
    links = page.locator(".md-search-result__link").all()
    assert "inputs.html" in "".join(link.get_attribute("href") or "" for link in links)
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()
