"""An observer that shows how a run is doing, in words: one line that changes, on a terminal or in a notebook."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from fidelitree.asking.events import Event, Finished, Foreseen, TreeJudged, UnderTest
from fidelitree.display.wording import tag
from fidelitree.errors import check_number
from fidelitree.theory.sequential import error_bound

_CURVE = 3  # sizes of trees that make a curve
_START_OF_LINE = Control((ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2))


class RunStatus:
    """The newest of everything that events have said; looking at it records nothing, so that a run is not changed.

    ``epsilon`` is the error that is wanted; ``limits`` are the queries and the seconds that the run may use.

    >>> status = RunStatus(0.05)
    >>> status.see(TreeJudged(1200, 7, 0.0413, 1.0))
    >>> print(*status.parts(seconds=2), sep=", ")
    1,200 labels, 7 leaves, error about 0.041, nothing certified yet, 600 labels/s, 0:02

    Where trees of several sizes are judged together, as those of a frontier are, the line shows all of them:

    >>> for size, error in ((1, 0.42), (2, 0.2), (5, 0.08)):
    ...     status.see(TreeJudged(2400, size, error, 1.0))
    >>> print(status.parts(seconds=2)[1])
    agreement by leaves, about: 1:58% 2:80% 5:92%
    """

    def __init__(self, epsilon: float | None = None, limits: tuple[int | None, float | None] = (None, None)) -> None:
        self._epsilon, self._limits = epsilon, limits
        self._asked, self._bound = 0, 1.0
        self._size: int | None = None
        self._error: float | None = None
        self._test: UnderTest | None = None
        self._needed: int | None = None
        self._together: tuple[int, dict[int, TreeJudged]] = 0, {}
        self._curve: dict[int, TreeJudged] = {}
        self._foreseen: Foreseen | None = None

    def see(self, event: Event) -> None:
        """Take over what an event says."""
        self._asked = event.asked
        if isinstance(event, TreeJudged):
            self._size, self._error = event.size or None, event.error
            self._bound = min(self._bound, event.error_bound)
            self._judge_together(event)
        elif isinstance(event, UnderTest):
            self._size, self._test, self._needed = event.size or None, event, event.needed
        elif isinstance(event, Foreseen):
            self._foreseen = event
        elif isinstance(event, Finished):
            self._size, self._bound, self._test, self._needed = event.size, event.error_bound, None, None

    def _judge_together(self, event: TreeJudged) -> None:
        """Trees of several sizes that are judged by the same answers are a curve."""
        asked, sizes = self._together
        self._together = event.asked, {**(sizes if asked == event.asked else {}), event.size: event}
        if len(self._together[1]) >= _CURVE:
            self._curve = self._together[1]

    def parts(self, seconds: float) -> list[str]:
        """Labels, leaves, error, certified bound, rate, time, and the time that is left as far as it is known."""
        parts = [f"{self._asked:,} labels", *(self._growing() if self._curve else self._one_tree()), *self._forecast()]
        if seconds >= 1:
            parts.append(f"{self._asked / seconds:,.0f} labels/s")
        left = self._left(seconds)
        return [*parts, _clock(seconds), *([left] if left else [])]

    def _one_tree(self) -> list[str]:
        parts = [] if self._size is None else [f"{self._size:,} leaves"]
        if self._error is not None:
            parts.append(f"error about {self._error:.2g}")
        bound = self._certified()
        wanted = "" if self._epsilon is None else f" of {self._epsilon:g}"
        return [*parts, f"certified {bound:.3g}{wanted}" if bound < 1 else "nothing certified yet"]

    def _growing(self) -> list[str]:
        """How often the tree of each size agrees: certified, or on answers that it was not fitted to."""
        sure = all(event.error_bound < 1 for event in self._curve.values())
        shares = {size: 1 - (one.error_bound if sure else one.error) for size, one in sorted(self._curve.items())}
        points = " ".join(f"{size:,}:{math.floor(100 * share)}%" for size, share in shares.items())
        return [f"agreement by leaves, {'certified' if sure else 'about'}: {points}"]

    def _forecast(self) -> list[str]:
        """What the largest tree is likely to reach, until something is certified."""
        seen = self._foreseen
        if seen is None or any(event.error_bound < 1 for event in self._curve.values()):
            return []
        return [f"forecast: {seen.size:,} leaves agree on {1 - seen.high:.0%} to {1 - seen.low:.0%}"]

    def _certified(self) -> float:
        """The smallest error certified so far, worked out when somebody looks."""
        if self._test is not None:
            test, self._test = self._test, None
            self._bound = min(self._bound, error_bound(test.errors, test.samples, test.level))
        return self._bound

    def _left(self, seconds: float) -> str:
        """At least the time until a certificate if no error comes, at most the time until a budget ends."""
        queries, most = self._limits
        rate = self._asked / seconds if seconds > 0 else 0.0
        ends = [] if most is None else [most - seconds]
        if queries is not None and rate > 0:
            ends.append((queries - self._asked) / rate)
        if self._needed is not None and rate > 0:
            return f"at least {_clock(min([self._needed / rate, *ends]))} left"
        return f"at most {_clock(min(ends))} left" if ends else ""


def _clock(seconds: float) -> str:
    whole = max(0, int(seconds))
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:0{2 if hours else 1}d}:{whole % 60:02d}"


class Progress:
    """An observer that shows labels asked, leaves, error, certified bound, rate and time on one line.

    In a notebook it is one output that is replaced, with no widgets to install; where output goes to a file, only the
    last line is written.

    Args:
        every: The line changes at most every so many seconds, however many events there are.
        console: Where it is written; the terminal where it is left out.
        clock: What tells the time, in seconds.
        after: A run that ends within so many seconds shows nothing.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> quiet = Progress(after=2)  # as in distill(target, space, observer=quiet)
    """

    def __init__(
        self,
        every: float = 0.25,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
        after: float = 0.0,
    ) -> None:
        self._every, self._clock, self._after = check_number("every", every), clock, check_number("after", after)
        self._console = Console() if console is None else console
        self._begun = self._shown = -1.0
        self._status = RunStatus()
        self._output: Any = None

    def __call__(self, event: Event) -> None:
        """Take an event; show it if it is time."""
        now = self._clock()
        if self._begun < 0:
            self._begun = now
        self._status.see(event)
        late = now - self._begun >= self._after
        if isinstance(event, Finished):
            if late:
                self._show(" · ".join([*self._status.parts(now - self._begun), event.reason]), last=True)
            self._begun, self._status, self._output = -1.0, RunStatus(), None
        elif late and now - self._shown >= self._every:
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
