"""A run that ends without what was asked for leaves a curve: no run with answers in hand ends empty."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.runs import economics, frontier_of_attempts
from fidelitree.spaces.features import Numeric

SPACE = ft.ProductSpace([Numeric(name, 0, 1) for name in "abcdef"])


def slope(batch: Any) -> Any:
    """Which no small tree follows closely."""
    columns = [np.asarray(batch[name]) for name in "abcdef"]
    return sum(columns[:3]) > sum(columns[3:])


def errors(curve: ft.Frontier) -> list[float]:
    fresh = SPACE.draw(20_000, seed=9)
    return [float((point.tree.predict(fresh) != slope(fresh)).mean()) for point in curve]


def test_a_budget_that_is_too_small_leaves_a_curve() -> None:
    result = ft.distill(slope, SPACE, 0.02, max_queries=1_500)
    assert result.reason == "max_queries = 1500"
    assert result.frontier is not None
    assert len(result.frontier) >= 5
    assert all(
        error <= point.error_bound for error, point in zip(errors(result.frontier), result.frontier, strict=True)
    )


def test_out_of_reach_the_knee_is_returned_with_what_each_size_reached(monkeypatch: Any) -> None:
    monkeypatch.setattr(economics, "HOPELESS_FROM", 1_200)
    monkeypatch.setattr(economics, "HOPE", 0.0)
    result = ft.distill(slope, SPACE, 0.02)
    curve = result.frontier
    assert curve is not None
    assert len(curve) >= 5
    assert not result.certificate.holds
    assert result.certificate.epsilon == 0.02
    prices = {point.leaves: point.error_bound + 0.005 * point.leaves for point in curve}
    assert prices[result.leaves] == min(prices.values())
    assert result.reason.startswith("no small tree was found that is good enough: after ")
    assert re.search(r" labels 1 leaf reaches [\d.]+%, .* reach [\d.]+%; 2% needs more than \d+ leaves", result.reason)


def test_a_bound_that_is_just_above_epsilon_does_not_look_like_it() -> None:
    points = (SimpleNamespace(tree=SimpleNamespace(size=174), error_bound=bound) for bound in (0.155, 0.15001))
    told = [frontier_of_attempts._reaching(point, 0.15) for point in points]
    assert told == ["174 leaves reach 15.5%", "174 leaves reach 15.1%"]


def test_before_the_first_fit_there_is_a_curve_too() -> None:
    front = ft.frontier(slope, SPACE, max_queries=250)
    assert len(front) >= 3
    assert front[0].leaves == 1


def test_a_result_has_the_sizes_that_a_frontier_has() -> None:
    """As far as each is better than those below it, and from the same answers."""
    result = ft.distill(slope, SPACE, 0.05, seed=1)
    curve = result.frontier
    assert curve is not None
    sizes, bounds = [one.leaves for one in curve], [one.error_bound for one in curve]
    assert {*sizes} <= {*frontier_of_attempts.GRID, result.leaves}
    assert len({*sizes} & {size for size in frontier_of_attempts.GRID if size < result.leaves}) >= 4
    assert bounds == sorted(bounds, reverse=True)
    batch = SPACE.draw(20_000, seed=2)
    for point in curve:
        assert np.mean(point.tree.predict(batch) != slope(batch)) <= point.error_bound


@pytest.mark.parametrize(("classes", "labels"), [(100, 2_000), (1_000, 1_000)])
def test_of_many_equal_classes_no_tree_has_a_bound_that_says_nothing(classes: int, labels: int) -> None:
    """Bounds of 1 once counted as close to an error of .9, and every test ended at once."""
    space = ft.ProductSpace([ft.Numeric("u", 0, 1)])

    def part(rows: Any) -> Any:
        return np.char.add("part ", np.floor(rows["u"] * classes).astype(int).astype(str))

    found = ft.frontier(part, space, max_queries=labels, seed=0)
    assert found[-1].leaves == 64
    assert [point.leaves for point in found if point.error_bound == 1] == []
    if found[0].leaves > 1:
        with pytest.raises(ft.ParameterError, match=rf"leaves must be at least {found[0].leaves}, .*; got 1 - "):
            found.at(leaves=1)
