"""The compiled search over bits gives the trees of its twin, refuses what is not sound, and looks at its watch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fidelitree.search.bits.first_split import CROWD, LabelledRows, first_split
from fidelitree.search.bits.sketch import Search, fit
from fidelitree.trees import kernels

needs_kernels = pytest.mark.skipif(not kernels.compiled, reason="the kernels are not compiled here")


def drawn(seed: int, features: int) -> LabelledRows:
    """Rows of any bias, with labels of several kinds, some of them heavier, and two penalties."""
    random = np.random.default_rng(seed)
    rows, labels = int(random.integers(1, 300)), int(random.choice([1, 2, 2, 2, 3, 5]))
    bits = (random.random((rows, features)) < random.choice([0.03, 0.2, 0.5, 0.9])).astype(np.uint8)
    codes = bits[:, : 1 + features // 3].sum(axis=1) % labels
    codes = np.where(random.random(rows) < random.choice([0, 0.1, 1]), random.integers(0, labels, rows), codes)
    weights = 1 + random.integers(0, 4, rows) * (random.random(rows) < 0.1)
    penalties = np.where(random.random(features) < 0.5, 0.5, 0.85)
    return LabelledRows(bits, codes.astype(np.intp), weights.astype(np.float32), penalties.astype(np.float32))


def first(rows: LabelledRows, count: int) -> LabelledRows:
    return LabelledRows(rows.bits[:count], rows.codes[:count], rows.weights[:count], rows.penalties)


@needs_kernels
@pytest.mark.parametrize("features", [1, 2, 3, 4, 7, 8, 9, 17, 24, CROWD, CROWD + 1, CROWD + 20])
def test_both_ways_give_the_same_trees(features: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        rows = drawn(seed, features)
        searches, trees = (Search(), Search()), [None, None]
        for count in (1 + len(rows.codes) // 2, len(rows.codes)):
            for way, compiled in enumerate((False, True)):
                monkeypatch.setattr(kernels, "compiled", compiled)
                horizon = 1 + seed if features <= 24 else min(3, 1 + seed)
                trees[way] = searches[way].fit(first(rows, count), horizon, trees[way])  # type: ignore[call-overload]
            assert trees[0] == trees[1]


@pytest.mark.parametrize("seed", range(8))
def test_what_is_remembered_changes_no_tree(seed: int) -> None:
    rows = drawn(seed, 9)
    search, tree = Search(), None
    for count in range(1, len(rows.codes) + 1, 1 + len(rows.codes) // 12):
        expected = fit(first(rows, count), 3, tree)
        tree = search.fit(first(rows, count), 3, tree)
        assert tree == expected


def test_nodes_that_no_row_came_to_are_not_searched_again() -> None:
    bits = np.array([[i >> k & 1 for k in range(6)] for i in range(64)] * 2, np.uint8)
    codes = bits[:, 0] ^ (bits[:, 1] & bits[:, 2])
    rows = LabelledRows(bits, codes.astype(np.intp), np.ones(128, np.float32), np.full(6, 0.5, np.float32))
    looks: list[int] = []
    search = Search()
    tree = search.fit(first(rows, 127), 3, None, lambda: looks.append(1))
    searched = len(looks)
    assert search.fit(first(rows, 127), 3, tree, lambda: looks.append(1)) == tree
    assert len(looks) == searched, "nothing came"
    assert search.fit(rows, 3, tree, lambda: looks.append(1)) == tree
    assert searched < len(looks) < 2 * searched, "one row came, down one path"


@needs_kernels
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"order": [0, 1, 4]}, "order must hold rows"),
        ({"order": [0, -1, 2]}, "order must hold rows"),
        ({"order": [2, 1, 0]}, "sorted by their codes"),
        ({"codes": [0, 1]}, "a code and a weight for each row"),
        ({"penalties": [0.5]}, "a penalty for each feature"),
        ({"penalties": [0.5, -1.0]}, "penalties must be at least 0"),
        ({"penalties": [0.5, np.nan]}, "penalties must be at least 0"),
        ({"weights": [1.0, 0.5, 1.0]}, "weights must be whole numbers from 1"),
        ({"weights": [1.0, np.inf, 1.0]}, "weights must be whole numbers from 1"),
        ({"weights": [1.0, 2.0**23, 2.0**23]}, "less than 2\\^24"),
        ({"start": -1}, "places of order"),
        ({"start": 3}, "places of order"),
        ({"stop": 4}, "places of order"),
        ({"horizon": 0}, "horizon must be 1 to 4"),
        ({"horizon": 5}, "horizon must be 1 to 4"),
    ],
)
def test_the_kernel_refuses_what_is_not_sound(change: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {
        "bits": np.array([[0, 1], [1, 0], [1, 1]], np.uint8),
        "codes": [0, 1, 1],
        "weights": [1.0, 1.0, 1.0],
        "penalties": [0.5, 0.5],
        "order": [0, 1, 2],
        "start": 0,
        "stop": 3,
        "horizon": 3,
        "old": -1,
    } | change
    types = {"codes": np.int64, "weights": np.float32, "penalties": np.float32, "order": np.int32}
    arrays = [np.array(value, types[name]) if name in types else value for name, value in given.items()]
    with pytest.raises(ValueError, match=sentence):
        kernels.native.split_bits(*arrays)


def test_weights_that_are_not_whole_are_left_to_the_twin() -> None:
    rows = drawn(1, 5)
    halves = LabelledRows(rows.bits, rows.codes, rows.weights / 2, rows.penalties / 2)
    assert rows.countable
    assert not halves.countable
    assert fit(halves, 3) == fit(rows, 3), "everything costs half as much"


def test_the_rows_of_a_node_are_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drawn(2, 12)
    rows.codes[:] = rows.bits[:, 2]
    for compiled in {False, kernels.compiled}:
        monkeypatch.setattr(kernels, "compiled", compiled)
        order = np.argsort(rows.codes, kind="stable").astype(np.int32)
        _, place, middle, *masses = first_split(rows, order, (0, len(order)), 3, -1)
        assert place == 2
        assert sorted(order.tolist()) == list(range(len(order)))
        assert not rows.bits[order[:middle], place].any()
        assert rows.bits[order[middle:], place].all()
        assert masses == [rows.weights[order[:middle]].sum(), rows.weights[order[middle:]].sum()]
