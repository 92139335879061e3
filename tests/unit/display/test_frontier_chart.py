"""The curve as text and as SVG."""

from __future__ import annotations

import re

import pytest

from fidelitree.display.frontier_chart import Mark, chart, summary, table

MARKS = [Mark(1, 0.3, 0.4), Mark(2, 0.2, 0.35), Mark(5, 0.08, 0.1, knee=True), Mark(64, 0.0, 0.003)]


@pytest.mark.parametrize(
    ("mark", "sure", "most"),
    [
        (Mark(1, 0.30001, 0.39991), "60.0%", "70.0%"),
        (Mark(1, 0.3, 0.40009), "59.9%", "70.0%"),
        (Mark(1, 0.0, 0.0031), "99.69%", "-"),
        (Mark(1, 0.0004, 1.0), "nothing", "99.96%"),
        (Mark(1, 0.25, 0.25), "75.0%", "75.0%"),
    ],
)
def test_no_end_is_rounded_in_the_trees_favour(mark: Mark, sure: str, most: str) -> None:
    assert (mark.agreement, mark.at_most) == (sure, most)


def test_the_table_marks_the_knee() -> None:
    assert [line.endswith("<- knee") for line in table(MARKS)] == [False, False, False, True, False]
    assert len({line.index("%") for line in table(MARKS)[1:3]}) == 1, "columns are aligned"


def test_the_drawing_has_a_point_for_each_tree_with_both_ends() -> None:
    drawn = chart(MARKS, chosen=2)
    assert drawn.count('class="point') == len(MARKS)
    assert drawn.count('class="reach"') == 2 * len(MARKS)
    assert re.findall(r'class="point here" data-point="(\d)"', drawn) == ["2"]
    assert ">knee</text>" in drawn
    assert "agrees on at least 90.0%, at most 92.0%" in drawn
    places = [float(x) for x in re.findall(r'<circle cx="([\d.]+)"', drawn)]
    assert places == sorted(places)
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)"', drawn)]
    assert heights == sorted(heights, reverse=True), "more agreement is higher"
    assert all(0 <= y <= 250 for y in heights)


def test_a_single_exact_point_is_drawn() -> None:
    drawn = chart([Mark(1, 0.5, 0.5)])
    assert (drawn.count("<circle"), drawn.count('class="reach"')) == (1, 0)


def test_the_curve_can_be_heard() -> None:
    assert summary(MARKS[:3]) == "Certified agreement: 1 leaf 60.0%, 2 leaves 65.0%, 5 leaves 90.0% (the knee)."


def test_numbers_are_within_a_tolerance() -> None:
    lines = table([Mark(1, 0.3, 0.4, tolerance=2.5), Mark(5, 0.08, 0.1, tolerance=2.5)])
    assert lines[0] == "leaves  is within 2.5 on at least  at most"
    assert len({len(line) for line in lines}) == 1, "columns are aligned"
