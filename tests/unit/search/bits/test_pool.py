"""The pool holds each input once, in the order it came, with the label it was given."""

from __future__ import annotations

import numpy as np
import pytest

from fidelitree.search.bits.pool import Pool
from small import cube


def test_inputs_stand_in_the_order_they_came_each_once() -> None:
    rows = cube(3)
    pool = Pool(3)
    pool.add(rows[[5, 2, 5, 7]], np.array([1, 0, 1, 1]))
    pool.add(rows[[2, 0]], np.array([0, 3]))
    assert pool.size == 4
    assert pool.bits.tolist() == rows[[5, 2, 7, 0]].tolist()
    assert pool.codes.tolist() == [1, 0, 1, 3]


def test_unknown_inputs_are_those_that_no_answer_was_added_for() -> None:
    rows = cube(3)
    pool = Pool(3)
    assert pool.unknown(rows) == list(range(len(rows)))
    pool.add(rows[:3], np.zeros(3, int))
    assert pool.unknown(rows[[0, 3, 4, 3, 1]]) == [1, 2]
    assert len(pool.unknown(rows[:3])) == 0
    assert pool.size == 3


@pytest.mark.parametrize("features", [1, 7, 8, 9, 16, 17, 300])
def test_inputs_that_differ_in_any_one_feature_are_different(features: int) -> None:
    rows = np.vstack([np.zeros((1, features), np.uint8), np.eye(features, dtype=np.uint8)])
    pool = Pool(features)
    pool.add(rows, np.arange(features + 1))
    assert pool.size == features + 1
    assert pool.codes.tolist() == list(range(features + 1))


def test_it_grows_without_losing_anything() -> None:
    rows = cube(11)
    pool = Pool(11)
    sizes = [1, 62, 1, 1, 500, 10, 1473]
    for start, stop in zip(np.cumsum([0, *sizes]), np.cumsum(sizes), strict=False):
        pool.add(rows[start:stop], np.arange(start, stop))
        assert pool.size == stop
    assert np.array_equal(pool.bits, rows)
    assert pool.codes.tolist() == list(range(2048))


def test_the_code_of_a_known_input_is_remembered() -> None:
    rows = cube(9)
    pool = Pool(9)
    pool.add(rows[[3, 500, 7]], np.array([4, 0, 2]))
    assert pool.codes_of(rows[[7, 3, 500, 7]]).tolist() == [2, 4, 0, 2]


def test_errors_on_known_inputs_can_be_made_dearer() -> None:
    rows = cube(3)
    pool = Pool(3)
    pool.stress(rows)
    pool.add(rows[:4], np.zeros(4, int))
    assert pool.weights.tolist() == [1, 1, 1, 1]
    pool.stress(rows[[2, 6, 2, 0]])
    assert pool.weights.tolist() == [2, 1, 3, 1]
    pool.add(rows, np.zeros(8, int))
    assert pool.weights.tolist() == [2, 1, 3, 1, 1, 1, 1, 1]


def test_weights_survive_growth() -> None:
    rows = cube(9)
    pool = Pool(9)
    pool.add(rows[:60], np.zeros(60, int))
    pool.stress(rows[[59]])
    pool.add(rows, np.zeros(512, int))
    assert pool.weights.tolist() == [1] * 59 + [2] + [1] * 452


def test_nothing_added_changes_nothing() -> None:
    pool = Pool(4)
    pool.add(np.empty((0, 4), np.uint8), np.empty(0, int))
    assert (pool.size, pool.bits.shape, pool.codes.shape) == (0, (0, 4), (0,))
