"""Driving a strategy by hand: its questions are answered by a function, and nothing is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.search.questions import Answered, Ask, Steps, T

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
