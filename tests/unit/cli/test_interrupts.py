"""Asked to end: what was found is on disk before a word is printed, and the exit code says that it was not finished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import fidelitree as ft
from commandline import BITS, run
from fidelitree.certificates import store
from fidelitree.cli import result_folder
from fidelitree.cli.ending import Code
from fidelitree.cli.shared_options import finishing

SLOW = """
import time

def slow(batch):
    with open('asked', 'a') as log:
        log.write('x')
    time.sleep(0.03)
    return batch[:, 0] & batch[:, 1] | batch[:, 2] & batch[:, 3]
"""
FOLDER = Path("results/aims-alarm")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_frontier_that_is_asked_to_end_does_not_end_with_0(folder: Path, sent: signal.Signals) -> None:
    """It ended with 0, and one leaf that always gives the same answer."""
    Path("slow.py").write_text(SLOW, encoding="utf-8")
    code = "from fidelitree.__main__ import main; main()"
    command = [sys.executable, "-c", code, "frontier", "slow:slow", *BITS, "--max-leaves", "8"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while not (Path("asked").exists() and Path("asked").stat().st_size > 1) and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(sent)
    output, complaints = process.communicate(timeout=300)
    assert process.returncode == Code.INTERRUPTED, output + complaints
    assert complaints.endswith("interrupted: the same command goes on from there\n")
    assert "ended: interrupted" in output
    assert store.load("results/slow-slow").tree.size >= 1
    asked = Path("asked").stat().st_size
    assert run("frontier", "slow:slow", *BITS, "--max-leaves", 8).code == 0
    assert Path("asked").stat().st_size > asked


def _signals(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is asked to end while a result is written, after all files but the last."""
    usual = Path.replace

    def replaced(path: Path, target: Path) -> Path:
        if path.name == store.CERTIFICATE:
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
        return usual(path, target)

    monkeypatch.setattr(Path, "replace", replaced)


def test_ctrl_c_while_saving_waits_for_the_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _signals(1, monkeypatch)
    done = run("distill", "aims:alarm", *BITS)
    assert (done.code, done.err) == (0, "")
    assert f"wrote {FOLDER}: " in done.out
    assert ft.verify(FOLDER).holds


def test_a_second_ctrl_c_while_saving_says_what_is_on_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _signals(2, monkeypatch)
    done = run("distill", "aims:alarm", *BITS)
    assert (done.code, done.out) == (Code.INTERRUPTED, "")
    assert done.err == (
        f"fidelitree: interrupted while the result was written to {FOLDER}, where it may be missing: the same command "
        "goes on from there\n"
    )
    assert ft.journal.info(FOLDER / "journal.db").answers > 0
    monkeypatch.undo()
    assert run("distill", "aims:alarm", *BITS).code == 0


def test_without_a_journal_it_says_that_nothing_was_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _signals(2, monkeypatch)
    done = run("distill", "aims:alarm", *BITS, "--no-journal")
    assert done.err.endswith("where it may be missing: no answers were kept, so the same command begins anew\n")


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_all_files_are_there_before_a_word_is_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, as_json: list[str]
) -> None:
    def interrupted(*words: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(result_folder, "say", interrupted)
    monkeypatch.setattr(result_folder, "say_json", interrupted)
    done = run("distill", "aims:alarm", *BITS, *as_json)
    assert (done.code, done.out) == (Code.INTERRUPTED, "")
    assert done.err == f"fidelitree: interrupted, and the result is in {FOLDER}\n"
    assert ft.verify(FOLDER).holds


def test_a_run_without_an_error_to_reach_ends_like_a_frontier(folder: Path) -> None:
    few = run(
        "distill", "aims:parity", "--bernoulli", "0.5", "--features", "24", "--epsilon", "none", "--max-queries", 10
    )
    assert few.code == Code.NOT_CERTIFIED
    done = run("distill", "aims:interrupted", "--bernoulli", "0.5", "--features", "24", "--epsilon", "none")
    assert done.code == Code.INTERRUPTED


def test_signals_are_heard_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with finishing():
        assert signal.getsignal(signal.SIGINT) is not before
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt), finishing():  # noqa: PT012 - two signals
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)


def test_the_code_is_told_to_scripts() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert f"| {int(Code.INTERRUPTED)} | " in page
    assert json.dumps(int(Code.INTERRUPTED)) == "7"
