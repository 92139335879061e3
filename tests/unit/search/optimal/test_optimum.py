"""The dynamic program over all restrictions finds what trying every tree finds."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree.asking.limits import BudgetSpent
from fidelitree.search.optimal.lattice import Lattice, axes_of
from fidelitree.search.optimal.optimum import OBJECTIVES, Optimum
from fidelitree.trees import nested
from small import cube


def slow(table: list[int], biases: list[Fraction]) -> dict[str, float]:
    found = reference.optima(table, biases)
    return {"depth": float(found.depth), "average_depth": float(found.average_depth)}


@pytest.mark.parametrize("seed", range(12))
def test_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = (rng.random(16) < rng.choice([0.2, 0.5])).astype(int).tolist()
    biases = [Fraction(int(p), 8) for p in rng.integers(1, 8, 4)]
    space = ft.ProductSpace.bernoulli(4, [float(p) for p in biases])
    axes, grid = axes_of(space, np.array(table))
    wanted = slow(table, biases)
    points = {point: table[sum(v << i for i, v in enumerate(point))] for point in itertools.product((0, 1), repeat=4)}
    wanted["leaves"] = reference.least_leaves(points, ["boolean"] * 4, one_value=False)
    for objective in OBJECTIVES:
        best = Optimum(axes, grid, objective)
        assert best.cost == pytest.approx(wanted[objective], abs=1e-12)
        tree = nested.build(space, best.nested(), [0, 1])
        assert tree.predict(cube(4)).tolist() == table
        have = {"leaves": tree.size, "depth": tree.depth, "average_depth": tree.average_depth(space)}
        assert have[objective] == pytest.approx(best.cost, abs=1e-12)


@pytest.mark.every(5)  # the reference takes a second
@pytest.mark.parametrize("one_value", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_any_features(seed: int, one_value: bool) -> None:
    rng = np.random.default_rng(seed)
    space = ft.ProductSpace(
        [
            ft.Categorical("job", ["clerk", "nurse", "pilot", "smith"]),
            ft.Boolean("owner", 0.3),
            ft.Numeric.from_values("age", [20, 30, 40]),
        ]
    )
    codes = rng.integers(0, 2, 24) if seed else (np.arange(24) % 4 == 2).astype(int)
    axes, grid = axes_of(space, codes, one_value)
    points = {(i % 4, i // 4 % 2, i // 8): int(code) for i, code in enumerate(codes)}
    best = Optimum(axes, grid)
    assert best.cost == reference.least_leaves(points, ["categorical", "boolean", "numeric"], one_value)
    tree = nested.build(space, best.nested(), ["no", "yes"])
    assert tree.size == best.cost
    values = np.array([[a, b, 20 + 10 * c] for a, b, c in points], float)
    assert tree.predict_inner(values).tolist() == [("no", "yes")[code] for code in points.values()]
    if one_value:
        assert all(len(test.codes) == 1 for test in tree.tests.values() if test.kind == "categorical")


@pytest.mark.parametrize("seed", range(12))
def test_missing_numbers_may_be_on_either_side(seed: int) -> None:
    space = ft.ProductSpace(
        [ft.Numeric.from_values("age", [20, 30, 40, None]), ft.Numeric.from_values("rooms", [1, 2, None])]
    )
    codes = np.random.default_rng(seed).integers(0, 2 + seed % 2, 12)
    numbers = [(0, 1, 2, -1), (0, 1, -1)]
    points = {(numbers[0][i % 4], numbers[1][i // 4]): int(code) for i, code in enumerate(codes)}
    best = Optimum(*axes_of(space, codes))
    assert best.cost == reference.least_leaves(points, ["gap", "gap"], False)
    tree = nested.build(space, best.nested(), ["a", "b", "c"])
    assert tree.size == best.cost
    values = np.array([[np.nan if a < 0 else 20 + 10 * a, np.nan if b < 0 else 1 + b] for a, b in points])
    assert tree.predict_inner(values).tolist() == ["abc"[code] for code in points.values()]


def test_what_cannot_be_drawn_does_not_count() -> None:
    space = ft.ProductSpace([ft.Boolean("a", 1.0), ft.Categorical("b", {"x": 0.5, "y": 0.0, "z": 0.5})])
    axes, grid = axes_of(space, np.array([0, 1, 0, 0, 1, 1]))  # where a = 1: x 1, y 0, z 1
    assert (axes, grid.tolist()) == ([], 1)
    assert Optimum(axes, grid).cost == 1
    assert Optimum(axes, grid).nested() == 1


def test_values_that_are_alike_are_one_cell() -> None:
    space = ft.ProductSpace([ft.Categorical("c", range(9)), ft.Numeric.from_values("x", range(9))])
    codes = np.array([[(c % 3 == 0) ^ (x > 4) for c in range(9)] for x in range(9)]).ravel().astype(int)
    axes, grid = axes_of(space, codes)
    assert [len(axis.cells) for axis in axes] == [2, 2]
    assert grid.shape == (2, 2)
    assert Lattice(axes).restrictions == 9
    assert len(axes_of(space, codes, one_value=True)[0][0].cells) == 9


def test_a_watch_may_end_it() -> None:
    def enough() -> None:
        raise BudgetSpent("max_seconds = 0")

    axes, grid = axes_of(ft.ProductSpace.bernoulli(3), np.array([0, 1, 1, 0, 1, 0, 0, 1]))
    with pytest.raises(BudgetSpent):
        Optimum(axes, grid, watch=enough)


def test_many_labels() -> None:
    space = ft.ProductSpace.bernoulli(9)
    axes, grid = axes_of(space, np.arange(512))
    best = Optimum(axes, grid)
    assert best.cost == 512
    assert nested.build(space, best.nested(), range(512)).predict(cube(9)).tolist() == list(range(512))
