"""Where a command writes is looked at before its target is asked, and results are printed before they are written."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest

import fidelitree as ft
from commandline import BITS, refused, run

NO_FOLDER = "--out must be a folder, or a name that is not taken; 'taken' is taken"


@pytest.fixture
def taken(folder: Path) -> Path:
    """A file, a folder, and a target that leaves a trace when it is asked."""
    Path("taken").write_text("", encoding="utf-8")
    Path("there").mkdir()
    Path("paid.py").write_text(
        "import aims\ndef alarm(batch):\n    open('asked', 'w').close()\n    return aims.alarm(batch)\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["certify", "aims:alarm", "paid:alarm", "--out", "there"], "--out must be a file, or a name that is not"),
        (["certify", "aims:alarm", "paid:alarm", "--out", "taken/c.json"], "--out must be a file that can be made; "),
        (["analyze", "paid:alarm", "--plot", "bars.xyz"], "--plot must end in one of ."),
        (["analyze", "paid:alarm", "--plot", "bars"], "--plot must end in one of ."),
        (["analyze", "paid:alarm", "--plot", "taken/bars.png"], "--plot must be a file that can be made; "),
        (["compare", "paid:alarm", "--out", "taken"], NO_FOLDER),
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_written_is_refused_before_the_target_is_asked(
    taken: Path, command: list[str], message: str
) -> None:
    assert refused(*command, *BITS).startswith(message)
    assert not Path("asked").exists()


def test_what_may_not_be_written_is_refused(taken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "there")
    message = refused("certify", "aims:alarm", "paid:alarm", *BITS, "--out", "there/new/c.json")
    assert message == f"--out must be a file that may be written; '{taken / 'there'}' may not"
    assert not Path("asked").exists()


def test_folders_on_the_way_are_made(taken: Path) -> None:
    done = run("certify", "aims:alarm", "paid:alarm", *BITS, "--out", "new/er/c.json")
    assert done.out.endswith("wrote new/er/c.json\n")
    assert ft.Certificate.from_json(Path("new/er/c.json").read_text(encoding="utf-8")).holds


def test_what_was_paid_for_is_printed_even_if_it_cannot_be_written(
    taken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    monkeypatch.setattr(os, "fsync", full)
    for command in (
        ["certify", "aims:alarm", "paid:alarm", "--out", "c.json"],
        ["distill", "paid:alarm", "--out", "kept"],
    ):
        done = run(*command, *BITS)
        assert done.code == 2
        assert re.search("this (tree|predictor) agrees", done.out, re.IGNORECASE)
        assert "No space left on device" in done.err
    done = run("compare", "paid:alarm", "--learner", "id3", "--out", "compared", *BITS)
    assert (done.code, done.out.splitlines()[1].split()[0]) == (2, "id3")
