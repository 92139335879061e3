"""Wrong command lines: each is answered in one line that names a way out, and leaves nothing behind."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from commandline import BITS, refused, run
from fidelitree import cli
from fidelitree.cli import ending
from fidelitree.cli.usage import EXAMPLES
from fidelitree.errors import DoubtWarning

WRONG = [
    (["distil", "aims:alarm"], "No such command 'distil'. Did you mean 'distill'? - see fidelitree --help"),
    (["frontiers"], "No such command 'frontiers'. Did you mean 'frontier'? - see fidelitree --help"),
    (["--verison"], "--version"),
    (["distill"], "Missing argument 'TARGET' - see fidelitree distill --help"),
    (["certify", "tree.json"], "Missing argument 'TARGET' - see fidelitree certify --help"),
    (["verify"], "Missing argument 'DIR' - see fidelitree verify --help"),
    (["distill", "aims:alarm", "--epsilom", "0.1"], "--epsilon"),
    (["distill", "aims:alarm", "--max-leafs", "3"], "--max-leaves"),
    (["distill", "aims:alarm", "--bernoulli"], "Option '--bernoulli' requires an argument"),
    (["distill", "aims:alarm", "--max-leaves", "few"], "Invalid value for '--max-leaves'"),
    (["distill", "aims:alarm", "--jobs", "0"], "Invalid value for '--jobs'"),
    (["distill", "aims:alarm", "aims:loan"], "Got unexpected extra argument"),
    (["export", "results", "--to", "fortran"], "--to must be one of text, rules, json, dot, svg, python, c, sql"),
    (["distill", "aims:alarm", "rows.csv"], "a table is given with --data"),
    (["distill", "aims.py", *BITS], "- did you mean aims:alarm?"),
    (["distill", "aims:alrm", *BITS], "module 'aims' has no 'alrm' - did you mean 'alarm'?"),
    (["distill", "aims:qwerty", *BITS], "module 'aims' has no 'qwerty'"),
    (["distill", "aimz:alarm", *BITS], "put its folder on the path, for example with PYTHONPATH=."),
    (["distill", "aims:alarm"], "say where inputs come from: --data TABLE, --space FILE, or --bernoulli P"),
    (["distill", "aims:alarm", "--data", "nowhere.csv"], "--data names a file that does not exist: 'nowhere.csv'"),
    (["distill", "aims:alarm", *BITS, "--epsilon", "5"], "did you mean 0.05?"),
    (["distill", "aims:alarm", *BITS, "--delta", "95"], "--delta must be above 0 and below 1"),
    (["distill", "aims:alarm", *BITS, "--out", "aims.py"], "--out must be a folder, or a name that is not taken"),
    (["distill", "aims:alarm", *BITS, "--journal", "a", "--no-journal"], "must not be given together"),
    (["frontier", "aims:alarm", *BITS, "--max-queries", "0"], "--max-queries and --max-seconds must allow some labels"),
    (["show", "nowhere"], "'nowhere' cannot be read: No such file or directory"),
    (["show", "aims.py", "--pick", "knee"], "--pick needs a result folder with a frontier; 'aims.py' is not a folder"),
    (["verify", "nowhere"], "folder must hold a stored result; there is no folder 'nowhere'"),
    (["report", "nowhere"], "--pick needs a result folder with a frontier; 'nowhere' is not a folder"),
    (["space", "nowhere.csv"], "nowhere.csv"),
    (["show"], "Missing argument 'PATH' - see fidelitree show --help"),
    (["frontier", "aims:alarm", *BITS, "--max-queries", "1e4"], "Invalid value for '--max-queries'"),
    (["frontier", "aims:alarm", *BITS, "--max-queries", "-5"], "--max-queries must be at least 0; got -5"),
    (["frontier", "aims:loan", "--data", "rows.xlsx"], "--data must be a table ending in .csv, .tsv, .parquet, .pq"),
    (["distill", "cmd:", *BITS], "command must be a program and its arguments; got ''"),
    (["view", "nowhere"], "DIR must be a folder of results; there is no folder 'nowhere'"),
    (["help"], "No such command 'help' - see fidelitree --help"),
    (["diff", "aims:alarm", "aims:nothing", *BITS], "module 'aims' has no 'nothing'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "message"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_line_is_answered_in_one_line(folder: Path, line: list[str], message: str) -> None:
    before = sorted(folder.rglob("*"))
    assert message in refused(*line)
    assert [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts] == before


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 26


def test_a_file_without_functions_is_a_program(folder: Path) -> None:
    (folder / "program.py").write_text("print('yes')\n", encoding="utf-8")
    assert "- did you mean 'cmd:python program.py'?" in refused("distill", "program.py", *BITS)


def test_scores_are_told_both_ways_out_as_options(folder: Path) -> None:
    (folder / "scoring.py").write_text("def score(batch):\n    return batch.mean(axis=1) / 3\n", encoding="utf-8")
    told = refused("distill", "scoring:score", *BITS, code=1)
    assert "give --threshold T (a score above it means 1) or --tolerance T (leaves hold numbers)" in told


def test_a_function_of_one_record_has_an_option(folder: Path) -> None:
    text = "def door(house):\n    if house[3] and house[5]:\n        return 'ring'\n    return 'quiet'\n"
    (folder / "single.py").write_text(text, encoding="utf-8")
    assert "if it takes one record, and not a batch, give --one-row" in refused("distill", "single:door", *BITS, code=1)
    assert run("distill", "single:door", *BITS, "--one-row", "--out", "one").code == 0


def test_an_identifier_is_pointed_out_with_the_option(folder: Path) -> None:
    rows = "\n".join(f"{i % 7},row{i}" for i in range(60))
    (folder / "named.csv").write_text(f"age,name\n{rows}\n", encoding="utf-8")
    (folder / "ages.py").write_text("def old(batch):\n    return batch['age'] > 3\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("default", DoubtWarning)
        told = run("distill", "ages:old", "--data", "named.csv", "--epsilon", "0.3", "--out", "named")
    assert "warning: column 'name' has 60 different texts in 60 rows, as an identifier has" in told.err
    assert "leave it out with --drop, or name it with --categorical where the target needs it" in told.err
    quiet = run("distill", "ages:old", "--data", "named.csv", "--drop", "name", "--epsilon", "0.3", "--out", "named")
    assert (quiet.code, "identifier" in quiet.err) == (0, False)


def test_a_run_that_fails_at_once_leaves_nothing(folder: Path) -> None:
    refused("distill", "aims:fails", *BITS, code=1)
    assert not (folder / "results").exists()
    (folder / "kept").mkdir()
    refused("distill", "aims:fails", *BITS, "--out", "kept", code=1)
    assert (folder / "kept" / "journal.db").is_file(), "what was there stays, and what is in it"
    refused("distill", "aims:never", *BITS, "--out", "deep/er", code=7)
    assert not (folder / "deep").exists()


def test_answers_that_were_paid_for_stay(folder: Path) -> None:
    text = (folder / "aims.py").read_text(encoding="utf-8")
    late = "def late(batch):\n    global count\n    count += 1\n    if count > 3:\n        raise RuntimeError('gone')\n"
    (folder / "aims.py").write_text(f"{text}\n{late}    return parity(batch)\n", encoding="utf-8")
    refused("distill", "aims:late", *BITS, code=1)
    assert (folder / "results" / "aims-late" / "journal.db").is_file()


def test_the_last_frame_is_named_and_all_of_them_on_demand(folder: Path) -> None:
    message = refused("distill", "aims:fails", *BITS, code=1)
    line = 1 + (folder / "aims.py").read_text(encoding="utf-8").splitlines().index(
        '    raise RuntimeError("the database is gone")'
    )
    assert f"(aims.py, line {line}, in fails" in message
    done = run("--traceback", "distill", "aims:fails", *BITS)
    assert done.code == 1
    assert done.err.startswith("Traceback (most recent call last):")
    assert "RuntimeError: the database is gone" in done.err
    assert "Traceback" not in run("distill", "aims:fails", *BITS).err, "it is asked for anew each time"


def test_verdicts_have_colours_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Certified: it agrees. NOT certified: the rest.\nExact: all."
    assert ending._coloured(text).count("\x1b[32m") == 2
    assert ending._coloured(text).count("\x1b[31m") == 1
    ending.say(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    ending.say(text)
    assert capsys.readouterr().out == f"{text}\n"


@pytest.mark.parametrize("command", [command.name for command in cli.app.registered_commands])
def test_help_begins_with_examples_that_can_be_read(command: str) -> None:
    shown = run(command, "--help").out
    assert command in EXAMPLES
    for example in EXAMPLES[command]:
        words = example.split()
        assert words[0] == command
        assert f"$ fidelitree {example}" in " ".join(shown.split())
        options = [word for word in words if word.startswith("--")]
        assert all(f"{option} " in shown.replace("│", " ") for option in options)
    assert shown.index("$ fidelitree") < shown.index("--help")


def test_shells_can_complete() -> None:
    assert "--install-completion" in run("--help").out
