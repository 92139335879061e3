"""What a run is doing, while it runs: a live line on a terminal, an occasional plain one elsewhere.

It is an observer: it looks at events and changes nothing. It writes to standard error, so that what a command prints
can be read by another program.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from fidelitree.cli.ending import note

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from fidelitree.asking.events import Event, Observer

_EVERY = 10.0  # seconds between two lines where nobody watches
_PER_SECOND = 4  # pictures where somebody does


class StatusLine:
    """An observer that shows a run; use it in a ``with`` block."""

    def __init__(
        self,
        title: str,
        epsilon: float | None,
        limits: tuple[int | None, float | None] = (None, None),
        also: Observer | None = None,
    ) -> None:
        self._wanted, self._also = (epsilon, limits), also
        self._told = time.monotonic()
        self.begin(title)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live
            from rich.spinner import Spinner

            self._spinner = Spinner("dots")
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
        self._status.see(event)
        if self._also is not None:
            self._also(event)
        if self._live is None and time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            note(self.line())

    def begin(self, title: str) -> None:
        """A new run begins under a title of its own."""
        from fidelitree.asking.progress import RunStatus

        self._title, self._status, self._started = title, RunStatus(*self._wanted), time.monotonic()

    def line(self) -> str:
        """The state in one line."""
        return f"{self._title}: {' · '.join(self._status.parts(time.monotonic() - self._started))}"

    def _picture(self) -> RenderableType:
        from rich.text import Text

        self._spinner.update(text=Text(self.line()))
        return self._spinner
