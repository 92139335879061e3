"""Precision and recall of each answer, together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.runs.agree.by_class import ClassErrors
from journals import MIXED, on_mixed

TREE = ft.distill(on_mixed, MIXED, epsilon=0.2).tree


def shares(label: Any) -> tuple[float, float]:
    """The truth, by many inputs."""
    batch = MIXED.draw(200_000, seed=77)
    given, answered = on_mixed(batch) == label, TREE.predict(batch) == label
    both = (given & answered).mean()
    return both / answered.mean(), both / given.mean()


def test_the_truth_is_inside() -> None:
    found = ft.errors_by_class(TREE, on_mixed, MIXED, seed=1)
    assert {one.label for one in found} == {"family", "gold", "none"}
    for one in found:
        if one.label in TREE.labels[TREE.code[TREE.feature < 0]].tolist():
            precision, recall = shares(one.label)
            assert one.precision[0] <= precision <= one.precision[1]
            assert one.recall[0] <= recall <= one.recall[1]
            assert one.precision[1] - one.precision[0] <= 0.1
    assert str(found[0]).startswith("family: precision ")


def test_a_rare_answer_is_tested_inside_its_leaves() -> None:
    """One input in 256: draws from everywhere would need 100 000 labels for as much."""
    space = ft.ProductSpace.bernoulli(10)
    nodes: list[Any] = []
    for bit in range(8):
        nodes += [(bit, 2 * bit + 1, 2 * bit + 2), 0]
    tree = ft.Tree.build(space, [*nodes, 1], [0, 1])
    rare = ft.errors_by_class(
        tree, lambda batch: batch[:, :8].all(axis=1).astype(int), space, seed=0, max_queries=4_000
    )[1]
    assert rare.label == 1
    assert rare.answered >= 200
    assert rare.precision[0] > 0.9


def test_a_rare_answer_is_tested_in_other_worlds_too() -> None:
    """Features that depend on each other: draws inside a leaf follow the world, which two components make."""
    parts = [ft.ProductSpace.bernoulli(10, p) for p in (0.45, 0.55)]
    world = ft.Mixture([(0.5, one) for one in parts])
    nodes: list[Any] = []
    for bit in range(8):
        nodes += [(bit, 2 * bit + 1, 2 * bit + 2), 0]
    tree = ft.Tree.build(world.product, [*nodes, 1], [0, 1])

    def target(batch: Any) -> Any:
        return (batch[:, :8].all(axis=1) & (batch[:, 8] | batch[:, 9])).astype(int)

    rare = ft.errors_by_class(tree, target, world, seed=0, max_queries=6_000)[1]
    weights = np.array([0.45**8, 0.55**8])
    truth = float(weights @ (1 - np.array([0.55, 0.45]) ** 2) / weights.sum())
    assert rare.precision[0] <= truth <= rare.precision[1]
    assert rare.precision[1] - rare.precision[0] < 0.12


def test_over_rows_it_says_what_it_assumes() -> None:
    rows = ft.Rows(MIXED.draw(400, seed=1))
    tree = ft.Tree.constant(rows.product, "no")
    (one, *_) = ft.errors_by_class(tree, on_mixed, rows, seed=0, within=0.2)
    assert str(one).endswith(" (assumes: the rows are independent of each other; the target was not fitted to them)")
    (one, *_) = ft.errors_by_class(ft.Tree.constant(MIXED, "no"), on_mixed, MIXED, seed=0, within=0.2)
    assert "assumes" not in str(one)


def test_levels_add_up() -> None:
    found = ft.errors_by_class(TREE, on_mixed, MIXED, 0.04, seed=1, max_queries=300)
    assert 2 * sum(one.level for one in found) <= 0.04


def test_a_label_that_the_tree_does_not_know() -> None:
    space = ft.ProductSpace.bernoulli(4)
    found = ft.errors_by_class(ft.Tree.constant(space, 0), lambda batch: batch[:, 0], space, seed=0)
    new = next(one for one in found if one.label == 1)
    assert new.recall[1] < 0.1
    assert (new.answered, new.precision) == (0, (0.0, 1.0))


def test_arguments() -> None:
    with pytest.raises(ft.ParameterError, match="within must be above 0 and below 1; got 2"):
        ft.errors_by_class(TREE, on_mixed, MIXED, within=2)
    assert ClassErrors("a", 0.05).precision == (0.0, 1.0)
    noisy = ft.errors_by_class(TREE, on_mixed, MIXED, deterministic=False, seed=3, max_queries=500)
    assert sum(one.given for one in noisy) <= 500
    assert np.isfinite([one.level for one in noisy]).all()


def test_numbers_have_no_precision() -> None:
    space = ft.ProductSpace.bernoulli(4)
    tree = ft.Tree.build(space, [(0, 1, 2), 0, 1], [0.25, 1.5])
    with pytest.raises(ft.ParameterError, match=r"this one answers numbers - ft\.certify\(tree, target"):
        ft.errors_by_class(tree, tree.predict, space)


def test_a_target_that_answers_text_to_a_tree_of_numbers_is_refused() -> None:
    """It was told that every answer is wrong, with classes 0 and '0' side by side."""
    space = ft.ProductSpace.bernoulli(4)
    tree = ft.Tree.build(space, [(0, 1, 2), 0, 1], [0, 1])
    with pytest.raises(
        ft.ParameterError, match="tree must answer labels of the target's kind; it answers int, and the"
    ):
        ft.errors_by_class(tree, lambda bits: bits[:, 0].astype(str), space)
