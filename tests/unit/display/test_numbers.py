"""Numbers are short, and bounds are never rounded in the tree's favour."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fidelitree.display.wording import at_least, at_most, counted, figure, goal_of, percent, whole


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.999, "99.9%"),
        (0.99999, "> 99.9%"),
        (0.3, "30%"),
        (0.07, "7%"),
        (0.123456, "12.3%"),
        (0.0077, "0.77%"),
        (0.00012, "0.01%"),
        (1e-5, "< 0.01%"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


@given(st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1)))
@example(2.220446049250313e-16, None)
@example(0.0498, 0.05)
def test_bounds_are_rounded_against_the_tree_with_two_digits_at_most(share: float, goal: float | None) -> None:
    up, down = float(at_most(share, goal)[:-1]), float(at_least(share, goal)[:-1])
    assert 100 * share * (1 - 1e-9) <= up <= 100 * share + 0.1 + 1e-9
    assert down <= 100 - 100 * share * (1 - 1e-9)
    assert up + down == pytest.approx(100)
    assert all(len(text.rstrip("%").partition(".")[2]) <= 2 for text in (at_most(share, goal), at_least(share, goal)))


def test_a_second_digit_tells_a_bound_from_the_goal() -> None:
    assert [at_least(bound, 0.05) for bound in (0.0498, 0.0502, 0.03, 0.05)] == ["95.02%", "94.9%", "97%", "95%"]
    assert [at_most(bound, 0.05) for bound in (0.0498, 0.0502, 0.03, 0.05)] == ["4.98%", "5.1%", "3%", "5%"]
    assert goal_of(0.05) == "95%"
    assert goal_of(0.00005) == "99.995%"
    assert goal_of(2.2e-309) == "100%", "1 - epsilon is 1 to the last bit"


def test_other_numbers() -> None:
    assert [figure(value) for value in (0, 1e-12, 0.25, 0.123456, 12.3456)] == ["0", "0", "0.25", "0.123", "12.3"]
    assert whole(1234567) == "1,234,567"
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
