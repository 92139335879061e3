"""What a strategy asks for, one thing at a time: it never sees the target that answers.

A strategy is a generator. It yields one of these, is sent the answers, and returns what it has come to (`runs.session`
drives it).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]


class Ask(NamedTuple):
    """Inputs of a strategy's own choice: their answers teach, and nobody counts them."""

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
