"""Driving a learner by hand: its questions are answered by a function, and nothing is counted; a loop to look into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import Budget
from fidelitree.asking.memory import Memory
from fidelitree.runs.goal import Goal
from fidelitree.runs.input_source import source_of
from fidelitree.runs.loop import Loop
from fidelitree.runs.session import Session
from fidelitree.search.questions import Answered, Ask, Steps, T
from fidelitree.targets.labels import LabelBook

if TYPE_CHECKING:
    from collections.abc import Callable


def driven(steps: Steps[T], answer: Callable[[Any], Any]) -> T:
    answered: Any = None
    while True:
        try:
            question = steps.send(answered)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        assert isinstance(question, Ask)
        codes = np.asarray(answer(question.inner), np.intp)
        answered = Answered(question.inner, codes, np.zeros(0, np.bool_))


def loop_over(
    goal: Any, target: Any, space: Any, epsilon: float, *, tolerance: float | None = None, **limits: Any
) -> Loop[Any]:
    """A loop as `distill` makes one, with this goal, of which nothing was asked yet."""
    book = LabelBook(numbers=tolerance is not None)
    counted = Counted(target, space.product, Memory.usual(space.product), Budget(**limits), book)
    asked_for = Goal(epsilon, 0.05, 0, tolerance=tolerance)
    return Loop.of(Session.of(counted, source_of(space, 0), asked_for, lambda _: None), goal, 0)
