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
from fidelitree.asking.events import Asked
from fidelitree.cli import ending
from fidelitree.cli.ending import StatusLine


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(ending, "time", made)
    return made


def test_where_nobody_watches_a_line_comes_now_and_then(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with StatusLine("distilling f", 0.05) as shown:
        for second in range(25):
            clock.now = 100.0 + second
            shown(Asked(second, second))
    assert capsys.readouterr().err.splitlines() == [
        "distilling f: 10 labels · nothing certified yet · 1 labels/s · 0:10",
        "distilling f: 20 labels · nothing certified yet · 1 labels/s · 0:20",
    ]


def test_it_changes_nothing_of_a_run() -> None:
    target = ft.targets.multiplexer(2)
    space = ft.ProductSpace.bernoulli(target.n, 0.3)
    alone = ft.distill(target, space, 0.02, strategy="influence")
    with StatusLine("", 0.02) as shown:
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
        seen = _read_until(screen, " leaves · error about ".encode())
        running.send_signal(signal.SIGINT)
        last = _read_until(screen, b"let it run on")
        assert running.stdout is not None
        printed = running.stdout.read().decode()
    os.close(screen)
    assert b"distilling waits:slow: " in seen
    assert b" labels" in seen
    assert running.returncode == 7
    assert "ended early: interrupted" in printed
    assert "NOT certified" in printed
    assert b"goal missed: " in last or b"nothing certified: " in last
    assert (tmp_path / "results" / "waits-slow" / "certificate.json").is_file()
