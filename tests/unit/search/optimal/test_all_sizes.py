"""The dynamic programs over restrictions find the fewest leaves for every error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree.search.optimal.lattice import axes_of
from fidelitree.search.optimal.optimum import entries, least_errors
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.trees import nested
from fidelitree.trees.curve import Curve
from small import cube, random_tree

if TYPE_CHECKING:
    from collections.abc import Callable


def curve_of(target: Callable[[np.ndarray], np.ndarray], space: ft.ProductSpace, most: int) -> Curve:
    codes = np.asarray(target(cube(len(space)))).astype(np.intp)
    return least_errors(*axes_of(space, codes), most)


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_every_size_has_a_tree_with_exactly_the_least_error(p: float) -> None:
    target = ft.targets.tribes(2, 3)
    space = ft.ProductSpace.bernoulli(6, p)
    curve = curve_of(target, space, 20)
    assert (np.diff(curve.errors) <= 1e-15).all()
    for leaves in range(1, 21):
        tree = nested.build(space, curve.build(leaves), [0, 1])
        assert tree.size <= leaves
        assert ft.tree_error(tree, target, space) == pytest.approx(curve.errors[leaves - 1], abs=1e-12)


def test_no_pruning_of_any_grown_tree_beats_it() -> None:
    rng = np.random.default_rng(5)
    space = ft.ProductSpace.bernoulli(5, rng.uniform(0.1, 0.9, 5))
    for _ in range(10):
        target = random_tree(space, rng, [0, 1], 0.9)
        if len(target.labels[np.unique(target.code[target.code >= 0])]) < 2:
            continue
        grown = Prunings(ft.build_top_down(target, space, 0).tree, space).disagreements
        best = curve_of(target.predict, space, len(grown)).errors
        assert (best <= grown + 1e-12).all()
        assert best[-1] == pytest.approx(0, abs=1e-12)


def test_features_that_do_not_matter_may_be_left_out() -> None:
    space = ft.ProductSpace.bernoulli(9, 0.3)
    curve = least_errors(*axes_of(space, np.array([0, 1, 1, 0]), features=[2, 7]), 4)
    tree = nested.build(space, curve.build(4), ["no", "yes"])
    assert set(tree.feature.tolist()) == {-1, 2, 7}
    assert curve.errors[3] == 0
    assert curve.errors[0] == pytest.approx(0.42)


def test_curves_beyond_the_most_leaves_are_not_kept() -> None:
    target, space = ft.targets.majority(7), ft.ProductSpace.bernoulli(7)
    whole, few = curve_of(target, space, 128), curve_of(target, space, 12)
    assert np.array_equal(few.errors, whole.errors[:12])
    assert len(few.errors) == 12
    axes, _ = axes_of(space, np.asarray(target(cube(7))))
    assert entries(axes, 1) == 3**7
    assert entries(axes, 128) == 2**14


@pytest.mark.parametrize("p", [0.5, 0.2])
def test_by_depth_it_is_what_a_slow_recursion_finds(p: float) -> None:
    target, space = ft.targets.tribes(2, 2), ft.ProductSpace.bernoulli(4, p)
    table = np.asarray(target(cube(4))).tolist()
    axes, grid = axes_of(space, np.array(table))
    curve = least_errors(axes, grid, 9, by="depth")
    wanted = [reference.least_error(table, [p] * 4, depth) for depth in range(5)]
    assert curve.errors.tolist() == pytest.approx(wanted, abs=1e-12)
    for depth in range(5):
        tree = nested.build(space, curve.build(depth + 1), [0, 1])
        assert tree.depth <= depth
        assert ft.tree_error(tree, target, space) == pytest.approx(wanted[depth], abs=1e-12)
