"""A run that is killed at random moments ends as if nothing had happened, and pays for one batch a kill at most."""

from __future__ import annotations

import json
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fidelitree as ft
import slowrun
from endpoints import Endpoint, Rows, serving
from fidelitree.asking.journalled import ASKED_AGAIN

SCRIPT = Path(slowrun.__file__)
SECONDS = 0.02  # that a call takes; a run makes some thirty of them


def heeding_interrupts() -> None:
    """A shell that starts the tests in the background has interrupts ignored, which a process would inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Session:
    """One process that works on the run."""

    def __init__(self, folder: Path, seconds: float = SECONDS, before: object = None, epsilon: float = 0.05) -> None:
        self.log = folder / "log"
        arguments = [sys.executable, SCRIPT, folder / "run.db", self.log, str(seconds), str(epsilon)]
        self.process = subprocess.Popen(
            arguments,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before or heeding_interrupts,  # noqa: PLW1509 - this process has one thread
        )

    def calls(self) -> list[int]:
        """Inputs of each call so far, over all sessions."""
        return calls_in(self.log) if self.log.exists() else []

    def wait_for_calls(self, calls: int) -> None:
        end = time.monotonic() + 300
        while len(self.calls()) < calls and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)

    def finish(self) -> str:
        output, complaints = self.process.communicate(timeout=300)
        assert self.process.returncode == 0, complaints
        return output


def undisturbed(tmp_path: Path, epsilon: float = 0.05) -> str:
    return slowrun.result(None, str(tmp_path / "undisturbed.log"), epsilon=epsilon)


def test_killed_and_resumed(tmp_path: Path, soak: bool) -> None:
    moments = random.Random(1)
    kills, epsilon = (100, 0.002) if soak else (5, 0.05)  # so that the run takes several calls for each kill
    for _ in range(kills):
        session = Session(tmp_path, epsilon=epsilon)
        # One call is that of the resumed run, to see that it is the same target; then it is at work.
        session.wait_for_calls(len(session.calls()) + moments.choice((1, 2, 2, 3)))
        time.sleep(moments.uniform(0, 4 * SECONDS))
        assert session.process.poll() is None, "the run is longer than all sessions together"
        session.process.send_signal(signal.SIGKILL)
        session.process.communicate()
    last = Session(tmp_path, seconds=0, epsilon=epsilon)
    assert last.finish() == undisturbed(tmp_path, epsilon)
    calls = calls_in(tmp_path / "undisturbed.log")
    assert sum(last.calls()) <= sum(calls) + kills * max(calls) + (kills + 1) * ASKED_AGAIN


def test_a_watch_that_is_killed_counts_every_row_once(tmp_path: Path, soak: bool) -> None:
    """Its state is written with every 500 rows, all of it or nothing, and says how many rows it is about."""
    space, moments, rows = ft.ProductSpace.bernoulli(4), random.Random(2), 40_000 if soak else 5_000
    ft.distill(lambda batch: batch[:, 0], space).save(tmp_path / "kept")
    batch = space.draw(rows, seed=1)
    names = ft.Tree.load(tmp_path / "kept" / "tree.json").names
    told = ({**dict(zip(names, row, strict=True)), "label": row[0] ^ row[1] & row[2]} for row in batch.tolist())
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in told), encoding="utf-8")
    command = [sys.executable, "-m", "fidelitree", "watch", "kept", "rows.jsonl", "--state", "state.json", "--json"]
    state, seen = tmp_path / "state.json", 0
    for _ in range(40 if soak else 2):
        running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        while running.poll() is None and seen == _rows_in(state):
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.01))
        running.kill()
        running.wait()
        before, seen = seen, _rows_in(state)
        assert before <= seen <= rows
    last = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=False)
    total = json.loads(last.stdout)["promises"][0]
    assert (last.returncode, total["rows"]) == (4, rows)
    assert total["errors"] == int((batch[:, 1] & batch[:, 2]).sum())


def _rows_in(state: Path) -> int:
    return int(json.loads(state.read_text(encoding="utf-8"))["promises"][0]["rows"]) if state.exists() else 0


def calls_in(log: Path) -> list[int]:
    return [int(line.split()[0]) for line in log.read_text(encoding="ascii").splitlines()]


@pytest.mark.parametrize("signal_sent", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_leaves_a_journal_that_goes_on(tmp_path: Path, signal_sent: signal.Signals) -> None:
    session = Session(tmp_path)
    session.wait_for_calls(8)
    session.process.send_signal(signal_sent)
    output, _ = session.process.communicate(timeout=300)
    if signal_sent == signal.SIGINT:  # the library returns the best tree so far
        assert output.endswith("interrupted\n")
    else:
        assert session.process.returncode == -signal.SIGTERM
    assert ft.journal.info(tmp_path / "run.db").answers >= sum(session.calls()[:7])
    assert Session(tmp_path, seconds=0).finish() == undisturbed(tmp_path)


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    session = Session(tmp_path, seconds=0, before=small_files)
    _, complaints = session.process.communicate(timeout=300)
    assert "JournalError: journal " in complaints, complaints
    assert "Every answer before this one is kept: make room, then make the same call again" in complaints
    kept, asked = ft.journal.info(tmp_path / "run.db").answers, session.calls()
    assert 0 < kept == sum(asked[:-1])
    assert Session(tmp_path, seconds=0).finish() == undisturbed(tmp_path)


ASKING = """
import sys, fidelitree as ft
target = ft.targets.http(sys.argv[1], concurrency=4)
space = ft.ProductSpace.bernoulli(16)
found = ft.distill(target, space, float(sys.argv[4]), seed=1, prefer=sys.argv[3], journal=sys.argv[2], batch_size=3)
print(found.tree.digest, found.certificate, found.queries)
"""
CONCURRENT, ROWS = 4, 3


def branching(rows: Rows) -> list[int]:
    return [row[1 + 2 * row[0]] if row[5] else row[6 + row[7]] ^ row[9] for row in rows]


@pytest.mark.parametrize("prefer", ["rounds", "queries"])
def test_killed_while_a_server_is_asked_it_pays_twice_for_calls_in_flight_alone(
    tmp_path: Path, prefer: str, soak: bool
) -> None:
    pytest.importorskip("httpx")
    moments, journal = random.Random(7), tmp_path / "run.db"
    kills, epsilon = (60, 0.002) if soak else (2, 0.02)
    with serving(Endpoint(branching, latency=SECONDS)) as endpoint:
        words = [sys.executable, "-c", ASKING, endpoint.url, str(journal), prefer, str(epsilon)]
        undisturbed = subprocess.run(
            [*words[:4], str(tmp_path / "other.db"), *words[5:]], capture_output=True, check=True
        )
        paid, endpoint.rows = endpoint.rows, 0
        for _ in range(kills):
            goal = endpoint.calls + moments.randint(1, 24)  # sixteen inputs see that it is the same target
            child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while endpoint.calls < goal and child.poll() is None:
                time.sleep(0.002)
            time.sleep(moments.uniform(0, 2 * SECONDS))
            assert child.poll() is None, "the run is longer than all sessions together"
            child.send_signal(signal.SIGKILL)
            child.communicate()
        endpoint.latency = 0
        last = subprocess.run(words, capture_output=True, check=True)
    assert last.stdout == undisturbed.stdout
    assert endpoint.rows <= paid + kills * CONCURRENT * ROWS + (kills + 1) * ASKED_AGAIN
