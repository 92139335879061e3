"""Drawings of trees: whole, readable in columns and as an outline, the same in a notebook."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import fidelitree as ft
from exported import grown
from fidelitree.display.drawing import text_width
from fidelitree.export import to_svg
from fidelitree.spaces.features import AtMost, IsIn
from fidelitree.trees.tree import Tree
from mixed import MIXED

SVG = "{http://www.w3.org/2000/svg}"
SMALL = Tree.build(MIXED, [(AtMost(2, 1 / 3), 1, 2), (IsIn(1, frozenset({0, 2})), 3, 4), 0, 1, 0], ["<no>", "yes"])


def boxes(text: str) -> list[tuple[float, float, float, float]]:
    rects = [group.find(f"{SVG}rect") for group in ET.fromstring(text).findall(f"{SVG}g")]
    return [tuple(float(rect.get(key)) for key in ("x", "y", "width", "height")) for rect in rects]


def overlap(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    across = one[0] < two[0] + two[2] and two[0] < one[0] + one[2]
    return across and one[1] < two[1] + two[3] and two[1] < one[1] + one[3]


def test_boxes_lie_inside_and_apart() -> None:
    for leaves in (1, 2, 3, 12, 60, 200):
        tree = grown(MIXED, leaves, ["a", "b", "c"])
        for text in (to_svg(tree), to_svg(tree, MIXED)):
            root, found = ET.fromstring(text), boxes(text)
            assert len(found) == 2 * leaves - 1
            assert not any(overlap(one, two) for k, one in enumerate(found) for two in found[:k])
            width, height = float(root.get("width")), float(root.get("height"))
            assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in found)


def test_small_trees_stand_in_columns_and_large_ones_in_an_outline() -> None:
    small, large = boxes(to_svg(SMALL)), boxes(to_svg(grown(MIXED, 60, [0, 1])))
    assert len({y for _, y, _, _ in small}) == 5  # a test stands between its sides
    assert len({x for x, _, _, _ in small}) == 3
    rows = [y for _, y, _, _ in large]
    assert rows == sorted(set(rows))


def test_it_speaks_to_those_who_do_not_see_it() -> None:
    root = ET.fromstring(to_svg(SMALL))
    assert root.get("role") == "img"
    assert root.find(f"{SVG}title").text == "Decision tree of 3 leaves"
    assert root.find(f"{SVG}desc").text == (
        "It asks about job, age, at most 2 tests deep. Upper branches are yes, lower ones no."
    )
    constant = to_svg(Tree.constant(MIXED, 1))
    assert "<title>Decision tree of 1 leaf</title>" in constant
    assert "<title>Decision tree of 2 leaves</title>" in to_svg(grown(MIXED, 2, [0, 1]))
    assert "It asks nothing, at most 0 tests deep." in constant


@pytest.mark.parametrize(("features", "more"), [(12, ""), (13, ", ...")])
def test_twelve_features_are_named_and_no_more(features: int, more: str) -> None:
    chain = [node for i in range(features) for node in ((i, 2 * i + 1, 2 * i + 2), 0)]
    tree = Tree.build(ft.ProductSpace.bernoulli(features), [*chain, 1], [0, 1])
    names = ", ".join(f"x{i}" for i in range(12))
    assert f"It asks about {names}{more}, at most {features} tests deep." in to_svg(tree)


def test_upper_branches_are_yes() -> None:
    tree = Tree.build(ft.ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])
    groups = ET.fromstring(to_svg(tree)).findall(f"{SVG}g")
    height = {group.find(f"{SVG}title").text: float(group.find(f"{SVG}rect").get("y")) for group in groups}
    assert sorted(height, key=height.__getitem__) == ["yes", "x0 = 1", "no"]


def test_it_loads_and_runs_nothing_and_takes_the_colours_around_it() -> None:
    text = to_svg(SMALL, MIXED)
    assert set(re.findall(r"https?://[^\"]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<script|url\(|href|@import|\bid=|\bon\w+=", text)
    assert "currentColor" in text
    assert ">&lt;no&gt;</text>" in text


def test_long_conditions_are_cut_short_and_whole_under_the_pointer() -> None:
    space = ft.ProductSpace([ft.Categorical("c", [f"value number {k}" for k in range(9)])])
    text = to_svg(Tree.build(space, [(IsIn(0, frozenset(range(8))), 1, 2), 0, 1], [0, 1]))
    assert "…</text>" in text
    assert "value number 7}</title>" in text
    assert "age &lt;= 0.333333</text>" in to_svg(SMALL)
    assert "age &lt;= 0.3333333333333333</title>" in to_svg(SMALL)


def test_likely_sides_have_thicker_lines() -> None:
    widths = [float(w) for w in re.findall(r'stroke-width="([\d.]+)"', to_svg(SMALL, MIXED))]
    assert max(widths) > 4 * min(widths)
    assert set(re.findall(r'stroke-width="([\d.]+)"', to_svg(SMALL))) == {"1.20"}


def test_widths_of_text() -> None:
    assert text_width("iii") < text_width("aaa") < text_width("mmm") < text_width("年齢年")


def test_notebooks_show_the_drawing_or_say_how_to_get_it() -> None:
    assert SMALL.to_svg() in SMALL._repr_html_()
    still_drawn, large = (grown(ft.ProductSpace.bernoulli(12), leaves, [0, 1]) for leaves in (300, 301))
    assert still_drawn.to_svg() in still_drawn._repr_html_()
    assert large._repr_html_() == (
        f"<pre>&lt;Tree: 301 leaves, depth {large.depth}, 12 features&gt;: "
        "export.to_svg draws it, export.to_text writes it</pre>"
    )
