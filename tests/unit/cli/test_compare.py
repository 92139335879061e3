"""``fidelitree compare``."""

from __future__ import annotations

import json
import re
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


def test_ctrl_c_ends_it_with_the_rows_so_far_and_7(folder: Path) -> None:
    learners = ["--learner", "id3", "--learner", "cart"]
    done = commandline.run("compare", "aims:interrupted", "--bernoulli", 0.5, "--features", 24, *learners)
    assert done.code == 7
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
    assert done.code == 7
    assert [row["learner"] for row in done.json["rows"]] == ["smallest"]
    assert done.json["interrupted"] is True
    assert signal.getsignal(sent) is before


def sums(folder: Path) -> tuple[str, ...]:
    """Pairs of columns are independent, and yet the third follows from the other two: no tree of pairs draws that."""
    rows = [(a, b, (a + b) % 200) for a in range(0, 200, 7) for b in range(0, 200, 6)]
    lines = "\n".join(",".join(map(str, row)) for row in rows)
    (folder / "sums.csv").write_text(f"a,b,c\n{lines}\n", encoding="utf-8")
    code = "def adds_up(t):\n    return ((t['a'] + t['b'] - t['c']) % 20 == 0).map({True: 'yes', False: 'no'})\n"
    (folder / "sums_of_two.py").write_text(code, encoding="utf-8")
    return ("sums_of_two:adds_up", "--data", "sums.csv", "--epsilon", "0.1", "--seed", "0")


@pytest.mark.filterwarnings("always::fidelitree.errors.DoubtWarning")
def test_what_real_rows_refute_ends_with_6_and_says_so(folder: Path) -> None:
    """It ended with 0 without a word of its own."""
    asked = ("compare", *sums(folder), "--learner", "distill")
    done = commandline.run(*asked)
    assert done.code == 6
    assert "distill: On 493 real rows that were kept aside, it agrees on " in done.out
    warned = re.search("warning: real rows refute this certificate, .+: at least (.+) is certified, and on", done.err)
    assert warned is not None
    assert f", less than the {warned[1]} that is certified over draws. So draws are not like" in done.out, "one number"
    assert "like the rows of this table, or these rows are not new to the model. Assumes: " in done.out
    told = commandline.run(*asked, "--json")
    assert (told.code, told.json["refuted_by_rows"]) == (6, ["distill"])
    missed = commandline.run(*asked, "--max-queries", 20, "--json")
    assert (missed.code, missed.json["refuted_by_rows"]) == (3, []), "nothing is certified that they could refute"


@pytest.mark.filterwarnings("always::fidelitree.errors.DoubtWarning")
def test_verify_says_once_what_real_rows_refute(folder: Path) -> None:
    """The replay said it, and then the test on fresh inputs."""
    asked = sums(folder)
    assert commandline.run("distill", *asked, "--out", "kept").code == 6
    for target in ([], ["--target", asked[0]], ["--answers"]):
        done = commandline.run("verify", "kept", *target)
        assert done.code == 0
        assert done.err.count("real rows refute") == 1, target
