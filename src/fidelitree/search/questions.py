"""What a run asks for, one thing at a time: who asks never sees the target that answers.

The steps of a loop, of an inquiry and of a learner are generators. Each yields one of these, is sent the answers, and
returns what it has come to (`runs.session` drives them).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]


class Ask(NamedTuple):
    """Inputs that a learner chooses: their answers teach, and are never counted."""

    inner: NDArray[Any]
    purpose: str


class Labels(NamedTuple):
    """The next inputs for learning, as the space gives them: standing attempts count them before they teach."""

    rows: int


class Tests(NamedTuple):
    """The next inputs for tests: every attempt counts them before they teach."""

    rows: int


class Answered(NamedTuple):
    """Inputs with their label codes; of tests, also which of them the last tree under test has wrong."""

    inner: NDArray[Any]
    codes: Codes
    wrong: NDArray[np.bool_]


Question = Ask | Labels | Tests
T = TypeVar("T")
Steps = Generator[Question, Answered, T]


def together(several: Sequence[Steps[Any]]) -> Steps[None]:
    """Take these steps side by side: what they choose to ask next is asked in one call."""
    waiting: list[tuple[Steps[Any], Answered | None]] = [(one, None) for one in several]
    while waiting:
        asked: list[tuple[Steps[Any], Ask]] = []
        for one, answered in waiting:
            with suppress(StopIteration):
                question = next(one) if answered is None else one.send(answered)
                assert isinstance(question, Ask), "only inputs of one's own choice are asked side by side"
                asked.append((one, question))
        if not asked:
            return
        seen = yield Ask(np.concatenate([question.inner for _, question in asked]), asked[0][1].purpose)
        ends = np.cumsum([len(question.inner) for _, question in asked]).tolist()
        parts = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        waiting = [
            (one, Answered(seen.inner[part], seen.codes[part], seen.wrong))
            for (one, _), part in zip(asked, parts, strict=True)
        ]
