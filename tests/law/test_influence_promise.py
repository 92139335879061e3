"""The size bounds hold for the tree of ``strategy="influence"`` with epsilon/4 in the place of epsilon.

The bounds are about growth that splits only while the error is above their epsilon. This tree is grown on a tested
tree T whose error is at most b, until it is within epsilon - b of T. So every one of its splits must have been made
while its error, with the best labels, was above epsilon/4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from fidelitree.runs.influence_goal import _bound, _GreedyPlan
from fidelitree.search.exact_growth import as_grown
from small import cube, random_tree, weights

if TYPE_CHECKING:
    from collections.abc import Iterator


def _best_error(tree: ft.Tree, answers: NDArray[Any], space: ft.ProductSpace) -> float:
    """Of the tree's shape, with the best label in every leaf."""
    mass, reached = weights(space), tree.reached(cube(len(space)))
    ones, all_ = np.bincount(reached, mass * answers), np.bincount(reached, mass)
    return float(np.minimum(ones, all_ - ones).sum())


def _errors_before_the_last_split(seed: int) -> Iterator[tuple[float, float]]:
    """Epsilon and that error, for a random tested tree and targets that differ from it here and there."""
    rng = np.random.default_rng(seed)
    space = ft.ProductSpace.bernoulli(5, list(rng.uniform(0.1, 0.9, 5)))
    tested = random_tree(space, rng, [0, 1], 0.9)
    for share in (0.0, 0.02, 0.1):
        wrong = rng.random(32) < share
        answers = np.asarray(tested(cube(5))) ^ wrong
        b = float(weights(space)[wrong].sum())
        for epsilon in (0.02, 0.1, 0.3):
            plan = _GreedyPlan.of(tested, space, epsilon, None)
            size = next((size for size, apart, close in plan.trees if b <= _bound(apart, close, epsilon)), 1)
            if size > 1:
                yield epsilon, _best_error(as_grown(tested, space, most=size - 1).tree, answers, space)


def test_every_split_is_made_above_a_quarter_of_epsilon_but_not_above_epsilon() -> None:
    found = [(epsilon, error) for seed in range(20) for epsilon, error in _errors_before_the_last_split(seed)]
    assert len(found) > 50
    assert all(error > epsilon / 4 for epsilon, error in found)
    assert any(error < epsilon for epsilon, error in found)
