"""Every command that may take long: asked to end it ends with 7, and its files are written before a word is printed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from commandline import BITS, run
from fidelitree.cli.ending import Code
from fidelitree.experiments import catalogue
from fidelitree.runs.agree import verify as verifying

MANY = ("--bernoulli", "0.5", "--features", "24")
SENT = """
import signal

count = 0

def alarm(batch):
    global count
    count += len(batch)
    if count > {limit}:
        signal.raise_signal({number})
    return batch[:, 3] & (batch[:, 0] | batch[:, 1] & batch[:, 2])
"""


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def sent(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> signal.Signals:
    """The module `sent` has a target that is asked to end after some hundred labels."""
    number: signal.Signals = request.param
    (folder / "sent.py").write_text(SENT.format(limit=300, number=int(number)), encoding="utf-8")
    monkeypatch.delitem(sys.modules, "sent", raising=False)
    return number


def test_certify(sent: signal.Signals) -> None:
    """It ended with 3, or was killed."""
    Path("sent.py").write_text(SENT.format(limit=1_000, number=int(sent)), encoding="utf-8")
    asked = ("certify", "aims:parity", "sent:alarm", *MANY, "--batch-size", 50, "--out", "found/c.json")
    done = run(*asked, "--within", 0.02)
    assert done.code == Code.INTERRUPTED
    assert done.err.endswith("interrupted: no answers were kept, so the same command begins anew\n")
    kept = json.loads(Path("found/c.json").read_text(encoding="utf-8"))
    assert 0 < kept["samples"] <= 1_000
    assert f"Tested on {kept['samples']} fresh inputs" in done.out
    assert run(*asked[:7], "--journal", "run.db").err.endswith("interrupted: the same command goes on from there\n")


def test_a_claim_that_is_certified_already_ends_with_0(sent: signal.Signals) -> None:
    done = run("certify", "aims:alarm", "sent:alarm", *MANY, "--batch-size", 20, "--epsilon", 0.05)
    assert done.code == Code.CERTIFIED


def test_diff(sent: signal.Signals) -> None:
    """It ended with 3 or 4, or was killed."""
    Path("sent.py").write_text(SENT.format(limit=100, number=int(sent)), encoding="utf-8")
    for old in ("aims:alarm", "aims:parity"):
        files = ("--report", "found/page.html", "--markdown", "found/out.md")
        done = run("diff", old, "sent:alarm", *MANY, "--batch-size", 50, *files)
        assert done.code == Code.INTERRUPTED
        assert "; interrupted." in done.out
        assert done.out.endswith("wrote found/page.html\nwrote found/out.md\n")
        assert done.err.endswith("interrupted: no answers were kept, so the same command begins anew\n")
        assert "; interrupted." in Path("found/page.html").read_text(encoding="utf-8")
        sys.modules["sent"].count = 0  # type: ignore[attr-defined]


def test_verify(sent: signal.Signals) -> None:
    """It ended with 0, because the stored answers confirm the certificate, or was killed."""
    assert run("distill", "aims:alarm", *MANY, "--epsilon", 0.01, "--out", "kept").code == 0
    done = run("verify", "kept", "--target", "sent:alarm", "--seed", 4)
    assert done.code == Code.INTERRUPTED
    assert "yes the answers in the journal lead to this tree and this certificate" in done.out
    assert done.err.endswith("interrupted: the target was not asked as often as its test needs\n")


def test_analyze(sent: signal.Signals) -> None:
    done = run("analyze", "sent:alarm", *MANY)
    assert (done.code, done.out) == (Code.INTERRUPTED, "")


def test_compare(sent: signal.Signals) -> None:
    learners = ("--learner", "id3", "--learner", "cart")
    done = run("compare", "sent:alarm", *MANY, "--epsilon", 0.01, *learners, "--out", "found")
    assert done.code == Code.INTERRUPTED
    assert Path("found/comparison.csv").read_text(encoding="utf-8").count("\n") == 2
    assert "id3" in done.out


def test_an_experiment_keeps_no_row_of_a_run_that_was_cut_off(
    sent: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went on with what was left of it, and drew the runs that were cut off."""
    reached = []

    def quiet(settings: Any, advance: Any, *, last: bool) -> catalogue.Report:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(sent)
        if not last:
            advance(1, 2)
        reached.append(last)
        return catalogue.Report([])

    for last in (False, True):
        monkeypatch.setitem(catalogue.EXPERIMENTS, "bounds", lambda *told, last=last: quiet(*told, last=last))
        done = run("experiment", "bounds")
        assert (done.code, done.out) == (Code.INTERRUPTED, "")
        assert (
            done.err.strip() == "fidelitree: interrupted: the experiment is not done, and the same command begins anew"
        )
    assert reached == [True]


