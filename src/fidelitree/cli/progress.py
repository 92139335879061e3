"""What a run is doing, while it runs: a live line on a terminal, an occasional plain one elsewhere.

It is an observer: it looks at events and changes nothing. It writes to standard error, so that what a command prints
can be read by another program.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from fidelitree.cli.printing import note

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from fidelitree.events import Event

_EVERY = 10.0  # seconds between two lines where nobody watches
_PER_SECOND = 4  # pictures where somebody does


@dataclass
class State:
    """The newest of everything that events have said."""

    asked: int = 0
    size: int | None = None
    error: float | None = None
    bound: float = 1.0
    test: tuple[int, int, float] | None = None
    needed: int | None = None

    def see(self, event: Event) -> None:
        """Take over what an event says."""
        from fidelitree.events import TreeJudged, UnderTest

        self.asked = event.asked
        if isinstance(event, TreeJudged):
            self.size, self.error, self.bound = event.size or None, event.error, min(self.bound, event.error_bound)
        elif isinstance(event, UnderTest):
            self.size, self.needed = event.size or None, event.needed
            self.test = event.errors, event.samples, event.level

    def certified(self) -> float:
        """The smallest error certified so far, worked out when somebody looks."""
        from fidelitree.sequential import error_bound

        if self.test is not None:
            self.bound, self.test = min(self.bound, error_bound(*self.test)), None
        return self.bound


class Progress:
    """An observer that shows a run; use it in a ``with`` block."""

    def __init__(
        self, title: str, epsilon: float | None, limits: tuple[int | None, float | None] = (None, None)
    ) -> None:
        self._title, self._epsilon, self._limits = title, epsilon, limits
        self._state, self._started = State(), time.monotonic()
        self._told = self._started
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                console=Console(stderr=True),
                get_renderable=self._picture,
                refresh_per_second=_PER_SECOND,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        self._state.see(event)
        if self._live is None and time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            note(f"{self._title}: {self.line()}")

    def begin(self, title: str) -> None:
        """A new run begins under a title of its own."""
        self._title, self._state, self._started = title, State(), time.monotonic()

    def line(self) -> str:
        """The state in one line: time, queries and their rate, leaves, error, bound, and what is left."""
        state, seconds = self._state, time.monotonic() - self._started
        rate = state.asked / seconds if seconds > 0 else 0.0
        parts = [_duration(seconds), f"{state.asked:,} queries ({rate:,.0f}/s)"]
        if state.size is not None:
            parts.append(f"{state.size:,} leaves")
        if state.error is not None:
            parts.append(f"error about {state.error:.2g}")
        bound = state.certified()
        wanted = "" if self._epsilon is None else f" of {self._epsilon:g}"
        parts.append(f"certified {bound:.4f}{wanted}" if bound < 1 else "nothing certified yet")
        if left := self._left(rate, seconds):
            parts.append(left)
        return ", ".join(parts)

    def _left(self, rate: float, seconds: float) -> str:
        """How long it may still take: until the next certificate if no error comes, and at most until a budget ends."""
        queries, clock = self._limits
        ends = [] if clock is None else [clock - seconds]
        if queries is not None and rate > 0:
            ends.append((queries - self._state.asked) / rate)
        if self._state.needed is not None and rate > 0:
            soonest = min([self._state.needed / rate, *ends])
            return f"at least {_duration(max(0.0, soonest))} left"
        return f"at most {_duration(max(0.0, min(ends)))} left" if ends else ""

    def _picture(self) -> RenderableType:
        from rich.spinner import Spinner
        from rich.text import Text

        self._spinner = getattr(self, "_spinner", None) or Spinner("dots")
        self._spinner.update(text=Text(f"{self._title}: {self.line()}"))
        return self._spinner


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = int(seconds) // 60
    return f"{minutes} min {int(seconds) % 60:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
