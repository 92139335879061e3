"""``fidelitree compare``."""

from __future__ import annotations

import json
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import commandline
import fidelitree as ft
from fidelitree import cli
from fidelitree.learners import compare as comparing

if TYPE_CHECKING:
    from pathlib import Path

XOR = ".i 3\n.o 1\n.ilb a b c\n.ob y\n01- 1\n10- 1\n.e\n"


@pytest.fixture
def circuit(tmp_path: Path) -> str:
    path = tmp_path / "xor.pla"
    path.write_text(XOR, encoding="utf-8")
    return str(path)


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(cli.app, ["compare", *arguments])
    return done.exit_code, done.output


def test_a_table(circuit: str) -> None:
    code, text = run(circuit, "--epsilon", "0", "--learner", "optimal", "--learner", "id3")
    lines = [line for line in text.splitlines() if line.strip()]
    assert code == 0
    assert [line.split()[:3] for line in lines[1:]] == [["optimal", "8", "4"], ["id3", "8", "4"], ["seed", "0"]]


def test_files_and_json(circuit: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code, text = run(circuit, "--learner", "top_down", "--out", str(tmp_path / "out"), "--json")
    found = json.loads(text)
    assert code == 0
    assert (found["epsilon"], found["rows"][0]["learner"], found["rows"][0]["leaves"]) == (0.05, "top_down", 4)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "comparison.csv",
        "comparison.svg",
        "comparison.txt",
    ]


def test_nothing_certified_is_exit_code_3(circuit: str) -> None:
    assert run(circuit, "--epsilon", "0.01", "--learner", "id3", "--max-queries", "4")[0] == 3


def test_bad_input(circuit: str) -> None:
    code, text = run(circuit, "--learner", "gini")
    assert code == 2
    assert "--learner must be one of distill, smallest" in text
    code, text = run(circuit, "--epsilon", "none")
    assert (code, "--epsilon must be a number here; got none" in text) == (2, True)


def test_ctrl_c_ends_it_with_the_rows_so_far_and_3(folder: Path) -> None:
    learners = ["--learner", "id3", "--learner", "cart"]
    done = commandline.run("compare", "aims:interrupted", "--bernoulli", 0.5, "--features", 24, *learners)
    assert done.code == 3
    assert [line.split()[0] for line in done.out.splitlines()] == ["learner", "id3", "seed"]
    assert done.err == "interrupted: learners that are not listed were not run\n"


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_a_learner_kept_quiet_about_ends_it(
    circuit: str, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals
) -> None:
    def quiet(*args: Any, **more: Any) -> ft.Distillation:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(sent)
        return ft.distill(*args, **more)

    before = signal.getsignal(sent)
    monkeypatch.setitem(comparing.OURS, "smallest", quiet)
    done = commandline.run("compare", circuit, "--learner", "smallest", "--learner", "id3", "--json")
    assert done.code == 3
    assert [row["learner"] for row in done.json["rows"]] == ["smallest"]
    assert done.json["interrupted"] is True
    assert signal.getsignal(sent) is before
