"""The dynamic program over restrictions finds the fewest leaves for every error."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.exact.frontier import Frontier
from fidelitree.prune import Prunings
from small import cube, random_tree


def frontier_of(target: Callable[[np.ndarray], np.ndarray], space: ft.ProductSpace, most: int) -> Frontier:
    codes = np.asarray(target(cube(len(space)))).astype(np.intp)
    return Frontier(space, range(len(space)), codes, np.array([0, 1]), most)


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_every_size_has_a_tree_with_exactly_the_least_error(p: float) -> None:
    target = ft.targets.tribes(2, 3)
    space = ft.ProductSpace.bernoulli(6, p)
    frontier = frontier_of(target, space, 20)
    assert (np.diff(frontier.errors) <= 1e-15).all()
    for leaves in range(1, 21):
        tree = frontier.tree(leaves)
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
    frontier = Frontier(space, [2, 7], np.array([0, 1, 1, 0]), np.array(["no", "yes"]), 4)
    tree = frontier.tree(4)
    assert set(tree.feature.tolist()) == {-1, 2, 7}
    assert frontier.errors[3] == 0
    assert frontier.errors[0] == pytest.approx(0.42)


NAMES = {
    "tribes_3x3": ft.targets.tribes(3, 3),
    "hwb_8": ft.targets.hidden_weighted_bit(8),
    "address_3": ft.targets.multiplexer(3),
    "sel_parity_2x2_k3": ft.targets.selector_parity(2, 2, 3),
}


@pytest.mark.parametrize("name", NAMES)
def test_it_reproduces_the_known_frontiers(name: str, data_file: Callable[[str], Path]) -> None:
    with data_file("optimal/frontier.tsv").open() as file:
        row = next(row for row in csv.DictReader(file, delimiter="\t") if row["target"] == name)
    wanted = {float(key.removeprefix("leaves_at_")): int(row[key]) for key in row if key.startswith("leaves_at_")}
    target = NAMES[name]
    errors = frontier_of(target, ft.ProductSpace.bernoulli(target.n), max(wanted.values())).errors
    assert {epsilon: int(np.argmax(errors <= epsilon + 1e-12)) + 1 for epsilon in wanted} == wanted