def test_watch(sent: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    run("distill", "aims:alarm", *BITS, "--out", "kept")

    def arriving(source: Any) -> Any:
        yield from ()
        signal.raise_signal(sent)

    monkeypatch.setattr(import_module("fidelitree.cli.watch"), "_arriving", arriving)
    done = run("watch", "kept", "-", "--state", "s.json")
    assert (done.code, done.err) == (7, "fidelitree: interrupted: s.json says how far it came\n")
    assert run("watch", "kept", "-").err == "fidelitree: interrupted: nothing was written down\n"


def test_a_replay_that_is_cut_off_is_no_contradiction(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks like one: it leads to another tree. A run ends early and says nothing of the signal."""
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    usual = verifying.replay
    for reason in ("interrupted", "certified"):

        def cut_off(*told: Any, reason: str = reason) -> Any:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            return replace(usual(*told), reason=reason)

        monkeypatch.setattr(verifying, "replay", cut_off)
        done = run("verify", "kept")
        assert (done.code, done.out) == (Code.INTERRUPTED, "")
    assert done.err == "fidelitree: interrupted before the check had come to an end\n"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (("certify", "aims:alarm", "aims:alarm", "--out"), "c.json"),
        (("diff", "aims:alarm", "aims:alarm", "--report"), "page.html"),
        (("diff", "aims:alarm", "aims:alarm", "--markdown"), "out.md"),
        (("compare", "aims:alarm", "--learner", "id3", "--out"), "found"),
        (("analyze", "aims:alarm", "--plot"), "picture.svg"),
    ],
)
def test_files_are_there_before_a_word_is_printed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], file: str
) -> None:
    if file == "picture.svg":
        pytest.importorskip("matplotlib")

    def interrupted(*words: Any) -> None:
        raise KeyboardInterrupt

    module = import_module(f"fidelitree.cli.{command[0]}")
    monkeypatch.setattr(module, "say" if command[0] == "certify" else "tell", interrupted)
    done = run(*command, file, *BITS)
    assert (done.code, done.out) == (Code.INTERRUPTED, "")
    assert done.err == f"fidelitree: interrupted, and the result is in {file}\n"
    assert Path(file).exists()


def test_a_pipe_that_nobody_reads_loses_no_file(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    asked = ("certify", "kept", "kept", "--epsilon", "0.1", "--out", "c.json")
    code = "from fidelitree.__main__ import main; main()"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-c", code, *asked], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.returncode != 0, done.stderr
    assert json.loads(Path("c.json").read_text(encoding="utf-8"))["format"] == "fidelitree.certificate"


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_a_file_is_written_waits_for_it_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    usual = Path.write_text

    def write_text(path: Path, *told: Any, **more: Any) -> int:
        for _ in range(times):
            signal.raise_signal(signal.SIGTERM)
        return usual(path, *told, **more)

    monkeypatch.setattr(Path, "write_text", write_text)
    done = run("certify", "aims:alarm", "aims:alarm", *BITS, "--epsilon", 0.1, "--out", "c.json")
    if times == 1:
        assert (done.code, done.err) == (0, "")
        assert done.out.endswith("wrote c.json\n")
    else:
        assert (done.code, done.out) == (7, "")
        told = "interrupted while the result was written to c.json, where it may be missing"
        assert done.err == f"fidelitree: {told}\n"


def test_a_difference_is_printed_even_if_its_page_cannot_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*told: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fidelitree.runs.agree.difference.write_text", full)
    done = run("diff", "aims:alarm", "aims:parity", *BITS, "--report", "page.html")
    assert (done.code, "answered otherwise by the new target" in done.out) == (2, True)
    assert "No space left on device" in done.err
