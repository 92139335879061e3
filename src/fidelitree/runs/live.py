"""A run as a page while it runs: the curve so far, the state in words, and a button that does what Ctrl-C does.

Nothing here listens to a network. The page has no script: a frame inside it loads itself again each second, so that the
button around it stays where it is. When the run has ended, the pages of its folder take over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from fidelitree.asking.events import Event, Finished, TreeJudged
from fidelitree.asking.progress import RunStatus
from fidelitree.display.frontier_chart import Mark, chart
from fidelitree.display.wording import Html, plain_page, tag
from fidelitree.runs.viewer import Page, Viewer

_AGAIN = '<meta http-equiv="refresh" content="1">'


class LiveRun:
    """An observer that is a page; ``stop`` is what the button does while the run goes on."""

    def __init__(self, title: str, stop: Callable[[], None]) -> None:
        self.title, self._stop = title, stop
        self._status, self._began = RunStatus(), time.monotonic()
        self._judged: dict[int, TreeJudged] = {}
        self._reason = ""
        self._viewer: Viewer | None = None
        self.over = threading.Event()
        """Set when somebody has asked for the end, after the run's own."""

    def __call__(self, event: Event) -> None:
        """Hear an event; a new dictionary each time, because pages are drawn by other threads."""
        self._status.see(event)
        if isinstance(event, TreeJudged) and event.size:
            self._judged = {**self._judged, event.size: event}
        if isinstance(event, Finished):
            self._reason = event.reason

    def ended(self, folder: Path) -> None:
        """The result lies in a folder now."""
        self._viewer = Viewer(folder)

    def page(self, name: str, asked: Mapping[str, str], uploaded: str | None = None) -> Page:
        """The live page, its frame, and what the button leads to; else a page of the folder."""
        if name == "state":
            return Page(self._state(), framed=True)
        if name == "stop" and uploaded is not None:
            return self._stopped()
        if name == "live" or self._viewer is None:
            return Page(plain_page(self.title, _button("Stop: keep the best tree so far"), self._frame()))
        return self._viewer.page(name, asked, uploaded)

    def _stopped(self) -> Page:
        if self._viewer is None:
            self._stop()
            told = "The run ends with the best tree so far. Its bound holds: tests may end at any time."
        else:
            self.over.set()
            told = "The page is closed. The result stays in its folder."
        return Page(plain_page(self.title, tag("p", told), tag("p", tag("a", "Back", href="live"))))

    def _frame(self) -> Html:
        return tag("iframe", src="state", title="The run so far", style="border:0;width:100%;height:36em")

    def _state(self) -> str:
        marks = [_mark(self._judged[size]) for size in sorted(self._judged)]
        sure = any(one.error_bound < 1 for one in self._judged.values())
        words = " · ".join(self._status.parts(time.monotonic() - self._began))
        drawn = chart(marks) if marks else tag("p", "No tree was judged yet.")
        parts = [tag("p", words), drawn, tag("p", _LEGEND[sure]) if marks else None]
        if self._viewer is not None:
            links = tag("a", "Look at the result", href=".", target="_top")
            return plain_page(f"Ended: {self._reason or 'done'}", *parts, tag("p", links), _button("Close", "_top"))
        ending = f"Ending: {self._reason}" if self._reason else "Running"
        return plain_page(ending, *parts).replace("<head>", f"<head>{_AGAIN}", 1)


_LEGEND = {
    True: "A point for each size: its certified agreement, and the agreement that was counted.",
    False: "A point for each size, as it looks so far. Nothing is certified yet.",
}


def _mark(judged: TreeJudged) -> Mark:
    """What is certified of a tree, or else what it looks like."""
    high = judged.error_bound if judged.error_bound < 1 else judged.error
    return Mark(judged.size, min(judged.error, high), high)


def _button(words: str, target: str | None = None) -> Html:
    inside = (tag("input", type="hidden", name_="stop", value="1"), tag("button", words, type="submit"))
    return tag("form", *inside, method="post", action="stop", target=target)
