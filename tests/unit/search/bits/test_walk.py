"""A walk by halves ends at a feature that matters, after as many queries as it takes to halve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from driving import driven
from fidelitree.search.bits import walk as walking
from fidelitree.search.questions import Ask, Steps
from small import cube

if TYPE_CHECKING:
    from collections.abc import Callable


def walk(
    one: np.ndarray, two: np.ndarray, answer: Callable[[np.ndarray], bool], rng: np.random.Generator, parts: int = 2
) -> int:
    def same(rows: np.ndarray) -> Steps[np.ndarray]:
        return (yield Ask(rows, "walk")).codes.astype(bool)

    return driven(walking.walk(one, two, same, rng, parts), lambda rows: [answer(row) for row in rows])


def _answer(asked: list[int], codes: np.ndarray, code: int) -> Callable[[np.ndarray], bool]:
    def answer(row: np.ndarray) -> bool:
        asked.append(int(row @ (1 << np.arange(len(row)))))
        return bool(codes[asked[-1]] == code)

    return answer


@pytest.mark.parametrize("labels", [2, 3])
def test_every_walk_ends_at_a_feature_that_matters_in_few_queries(labels: int) -> None:
    rng = np.random.default_rng(labels)
    for n in (1, 2, 3, 6, 9):
        rows = cube(n)
        matters = rng.random(n) < 0.5
        matters[rng.integers(n)] = True
        table = rng.integers(0, labels, 2**n)
        codes = table[np.where(matters, rows, 0) @ (1 << np.arange(n))]
        for one, two in rng.integers(0, 2**n, (40, 2)):
            if codes[one] == codes[two]:
                continue
            asked: list[int] = []
            found = walk(rows[one], rows[two], _answer(asked, codes, codes[one]), rng)
            apart = int((rows[one] != rows[two]).sum())
            flips = codes != codes[np.arange(2**n) ^ (1 << found)]
            assert rows[one][found] != rows[two][found]
            assert flips.any()
            assert len(asked) <= math.ceil(math.log2(apart))


def test_inputs_that_differ_in_one_feature_need_no_query() -> None:
    one = np.zeros(300, np.uint8)
    two = one.copy()
    two[217] = 1
    assert walk(one, two, lambda row: pytest.fail("asked"), np.random.default_rng(0)) == 217


@pytest.mark.parametrize("parts", [3, 7, 12])
def test_more_parts_take_fewer_rounds(parts: int) -> None:
    rng = np.random.default_rng(parts)
    for apart in (2, 3, 7, 12, 13, 100, 1000):
        one, goal, rounds = np.zeros(1000, np.uint8), int(rng.integers(apart)), []

        def same(rows: np.ndarray, goal: int = goal, rounds: list[int] = rounds) -> Steps[np.ndarray]:
            rounds.append(len(rows))
            return (yield Ask(rows, "walk")).codes.astype(bool)

        two = one.copy()
        two[:apart] = 1
        found = driven(walking.walk(one, two, same, rng, parts), lambda rows, goal=goal: rows[:, goal] == 0)
        assert found == goal
        assert len(rounds) <= math.ceil(math.log(apart, parts) - 1e-9) + 1  # parts are not all of a size
        assert max(rounds) <= parts - 1


def test_only_inputs_between_the_two_are_asked() -> None:
    rng = np.random.default_rng(5)
    one, two = rng.integers(0, 2, (2, 50)).astype(np.uint8)
    goal = int(np.flatnonzero(one != two)[3])

    def answer(row: np.ndarray) -> bool:
        assert row.dtype == np.uint8
        assert ((row == one) | (row == two)).all()
        return bool(row[goal] == one[goal])

    before = one.copy(), two.copy()
    assert walk(one, two, answer, rng) == goal
    assert np.array_equal(one, before[0])
    assert np.array_equal(two, before[1])
