"""The progress observer: one line that changes, on a terminal, in a notebook, and hardly at all in a file."""

from __future__ import annotations

import io
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import fidelitree as ft
from fidelitree.asking.access import watched
from fidelitree.asking.events import Event, Finished, SplitMade, TreeJudged, nobody

if TYPE_CHECKING:
    from collections.abc import Iterator

JUDGED = TreeJudged(1_200, 7, 0.0413, 0.0988)
DONE = Finished(1_500, 7, 0.0499, "certified")


def ticking(*times: float) -> Any:
    clock: Iterator[float] = iter(times)
    return lambda: next(clock)


def terminal() -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=True, color_system=None, width=120, force_jupyter=False), file


def test_line_changes_no_more_often_than_told() -> None:
    console, file = terminal()
    progress = ft.Progress(1.0, console, ticking(0, 0.5, 2, 2.5, 4))
    for event in (Event(8), JUDGED, JUDGED, SplitMade(1_300, 8, "--", "x0 = 1", 0.1), DONE):
        progress(event)
    lines = [line.removeprefix("\x1b[2K").rstrip("\n") for line in file.getvalue().split("\r")[1:]]
    assert lines == [
        "8 labels · nothing certified yet · 0:00",
        "1,200 labels · 7 leaves · error about 0.041 · certified 0.0988 · 600 labels/s · 0:02",
        "1,500 labels · 7 leaves · error about 0.041 · certified 0.0499 · 375 labels/s · 0:04 · certified",
    ]
    assert file.getvalue().endswith("certified\n")


def test_file_gets_the_last_line_only() -> None:
    file = io.StringIO()
    progress = ft.Progress(0, Console(file=file, width=20, force_jupyter=False), ticking(0, 1, 61))
    for event in (Event(8), JUDGED, DONE):
        progress(event)
    assert file.getvalue() == (
        "1,500 labels · 7 leaves · error about 0.041 · certified 0.0499 · 25 labels/s · 1:01 · certified\n"
    )


def test_notebook_output_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython is not installed here; its place is taken by the two names that are used of it."""
    shown: list[tuple[str, str]] = []

    class Handle:
        def update(self, html: str) -> None:
            shown.append(("update", html))

    def display(html: str, display_id: bool) -> Handle:
        assert display_id
        shown.append(("display", html))
        return Handle()

    module = types.ModuleType("IPython.display")
    module.HTML = str  # type: ignore[attr-defined]
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    progress = ft.Progress(0, Console(file=io.StringIO(), force_jupyter=True), ticking(0, 1, 2, 3))
    for event in (Event(8), DONE, Event(9), DONE):
        progress(event)
    assert [how for how, _ in shown] == ["display", "update", "display", "update"], "the next run has its own output"
    assert "8 labels" in shown[0][1]
    assert "certified" in shown[1][1]


def test_a_short_run_shows_nothing() -> None:
    console, file = terminal()
    progress = ft.Progress(0, console, ticking(0, 1, 1.5, 10, 11, 12.5, 13), after=2)
    for event in (Event(8), JUDGED, DONE):
        progress(event)
    assert file.getvalue() == ""
    for event in (Event(8), JUDGED, JUDGED, DONE):
        progress(event)
    lines = file.getvalue().split("\r")[1:]
    assert len(lines) == 2
    assert lines[-1].endswith("0:03 · certified\n"), "the time since the first event of its own run"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("screen", "switch", "shows"), [(True, "", True), (True, "0", False), (False, "", False)])
def test_progress_comes_by_itself_where_somebody_waits(
    monkeypatch: pytest.MonkeyPatch, screen: bool, switch: str, shows: bool
) -> None:
    monkeypatch.setattr(sys, "stderr", Screen() if screen else io.StringIO())
    monkeypatch.setenv("FIDELITREE_PROGRESS", switch)
    assert isinstance(watched(nobody), ft.Progress) is shows
    assert watched(print) is print, "whoever has an observer needs no other"


def test_it_watches_a_run() -> None:
    console, file = terminal()
    found = ft.distill(ft.targets.multiplexer(3), ft.ProductSpace.bernoulli(11), 0.1, observer=ft.Progress(0, console))
    assert f"{found.queries.asked} labels · 16 leaves" in file.getvalue()
    assert file.getvalue().endswith("certified\n")
