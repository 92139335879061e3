"""Timing on a machine that others use too: the shortest of several runs is the one that was disturbed least."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Contestant:
    """Work that is timed; what ``prepare`` returns is handed to it, and is not timed."""

    work: Callable[[Any], Any]
    prepare: Callable[[], Any] = _nothing

    def seconds(self) -> float:
        """How long one call takes."""
        ready = self.prepare()
        started = time.perf_counter()
        self.work(ready)
        return time.perf_counter() - started


def shortest(*contestants: Contestant, seconds: float) -> list[float]:
    """The shortest time of each, one call each in turns, so that a disturbance hits all of them.

    The first turn does not count. At least three turns do, and more until ``seconds`` are over or there are fifty.
    """
    best = [float("inf")] * len(contestants)
    end = time.perf_counter() + seconds
    for turn in range(51):
        if turn > 3 and time.perf_counter() > end:
            break
        taken = [contestant.seconds() for contestant in contestants]
        if turn:
            best = [min(pair) for pair in zip(best, taken, strict=True)]
    return best
