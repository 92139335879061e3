"""Numbers are short, and bounds are never rounded in the tree's favour."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fidelitree.display.wording import at_least, at_most, counted, figure, percent, whole


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
        (0.00012, "0.012%"),
        (1e-5, "0.001%"),
        (1e-12, "< 0.001%"),
    ],
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text


@given(st.floats(0, 1), st.integers(2, 4))
@example(2.220446049250313e-16, 2)
def test_bounds_are_rounded_against_the_tree(share: float, digits: int) -> None:
    up, down = float(at_most(share, digits)[:-1]), float(at_least(share, digits)[:-1])
    assert up >= 100 * share * (1 - 1e-9)
    assert up <= 100 * share * (1 + 10 ** (1 - digits)) + 1e-12
    assert down <= 100 - 100 * share * (1 - 1e-9)
    assert up + down == pytest.approx(100)


def test_other_numbers() -> None:
    assert [figure(value) for value in (0, 1e-12, 0.25, 0.123456, 12.3456)] == ["0", "0", "0.25", "0.123", "12.3"]
    assert whole(1234567) == "1,234,567"
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
