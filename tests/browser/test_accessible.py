"""What an accessibility checker would look for: names, roles, headings, contrast, and a way past the header."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from reports import SIZES

if TYPE_CHECKING:
    from pathlib import Path

Visit = Callable[..., Any]

# For every element with text of its own: the text, its contrast with what is behind it, and what WCAG AA asks for.
CONTRAST = """() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const channel = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.getClientRects().length || element.closest("script, noscript, title, desc")) continue;
    const style = getComputedStyle(element);
    const ink = light(numbers(element.closest("svg") ? style.fill : style.color));
    const paper = light(behind(element));
    const ratio = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.push([element.textContent.trim().slice(0, 40), ratio, large ? 3 : 4.5]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [*SIZES, "curve"])
def test_contrast_is_enough_in_both_themes(name: str, scheme: str, reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports[name], scheme=scheme).page
    page.click("#random")  # highlights a path
    found = page.evaluate(CONTRAST)
    assert len(found) > 60
    assert [entry for entry in found if entry[1] < entry[2]] == []


@pytest.mark.parametrize("name", [*SIZES, "curve"])
def test_everything_has_a_name_and_a_place(name: str, reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports[name]).page
    assert page.evaluate("document.documentElement.lang") == "en"
    identifiers = page.evaluate("[...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert sorted(set(identifiers)) == sorted(identifiers)
    assert page.locator("h1").count() == 1
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((h) => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    unnamed = """[...document.querySelectorAll("input, select")].filter((entry) => !entry.labels.length).length"""
    assert page.evaluate(unnamed) == 0
    empty = """[...document.querySelectorAll("button, a, summary")].filter((e) => !e.textContent.trim()).length"""
    assert page.evaluate(empty) == 0
    pictures = """[...document.querySelectorAll("svg")].filter((svg) => svg.getAttribute("aria-hidden") !== "true"
      && !(svg.getAttribute("role") === "img" && svg.querySelector("title") && svg.querySelector("desc"))).length"""
    assert page.evaluate(pictures) == 0
    pointers = """[...document.querySelectorAll("[aria-labelledby]")].flatMap((e) =>
      e.getAttribute("aria-labelledby").split(" ")).filter((id) => !document.getElementById(id)).length"""
    assert page.evaluate(pointers) == 0
    orphans = """[...document.querySelectorAll("[role=treeitem]")].filter((e) =>
      !e.parentElement.matches("[role=group], [role=tree]")).length"""
    assert page.evaluate(orphans) == 0
    assert page.locator("table").count() == page.locator("table:has(th[scope=col])").count()


def test_first_stop_skips_the_header(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["small"]).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    assert page.locator(".skip").bounding_box()["y"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_every_stop_of_the_keyboard_can_be_seen(reports: dict[str, Path], visit: Visit) -> None:
    page = visit(reports["small"]).page
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        seen.append(page.evaluate("document.activeElement.tagName"))
        ring = "(e) => getComputedStyle(e.matches('[role=treeitem]') ? e.firstElementChild : e).outlineStyle"
        assert page.evaluate(f"({ring})(document.activeElement)") != "none"
    assert {"A", "BUTTON", "LI", "INPUT", "SUMMARY"} <= set(seen)
