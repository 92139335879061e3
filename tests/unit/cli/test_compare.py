"""``fidelitree compare``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fidelitree import cli

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
    assert [line.split()[:3] for line in lines[1:]] == [["optimal", "8", "4"], ["id3", "8", "4"]]


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
    assert "learners must be among distill, smallest" in text
    code, text = run(circuit, "--epsilon", "none")
    assert (code, "--epsilon must be a number here; got none" in text) == (2, True)
