"""The search: its curve falls, its figures are true, it repeats itself, and it finds what is there."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from fidelitree.search.local.coded import Coded
from fidelitree.search.local.iterated import Refiner
from fidelitree.trees.nested import Nested, size
from labelled import multiplexer


def searched(rows: Coded, error: float, steps: int = 60) -> Refiner:
    refiner = Refiner(rows, seed=3)
    refiner.improve(error, steps)
    return refiner


def curve(refiner: Refiner) -> list[tuple[int, float, float, Nested]]:
    return [(point.leaves, point.errors, point.share, point.tree) for point in refiner.points()]


def test_the_curve_falls_and_its_figures_are_true() -> None:
    rows = multiplexer(1500, 10, noise=0.05)
    found = curve(searched(rows, 0.05))
    assert [leaves for leaves, _, _, _ in found] == sorted({leaves for leaves, _, _, _ in found})
    assert all(one > two for one, two in itertools.pairwise(errors for _, errors, _, _ in found))
    for leaves, errors, share, tree in found[:20]:
        assert size(tree) == leaves
        assert rows.errors(tree) == pytest.approx(errors) == pytest.approx(share * rows.total)


def test_no_smaller_tree_of_the_curve_is_good_enough() -> None:
    refiner = searched(multiplexer(1500, 10, noise=0.05), 0.06)
    good = [leaves for leaves, _, share, _ in curve(refiner) if share <= 0.06]
    assert size(refiner.smallest(0.06)) == min(good)


def test_the_last_tree_is_given_where_none_is_good_enough() -> None:
    refiner = Refiner(multiplexer(300, 4, noise=0.5), seed=0)
    assert refiner.smallest(0.0) == refiner.points()[-1].tree


def test_it_never_gets_worse() -> None:
    refiner = Refiner(multiplexer(1500, 10, noise=0.05), seed=0)
    before = {leaves: errors for leaves, errors, _, _ in curve(refiner)}
    refiner.improve(0.08, 100)
    after = [(leaves, errors) for leaves, errors, _, _ in curve(refiner)]
    for leaves, errors in before.items():
        assert min(e for k, e in after if k <= leaves) <= errors


def test_the_smallest_tree_of_a_function_is_found() -> None:
    assert size(searched(multiplexer(3000, 8), 0.0, steps=600).smallest(0.0)) == 9


def test_steps_are_counted_and_a_watch_only_ends_earlier() -> None:
    looks, last = 0, 10**9

    def watch() -> None:
        nonlocal looks
        looks += 1
        if looks > last:
            raise TimeoutError

    rows = multiplexer(800, 10, noise=0.1)
    refiner = Refiner(rows, 0, watch)
    refiner.improve(0.1, 7)
    assert refiner.steps == 7
    known, last = curve(refiner), looks + 2
    with pytest.raises(TimeoutError):
        refiner.improve(0.1, 1000)
    assert curve(refiner) == known, "what was found before is known"


def test_weights_are_repeated_rows() -> None:
    rows = multiplexer(300, 10, noise=0.1)
    weights = np.random.default_rng(0).integers(1, 4, size=300)
    again = np.repeat(np.arange(300), weights)
    weighted = dataclasses.replace(rows, weights=weights.astype(float))
    repeated = Coded(
        np.ascontiguousarray(rows.bins[:, again]), rows.ordered, rows.sizes, rows.codes[again], np.ones(len(again))
    )
    first, second = (searched(coded, 0.1) for coded in (weighted, repeated))
    assert curve(first) == curve(second)


def test_a_rare_class_gets_its_leaf() -> None:
    random = np.random.default_rng(0)
    bins = random.integers(50, size=(3, 4000)).astype(np.uint16)
    codes = np.where((bins[0] == 7) & (bins[1] < 10), 2, (bins[2] > 24).astype(int)).astype(np.intp)
    rows = Coded(bins, [False, True, True], [50] * 3, codes, np.ones(4000))
    tree = searched(rows, 0.0).smallest(0.0)
    assert rows.errors(tree) == 0
    assert size(tree) == 5


def test_labels_that_no_feature_explains_stay_wrong() -> None:
    rows = Coded(np.zeros((1, 4), np.uint16), [False], [3], np.array([0, 0, 1, 2]), np.ones(4))
    assert curve(searched(rows, 0.1)) == [(1, 2.0, 0.5, 0)]
