"""The memory answers repeated inputs, asks each new one once, and stays bounded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fidelitree.asking.memory import Memory
from fidelitree.errors import ParameterError
from small import cube


class Asked:
    """Answers with the number of the input, and remembers what it was asked."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, batch: NDArray[np.uint8]) -> NDArray[np.intp]:
        numbers = np.asarray(batch @ (1 << np.arange(batch.shape[1])), np.intp)
        self.rows += numbers.tolist()
        return numbers


def answer(memory: Memory, batch: NDArray[np.uint8], ask: Asked, checks: int | None = None) -> NDArray[np.intp]:
    recalled = memory.recall(batch, checks)
    return memory.learn(recalled, ask(recalled.rows) if len(recalled.rows) else np.zeros(0, np.intp))


def test_each_input_is_asked_once() -> None:
    memory, ask = Memory(), Asked()
    assert answer(memory, cube(3)[[5, 1, 5, 2]], ask).tolist() == [5, 1, 5, 2]
    assert answer(memory, cube(3)[[2, 7, 1]], ask).tolist() == [2, 7, 1]
    assert ask.rows == [5, 1, 2, 7]
    assert len(memory) == 4


def test_nothing_new_means_nothing_is_asked() -> None:
    memory, ask = Memory(), Asked()
    answer(memory, cube(2), ask)
    ask.rows.clear()
    answer(memory, cube(2)[::-1], ask)
    assert ask.rows == []


@given(st.lists(st.lists(st.integers(0, 31), min_size=1, max_size=12), max_size=8), st.integers(1, 10))
def test_answers_are_right_and_the_memory_bounded_whatever_its_size(batches: list[list[int]], capacity: int) -> None:
    memory, ask = Memory(capacity), Asked()
    for batch in batches:
        assert answer(memory, cube(5)[batch], ask).tolist() == batch
        assert len(memory) <= capacity


def test_the_oldest_inputs_are_forgotten_first() -> None:
    memory, ask = Memory(2), Asked()
    for number in (0, 1, 2, 2, 1, 0):
        answer(memory, cube(2)[[number]], ask)
    assert ask.rows == [0, 1, 2, 0]


def test_more_than_eight_features_are_told_apart() -> None:
    memory, ask = Memory(), Asked()
    assert answer(memory, cube(10), ask).tolist() == list(range(1024))


@pytest.mark.parametrize(
    ("capacity", "message"),
    [(0, "capacity must be at least 1; got 0"), (1.5, "capacity must be a whole number; got 1.5")],
)
def test_bad_capacity_is_refused(capacity: object, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Memory(capacity)
    assert str(caught.value) == message


def test_numbers_are_remembered_by_their_value() -> None:
    memory, ask = Memory(), Asked()
    answer(memory, np.array([[1.0, 0.0], [0.5, 2.0]]), ask)
    answer(memory, np.array([[1.0, -0.0], [1.0, 1e-300]]), ask)
    assert len(memory) == 3, "0 and -0 are one number"


def test_a_missing_number_is_remembered_as_itself() -> None:
    memory = Memory(10)
    rows = np.array([[np.nan, 1.0], [2.0, np.nan], [-np.nan, 1.0]])
    recalled = memory.recall(rows)
    assert np.array_equal(recalled.rows, rows[:2], equal_nan=True)


def test_the_space_must_be_a_space() -> None:
    with pytest.raises(ParameterError, match="space must be"):
        Memory.within(1_000, 11)  # type: ignore[arg-type]
