"""Steps side by side: what several of them ask is asked in one call, and each is told its own answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from driving import driven
from fidelitree.search.questions import Ask, Steps, together


def counting(start: int, times: int, told: list[Any]) -> Steps[None]:
    """Asks about one input more each time."""
    for turn in range(1, times + 1):
        seen = yield Ask(np.full((turn, 2), start, np.uint8), "walk")
        told.append((seen.inner[:, 0].tolist(), seen.codes.tolist()))


def test_each_is_told_its_own_answers() -> None:
    calls, told = list[list[int]](), ([], [], [])

    def answer(inner: Any) -> Any:
        calls.append(inner[:, 0].tolist())
        return inner[:, 0] * 10

    driven(together([counting(start, times, told[start]) for start, times in ((0, 1), (1, 3), (2, 2))]), answer)
    assert calls == [[0, 1, 2], [1, 1, 2, 2], [1, 1, 1]]
    assert told[0] == [([0], [0])]
    assert told[1] == [([1], [10]), ([1, 1], [10, 10]), ([1, 1, 1], [10, 10, 10])]
    assert told[2] == [([2], [20]), ([2, 2], [20, 20])]


def test_who_asks_nothing_costs_no_call() -> None:
    calls: list[Any] = []
    driven(together([]), calls.append)
    driven(together([counting(0, 0, []), counting(1, 0, [])]), calls.append)
    assert calls == []


def test_alone_it_is_as_it_would_be() -> None:
    alone, beside = list[Any](), list[Any]()
    driven(counting(3, 4, alone), lambda inner: inner[:, 0])
    driven(together([counting(3, 4, beside)]), lambda inner: inner[:, 0])
    assert alone == beside
