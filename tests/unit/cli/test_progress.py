"""The display of a run: what it says, that it says little where nobody watches, and that Ctrl-C ends a live one."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

import fidelitree as ft
from fidelitree.cli import progress
from fidelitree.cli.progress import Progress
from fidelitree.events import Asked, Finished, TreeJudged, UnderTest
from fidelitree.sequential import error_bound


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_the_line_grows_with_what_is_known(clock: Clock) -> None:
    shown = Progress("distilling f", 0.05)
    assert shown.line() == "0 s, 0 queries (0/s), nothing certified yet"
    clock.now += 10
    shown(Asked(500, 480))
    assert shown.line() == "10 s, 500 queries (50/s), nothing certified yet"
    shown(TreeJudged(500, 7, 0.04, 1.0))
    assert shown.line() == "10 s, 500 queries (50/s), 7 leaves, error about 0.04, nothing certified yet"
    shown(UnderTest(500, 9, 1, 200, 0.03, 150))
    bound = error_bound(1, 200, 0.03)
    assert shown.line() == (
        f"10 s, 500 queries (50/s), 9 leaves, error about 0.04, certified {bound:.4f} of 0.05, at least 3 s left"
    )
    shown(Finished(500, 9, 0.04, "certified"))
    clock.now += 3600
    assert shown.line().startswith("1 h 00 min, 500 queries (0/s), 9 leaves")


def test_the_time_left_is_never_more_than_a_budget_allows(clock: Clock) -> None:
    shown = Progress("distilling f", None, (1000, 600.0))
    clock.now += 100
    shown(Asked(500, 500))
    assert shown.line().endswith("nothing certified yet, at most 1 min 40 s left")
    shown(UnderTest(500, 9, 0, 100, 0.05, 10**6))
    assert shown.line().endswith(f"certified {error_bound(0, 100, 0.05):.4f}, at least 1 min 40 s left")


def test_an_audit_has_no_leaves_to_show(clock: Clock) -> None:
    shown = Progress("certifying f", 0.05)
    shown(UnderTest(0, 0, 0, 0, 0.05, 58))
    shown(TreeJudged(58, 0, 0.0, 0.06))
    clock.now += 1
    assert shown.line() == "1 s, 58 queries (58/s), error about 0, certified 0.0600 of 0.05, at least 1 s left"


def test_where_nobody_watches_a_line_comes_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("distilling f", 0.05) as shown:
        for second in range(25):
            clock.now = 100.0 + second
            shown(Asked(second, second))
    assert capsys.readouterr().err.splitlines() == [
        "distilling f: 10 s, 10 queries (1/s), nothing certified yet",
        "distilling f: 20 s, 20 queries (1/s), nothing certified yet",
    ]


def test_it_changes_nothing_of_a_run() -> None:
    target = ft.targets.multiplexer(2)
    space = ft.ProductSpace.bernoulli(target.n, 0.3)
    alone = ft.distill(target, space, 0.02, strategy="influence")
    with Progress("", 0.02) as shown:
        watched = ft.distill(target, space, 0.02, strategy="influence", observer=shown)
        shown.line()
    assert (watched.tree, watched.certificate, watched.trace) == (alone.tree, alone.certificate, alone.trace)


SLOW = """
import time

def slow(batch):
    time.sleep(0.003 * len(batch))
    return batch.sum(axis=1) % 2
"""


def _read_until(screen: int, wanted: bytes, seconds: float = 60) -> bytes:
    seen, end = b"", time.monotonic() + seconds
    while wanted not in seen and time.monotonic() < end:
        if select.select([screen], [], [], 1)[0]:
            seen += os.read(screen, 65536)
    return seen


@pytest.mark.skipif(not hasattr(os, "setsid"), reason="needs a terminal of the POSIX kind")
def test_a_live_run_shows_itself_and_ends_honestly_on_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(SLOW, encoding="utf-8")
    screen, stderr = pty.openpty()
    program = Path(sysconfig.get_path("scripts")) / "fidelitree"
    command = [sys.executable, str(program), "distill", "waits:slow", "--bernoulli", "0.5", "--features", "30"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=stderr) as running:
        os.close(stderr)
        seen = _read_until(screen, b" leaves, error about ")
        running.send_signal(signal.SIGINT)
        last = _read_until(screen, b"not certified: ")
        assert running.stdout is not None
        printed = running.stdout.read().decode()
    os.close(screen)
    assert b"distilling waits:slow: " in seen
    assert b" queries (" in seen
    assert running.returncode == 3
    assert "ended early: interrupted" in printed
    assert "NOT certified" in printed
    assert b"let it run on" in last
    assert (tmp_path / "results" / "waits-slow" / "certificate.json").is_file()
