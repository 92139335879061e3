"""The search for trees of numbers, against what is slow and obvious."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.search.labelled import Binning
from fidelitree.search.numbers.alternating import alternated, every_size
from fidelitree.search.numbers.growth import RULES, Numbers, best_value, errors, prunings
from fidelitree.trees.nested import size


def go_on() -> None:
    """Nobody is in a hurry."""


def numbers(rows: int = 400, seed: int = 0, tolerance: float = 0.5) -> Numbers:
    random = np.random.default_rng(seed)
    table = {"x": random.random(rows), "k": random.integers(0, 4, rows).astype(str), "b": random.random(rows) < 0.5}
    answers = 4 * table["x"] + np.array([0.0, 3, 1, 7])[table["k"].astype(int)] * table["b"]
    space = ft.ProductSpace.from_data(table)
    binning = Binning.of(space, space.encode(table))
    return Numbers.of(binning, slice(None), np.asarray(answers), tolerance)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_window_holds_the_most_answers(seed: int) -> None:
    random = np.random.default_rng(seed)
    answers = np.round(random.normal(0, 3, random.integers(1, 40)), int(random.integers(0, 4)))
    tolerance = float(random.choice([0.1, 0.5, 1, 4]))
    value, right = best_value(answers, tolerance)
    assert (np.abs(answers - value) <= tolerance).sum() == right
    slow = max(int(((answers >= low) & (answers <= low + 2 * tolerance * (1 - 1e-9))).sum()) for low in answers)
    assert right >= slow


@pytest.mark.parametrize(("answers", "value"), [([3.0], 3.0), ([0.0, 0.0], 0.0), ([-1e9, 1.0], -1e9), ([1e-9], 0.0)])
def test_values_are_short(answers: list[float], value: float) -> None:
    assert best_value(np.array(answers), 0.5)[0] == pytest.approx(value, abs=0.05)


def test_a_lattice_is_reached_to_its_very_end() -> None:
    assert best_value(np.array([2.0, 3.0, 4.0]), 1.0) == (3.0, 3)


@pytest.mark.parametrize("rule", RULES)
def test_errors_of_prunings_are_counted_right_and_fall(rule: str) -> None:
    data = numbers()
    curve = prunings(data, rule, 16, go_on)
    assert (np.diff(curve.errors) <= 0).all()
    for leaves in (1, 3, 8, 16):
        tree = curve.build(leaves)
        assert size(tree) <= leaves
        assert errors(data, tree) <= curve.errors[leaves - 1]


def test_alternating_never_makes_a_tree_worse_or_larger() -> None:
    for seed in range(4):
        data = numbers(seed=seed)
        for leaves in (2, 5, 9):
            tree = prunings(data, "squares", leaves, go_on).build(leaves)
            better, left = alternated(data, tree, go_on)
            assert left == errors(data, better) <= errors(data, tree)
            assert size(better) <= size(tree)


def test_no_side_is_left_that_no_row_reaches() -> None:
    """Over few bits a test that changes often leaves one below it without a choice."""
    random = np.random.default_rng(3)
    space = ft.ProductSpace.bernoulli(5)
    for seed in range(20):
        inner = np.asarray(space.draw(60, seed=seed))
        answers = random.normal(0, 2, 32)[inner @ (1 << np.arange(5))]
        data = Numbers.of(Binning.of(space, inner), slice(None), answers, 0.5)
        for tree, _ in every_size(data, [2, 4, 8, 16], go_on).values():
            values = sorted(set(data.values))
            built = Binning.of(space, inner).tree(tree, [values.index(value) for value in data.values], values)
            assert sum(region.mass for node, region in built.regions(space) if built.feature[node] < 0) == 1


def test_every_size_is_at_least_as_good_as_a_smaller_one() -> None:
    data = numbers()
    found = every_size(data, [1, 2, 4, 8, 16], go_on)
    left = [wrong for _, wrong in found.values()]
    assert left == sorted(left, reverse=True)
    assert left[-1] < 0.1 * len(data) < left[0]
    assert all(size(tree) <= most for most, (tree, _) in found.items())


def test_a_watch_ends_the_search() -> None:
    def stop() -> Any:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        every_size(numbers(), [8], stop)


def test_missing_numbers_are_a_group_of_their_own() -> None:
    random = np.random.default_rng(0)
    table = {"x": np.where(random.random(3000) < 0.01, np.nan, random.random(3000).round(1))}
    space = ft.ProductSpace.from_data(table)
    inner = space.encode(table)
    answers = np.where(np.isnan(inner[:, 0]), 90.0, 10 * (inner[:, 0] > 0.5))
    binning = Binning.of(space, inner)
    rows = Numbers.of(binning, slice(None), answers, 0.5)
    assert len(rows.sizes) == 2, "missing numbers may be on either side"
    for rule in RULES:
        assert prunings(rows, rule, 8, go_on).errors[2] == 0
