"""An observer that shows how a run is doing: one line that changes, on a terminal or in a notebook."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from fidelitree.asking.events import Event, Finished
from fidelitree.asking.status import Status
from fidelitree.display.markup import tag
from fidelitree.errors import check_number

_START_OF_LINE = Control((ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2))


class Progress:
    """Pass it as ``observer``: it shows labels asked, leaves, error, certified bound, rate and time.

    The line changes at most every ``every`` seconds, however many events there are. In a notebook it is one output that
    is replaced, with no widgets to install; where output goes to a file, only the last line is written.
    """

    def __init__(
        self, every: float = 0.25, console: Console | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._every, self._clock = check_number("every", every), clock
        self._console = Console() if console is None else console
        self._begun = self._shown = -1.0
        self._status = Status()
        self._output: Any = None

    def __call__(self, event: Event) -> None:
        """Take an event; show it if it is time."""
        now = self._clock()
        if self._begun < 0:
            self._begun = now
        self._status.see(event)
        if isinstance(event, Finished):
            self._show(" · ".join([*self._status.parts(now - self._begun), event.reason]), last=True)
            self._begun, self._status, self._output = -1.0, Status(), None
        elif now - self._shown >= self._every:
            self._shown = now
            self._show(" · ".join(self._status.parts(now - self._begun)), last=False)

    def _show(self, line: str, last: bool) -> None:
        if self._console.is_jupyter:
            self._show_in_notebook(line)
        elif self._console.is_terminal:
            # Not rich's Live: it hides the cursor, which would stay hidden when a target fails.
            self._console.control(_START_OF_LINE)
            self._console.print(Text(line), end="\n" if last else "", overflow="ellipsis", no_wrap=True)
        elif last:
            self._console.print(Text(line), soft_wrap=True)

    def _show_in_notebook(self, line: str) -> None:
        """One output with a name, so that it can be replaced."""
        from IPython.display import HTML, display  # noqa: PLC0415 - there is a notebook, so it is there

        shown = HTML(tag("div", line, style="font-family:system-ui,sans-serif;font-variant-numeric:tabular-nums"))
        if self._output is None:
            self._output = display(shown, display_id=True)
        else:
            self._output.update(shown)
