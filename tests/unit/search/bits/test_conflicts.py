"""Conflicts are found among rows that agree on the relevant features, and nowhere else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fidelitree.asking.limits import go_on
from fidelitree.search.bits.conflicts import OF_A_CELL, RelevantCells, distances
from fidelitree.search.bits.pool import Pool


def pool_of(rows: int, features: int, seed: int, ones: float = 0.5) -> Pool:
    random = np.random.default_rng(seed)
    pool = Pool(features)
    pool.add((random.random((rows, features)) < ones).astype(np.uint8), (random.random(rows) < 0.2).astype(np.intp))
    return pool


def closest(pool: Pool, relevant: list[int]) -> float | None:
    """By looking at all pairs."""
    pairs = itertools.combinations(range(pool.size), 2)
    apart = [
        int((pool.bits[i] != pool.bits[j]).sum())
        for i, j in pairs
        if pool.codes[i] != pool.codes[j] and (pool.bits[i, relevant] == pool.bits[j, relevant]).all()
    ]
    return min(apart, default=None)


@pytest.mark.parametrize("relevant", [[], [3], [3, 0], [9, 1, 4, 0, 2, 7, 8, 5, 6]])
@pytest.mark.parametrize("seed", range(4))
def test_the_closest_conflict_is_found(relevant: list[int], seed: int) -> None:
    pool = pool_of(60, 30, seed)
    cells, expected = RelevantCells(pool), closest(pool, relevant)
    pairs = cells.conflicts(relevant, go_on)
    if expected is None:
        assert pairs == []
        return
    [(one, two)] = pairs
    assert pool.codes[one] != pool.codes[two]
    assert pool.bits[one, relevant].tolist() == pool.bits[two, relevant].tolist()
    assert (pool.bits[one] != pool.bits[two]).sum() == expected


def test_it_is_found_in_parts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = RelevantCells(pool_of(60, 30, 5))
    expected = cells.conflicts([], go_on)
    monkeypatch.setattr("fidelitree.search.bits.conflicts.PAIRS", 200)
    assert cells.conflicts([], go_on) == expected != []


def test_of_several_pairs_the_closest_comes_first_and_none_share_an_input() -> None:
    pool = pool_of(60, 30, 5)
    cells = RelevantCells(pool)
    pairs = cells.conflicts([2, 7], go_on, most=6)
    assert pairs[:1] == cells.conflicts([2, 7], go_on)
    assert 4 < len(pairs) <= 6
    assert len({row for pair in pairs for row in pair}) == 2 * len(pairs)
    for one, two in pairs:
        assert pool.codes[one] != pool.codes[two]
        assert pool.bits[one, [2, 7]].tolist() == pool.bits[two, [2, 7]].tolist()
    places = [tuple(pool.bits[one, [2, 7]].tolist()) for one, _ in pairs]
    assert max(map(places.count, places)) <= OF_A_CELL


def test_rows_that_come_later_are_sorted_in() -> None:
    pool, later = Pool(6), pool_of(50, 6, 1)
    cells = RelevantCells(pool)
    for start, relevant in ((0, [1]), (20, [1]), (40, [1, 4])):
        pool.add(later.bits[start : start + 20], later.codes[start : start + 20])
        fresh = RelevantCells(pool)
        assert cells.known(pool.bits[-1:], relevant)
        assert cells.conflicts(relevant, go_on) == fresh.conflicts(relevant, go_on)


def test_inputs_that_agree_with_a_known_one() -> None:
    pool = Pool(3)
    pool.add(np.array([[0, 0, 1], [1, 0, 1]], np.uint8), np.array([0, 1]))
    asked = np.array([[0, 1, 0], [1, 1, 1], [1, 0, 0]], np.uint8)
    agrees = [[RelevantCells(pool).known(one[None], relevant) for one in asked] for relevant in ([0], [0, 1], [])]
    assert agrees == [[True, True, True], [False, False, True], [True, True, True]]
    assert RelevantCells(pool).known(asked, [0, 1]), "one of them is enough"


def test_the_watch_ends_a_search() -> None:
    def over() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        RelevantCells(pool_of(60, 30, 5)).conflicts([], over)


def test_distances_count_the_features_that_differ() -> None:
    bits = pool_of(20, 9, 2).bits
    assert distances(bits[:4], bits).tolist() == (bits[:4, None] != bits[None]).sum(axis=2).tolist()
