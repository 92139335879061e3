"""The dynamic program over restrictions finds the fewest leaves for every error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree.exact.frontier import Frontier, entries
from fidelitree.exact.lattice import axes_of
from fidelitree.search.prune import Prunings
from small import cube, random_tree


def frontier_of(target: Callable[[np.ndarray], np.ndarray], space: ft.ProductSpace, most: int) -> Frontier:
    codes = np.asarray(target(cube(len(space)))).astype(np.intp)
    return Frontier(*axes_of(space, codes), most)


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_every_size_has_a_tree_with_exactly_the_least_error(p: float) -> None:
    target = ft.targets.tribes(2, 3)
    space = ft.ProductSpace.bernoulli(6, p)
    frontier = frontier_of(target, space, 20)
    assert (np.diff(frontier.errors) <= 1e-15).all()
    for leaves in range(1, 21):
        tree = frontier.tree(space, [0, 1], leaves)
        assert tree.size <= leaves
        assert ft.tree_error(tree, target, space) == pytest.approx(frontier.errors[leaves - 1], abs=1e-12)


def test_no_pruning_of_any_grown_tree_beats_it() -> None:
    rng = np.random.default_rng(5)
    space = ft.ProductSpace.bernoulli(5, rng.uniform(0.1, 0.9, 5))
    for _ in range(10):
        target = random_tree(space, rng, [0, 1], 0.9)
        if len(target.labels[np.unique(target.code[target.code >= 0])]) < 2:
            continue
        grown = Prunings(ft.build_top_down(target, space, 0).tree, space).disagreements
        best = frontier_of(target.predict, space, len(grown)).errors
        assert (best <= grown + 1e-12).all()
        assert best[-1] == pytest.approx(0, abs=1e-12)


def test_features_that_do_not_matter_may_be_left_out() -> None:
    space = ft.ProductSpace.bernoulli(9, 0.3)
    frontier = Frontier(*axes_of(space, np.array([0, 1, 1, 0]), features=[2, 7]), 4)
    tree = frontier.tree(space, ["no", "yes"], 4)
    assert set(tree.feature.tolist()) == {-1, 2, 7}
    assert frontier.errors[3] == 0
    assert frontier.errors[0] == pytest.approx(0.42)


def test_curves_beyond_the_most_leaves_are_not_kept() -> None:
    target, space = ft.targets.majority(7), ft.ProductSpace.bernoulli(7)
    whole, few = frontier_of(target, space, 128), frontier_of(target, space, 12)
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
    frontier = Frontier(axes, grid, 9, by="depth")
    wanted = [reference.least_error(table, [p] * 4, depth) for depth in range(5)]
    assert frontier.errors.tolist() == pytest.approx(wanted, abs=1e-12)
    for depth in range(5):
        tree = frontier.tree(space, [0, 1], depth)
        assert tree.depth <= depth
        assert ft.tree_error(tree, target, space) == pytest.approx(wanted[depth], abs=1e-12)
