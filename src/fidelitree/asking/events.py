"""What a run tells its observer, while it runs. An observer is any callable of one event."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """Something happened; ``asked`` is the number of labels used so far."""

    asked: int


@dataclass(frozen=True)
class Asked(Event):
    """Some more labels were used; the target has answered ``paid`` rows so far."""

    paid: int


@dataclass(frozen=True)
class SplitMade(Event):
    """A leaf was split."""

    size: int
    leaf: str
    test: str
    score: float


@dataclass(frozen=True)
class TreeJudged(Event):
    """A tree was compared with the target: its own error, and the error certified for it (1 where none is)."""

    size: int
    error: float
    error_bound: float


@dataclass(frozen=True)
class Foreseen(Event):
    """A forecast, no certificate: trees of this size are likely to have an error between two ends."""

    size: int
    low: float
    high: float


@dataclass(frozen=True)
class UnderTest(Event):
    """A tree is under test: it has made so many errors among so many test inputs, and is judged at this level.

    ``needed`` more answers without an error would end the run.
    """

    size: int
    errors: int
    samples: int
    level: float
    needed: int


@dataclass(frozen=True)
class LearnerBegan(Event):
    """A comparison goes on to its next learner."""

    learner: str
    number: int
    of: int


@dataclass(frozen=True)
class Finished(Event):
    """The run is over and says why."""

    size: int
    error_bound: float
    reason: str


Observer = Callable[[Event], None]


def nobody(event: Event) -> None:
    """The observer that does not look."""
