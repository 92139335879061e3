"""What a strategy asks for, one thing at a time: it never sees the target that answers.

A strategy is a generator. It yields one of these, is sent the answers, and returns what it has come to (`runs.session`
drives it).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Ask:
    """Inputs of a strategy's own choice: their answers teach, and nobody counts them."""

    inner: NDArray[Any]
    purpose: str


@dataclass(frozen=True)
class Labels:
    """The next inputs for learning, as the space gives them: standing attempts count them before they teach."""

    rows: int


@dataclass(frozen=True)
class Tests:
    """The next inputs for tests: every attempt counts them before they teach."""

    rows: int


@dataclass(frozen=True, eq=False)
class Answered:
    """Inputs with their label codes; of tests, also which of them the last tree under test has wrong."""

    inner: NDArray[Any]
    codes: Codes
    wrong: NDArray[np.bool_]


Question = Ask | Labels | Tests
T = TypeVar("T")
Steps = Generator[Question, Answered, T]
