"""The exact error of a tree against any target: by paths, by splitting a table, and when neither may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.exact.engine import error_inside, exact_subfunction
from fidelitree.trees.tree import Tree
from small import LABEL_SETS, cube, random_tree, true_error


@pytest.mark.parametrize("labels", LABEL_SETS, ids=str)
@pytest.mark.parametrize("n", [1, 3, 6])
def test_it_is_that_of_all_inputs_for_any_kind_of_target(n: int, labels: list[Any]) -> None:
    rng = np.random.default_rng(n)
    for _ in range(10):
        space = ft.ProductSpace.bernoulli(n, np.where(rng.random(n) < 0.2, rng.integers(0, 2, n), rng.random(n)))
        tree, target = random_tree(space, rng, labels, 0.7), random_tree(space, rng, labels, 0.9)
        expected = true_error(tree, target, space)
        for kind in (target, target.predict, ft.targets.TruthTable(target(cube(n)))):
            assert ft.tree_error(tree, kind, space) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_a_table_and_paths_agree_where_both_may_answer() -> None:
    rng = np.random.default_rng(4)
    space = ft.ProductSpace.bernoulli(14, rng.random(14))
    tree, target = (random_tree(space, rng, [0, 1, 2], 0.7) for _ in range(2))
    table = exact_subfunction(Counted(target.predict, space), space.whole, 1 << 14)
    assert error_inside(tree, table, space) == pytest.approx(ft.tree_error(tree, target, space), rel=1e-11)


def test_a_label_that_the_target_never_answers_is_always_wrong() -> None:
    space = ft.ProductSpace.bernoulli(2, 0.3)
    tree = Tree.build(space, [(0, 1, 2), 0, 1], ["a", "z"])
    assert ft.tree_error(tree, lambda batch: np.full(len(batch), "a"), space) == pytest.approx(0.3)


def test_branches_without_mass_do_not_count() -> None:
    space = ft.ProductSpace.bernoulli(2, [0.0, 0.5])
    tree = Tree.build(space, [(0, 1, 2), 0, 1], [0, 1])
    assert ft.tree_error(tree, lambda batch: np.zeros(len(batch), int), space) == 0


def test_nobody_is_asked_about_more_inputs_than_may_be() -> None:
    space = ft.ProductSpace.bernoulli(21)
    with pytest.raises(ft.ParameterError) as caught:
        ft.tree_error(Tree.constant(space, 0), lambda batch: pytest.fail("asked"), space)
    assert str(caught.value) == (
        "target must be a tree, or have at most 2^20 inputs for its error to be exact; got 2^21 inputs. certify draws "
        "inputs instead"
    )


def test_a_tree_of_another_space_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match="space must have the tree's 2 features"):
        ft.tree_error(Tree.constant(ft.ProductSpace.bernoulli(2), 0), min, ft.ProductSpace.bernoulli(3))
