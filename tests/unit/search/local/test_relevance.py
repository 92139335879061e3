"""Features that matter are told from noise."""

from __future__ import annotations

import numpy as np

from fidelitree.search.local.coded import Coded
from fidelitree.search.local.iterated import Refiner, relevant
from fidelitree.search.local.splitmix import Splitmix
from fidelitree.trees.nested import size
from labelled import multiplexer


def test_noise_is_left_out_and_a_selector_is_not() -> None:
    """The seeds are fixed; the strongest noise beats its own shadow about every other time, so it may stay."""
    found = [relevant(multiplexer(3000, seed, noise=0.1), 100, Splitmix(seed)) for seed in range(8)]
    assert all(set(features) >= {0, 1, 2, 3} for features in found)
    assert sum(len(features) - 4 for features in found) <= 8


def test_all_features_stay_where_none_explains_anything() -> None:
    rows = Coded(np.zeros((2, 9), np.uint16), [True, False], [2, 2], np.arange(9) % 2, np.ones(9))
    assert relevant(rows, 10, Splitmix(0)) == [0, 1]


def test_the_search_uses_what_matters() -> None:
    refiner = Refiner(multiplexer(3000, 1), seed=0)
    refiner.leave_out_noise()
    refiner.improve(0.01, 300)
    used = set[int]()

    def walk(tree: object) -> None:
        if isinstance(tree, tuple):
            used.add(tree[0].feature)
            walk(tree[1])
            walk(tree[2])

    tree = refiner.smallest(0.01)
    walk(tree)
    assert used == {0, 1, 2, 3}
    assert size(tree) <= 12
