"""A tree over the cells of its tests is the tree: what the frontier says about it is how trees disagree."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.exact.paths import disagreement
from fidelitree.search.optimal.affordable import SETS
from fidelitree.search.optimal.lattice import masses_of
from fidelitree.search.optimal.optimum import least_errors
from fidelitree.search.optimal.substitutes import cells_of
from fidelitree.spaces.features import AtMost, IsIn, IsOne
from fidelitree.trees import nested
from mixed import GAPS, mixed_tree

SPACE = ft.ProductSpace(
    [
        ft.Numeric("size", 0, 10),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
        ft.Boolean("owner", 0.3),
        ft.Numeric.from_values("age", [20, 30, 30, 40]),
        ft.Boolean("robot", 0.0),
    ]
)
NODES = [
    (AtMost(0, 2.5), 1, 8),
    (IsIn(1, frozenset({1})), 2, 5),
    (AtMost(3, 25.0), 3, 4),
    0,
    1,
    (IsOne(2), 6, 7),
    2,
    0,
    (AtMost(0, 1.0), 9, 12),
    (AtMost(3, 35.0), 10, 11),
    1,
    0,
    (IsOne(4), 13, 14),
    2,
    1,
]


def test_cells_are_what_the_tests_tell_apart() -> None:
    tree = ft.Tree.build(SPACE, NODES, ["a", "b", "c"])
    found = cells_of(tree, SPACE)
    assert found is not None
    axes, codes = found
    assert [(axis.feature, len(axis.cells)) for axis in axes] == [(0, 3), (1, 2), (2, 2), (3, 3)]
    assert codes.shape == (3, 2, 2, 3)
    masses = masses_of(axes)
    assert math.fsum(masses.ravel()) == pytest.approx(1, abs=1e-12)
    for code, label in enumerate("abc"):
        alone = ft.Tree.constant(SPACE, label)
        assert masses[codes != code].sum() == pytest.approx(disagreement(tree, alone, SPACE), abs=1e-12)


def test_the_frontier_of_a_tree() -> None:
    tree = ft.Tree.build(SPACE, NODES, ["a", "b", "c"])
    found = cells_of(tree, SPACE)
    assert found is not None
    curve = least_errors(*found, tree.size)
    assert curve.errors[-1] == pytest.approx(0, abs=1e-12)
    for leaves, error in enumerate(curve.errors.tolist(), start=1):
        small = nested.build(SPACE, curve.build(leaves), tree.labels)
        assert small.size <= leaves
        assert disagreement(small, tree, SPACE) == pytest.approx(error, abs=1e-12)
    assert curve.errors[6] == pytest.approx(0, abs=1e-12)  # the test of what is never drawn is not needed


@pytest.mark.parametrize("seed", range(5))
def test_the_frontier_of_a_tree_with_gaps(seed: int) -> None:
    gaps = ft.ProductSpace(GAPS.features[2:4])
    tree = mixed_tree(gaps, np.random.default_rng(seed), ["a", "b", "c"], 0.6)
    found = cells_of(tree, gaps)
    assert found is not None
    curve = least_errors(*found, min(tree.size, 8))
    for leaves, error in enumerate(curve.errors.tolist(), start=1):
        small = nested.build(gaps, curve.build(leaves), tree.labels)
        assert small.size <= leaves
        assert disagreement(small, tree, gaps) == pytest.approx(error, abs=1e-12)


def test_too_many_cells() -> None:
    space = ft.ProductSpace([ft.Categorical("c", range(20)), ft.Numeric("x", 0, 1)])
    nodes: list[object] = []
    for value in range(SETS):
        nodes += [(IsIn(0, frozenset({value})), len(nodes) + 2, len(nodes) + 1), value % 2]
    assert cells_of(ft.Tree.build(space, [*nodes, 0], [0, 1]), space) is None
    wide = ft.ProductSpace([ft.Numeric(f"x{i}", 0, 1) for i in range(17)])
    chain: list[object] = []
    for i in range(17):
        chain += [(AtMost(i, 0.5), len(chain) + 2, len(chain) + 1), i % 2]
    assert cells_of(ft.Tree.build(wide, [*chain, 0], [0, 1]), wide) is None
    assert np.array_equal(cells_of(ft.Tree.constant(wide, 1), wide)[1], 0)  # type: ignore[index]
