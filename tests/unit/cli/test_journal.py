"""Runs that are kept: the journal beside the result, resuming, workers, and `fidelitree journal`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fidelitree as ft
from commandline import BITS, refused, run

OUT = Path("results/aims-alarm")


def test_the_journal_lies_beside_the_result_and_verify_replays_it(folder: Path) -> None:
    assert run("distill", "aims:alarm", *BITS).code == 0
    assert ft.journal.info(OUT / "journal.db").ended == "certified"
    done = run("verify", OUT)
    assert done.code == 0
    assert "yes the answers in the journal lead to this tree and this certificate" in done.out
    certificate = json.loads((OUT / "certificate.json").read_text(encoding="utf-8"))
    (OUT / "certificate.json").write_text(json.dumps({**certificate, "seed": 1}), encoding="utf-8")
    done = run("verify", OUT)
    assert done.code == 2
    assert "NO  call and costs are those of the certificate: seed is not the same" in done.out


def test_a_damaged_journal_is_a_contradiction(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS)
    (OUT / "journal.db").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    done = run("verify", OUT)
    assert done.code == 2
    assert (
        "NO  the answers in the journal lead to this tree and this certificate: not a journal of fidelitree" in done.out
    )


def test_the_same_command_asks_next_to_nothing_again(folder: Path) -> None:
    first = run("distill", "aims:alarm", *BITS, "--json").json
    second = run("distill", "aims:alarm", *BITS, "--json").json
    assert second["certificate"] == first["certificate"]
    assert second["queries"] == first["queries"]
    assert [path.name for path in OUT.glob("journal*")] == ["journal.db"]


def test_another_run_into_the_same_folder_puts_the_old_journal_aside(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS)
    done = run("distill", "aims:alarm", *BITS, "--epsilon", 0.1)
    assert done.code == 0
    assert "the journal in results/aims-alarm belongs to another run: it is kept as journal-1.db" in done.err
    assert ft.journal.info(OUT / "journal-1.db").run.arguments["epsilon"] == 0.05
    assert ft.journal.info(OUT / "journal.db").run.arguments["epsilon"] == 0.1


@pytest.mark.parametrize(
    ("told", "kept", "code"),
    [(["--no-journal"], ["journal-1.db"], 5), (["--journal", "mine.db"], ["journal-1.db", "journal.db"], 0)],
)
def test_a_run_that_keeps_its_journal_elsewhere_puts_the_old_one_aside(
    folder: Path, told: list[str], kept: list[str], code: int
) -> None:
    """A copy of a journal that was named goes into the folder, so that the folder can be checked on its own."""
    run("distill", "aims:alarm", *BITS)
    done = run("distill", "aims:alarm", *BITS, "--epsilon", 0.1, *told)
    assert "the journal in results/aims-alarm belongs to another run: it is kept as journal-1.db" in done.err
    assert sorted(path.name for path in OUT.glob("journal*")) == kept
    assert run("verify", OUT).code == code
    assert run("verify", OUT, "--target", "aims:alarm", "--seed", 1).code == 0


def test_a_circuit_keeps_no_journal_and_puts_the_old_one_aside(folder: Path) -> None:
    Path("or.pla").write_text(".i 12\n.o 1\n1----------- 1\n-1---------- 1\n.e\n", encoding="utf-8")
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    assert "it is kept as journal-1.db" in run("distill", "or.pla", "--out", "kept").err
    assert run("verify", "kept").code == 5
    assert run("verify", "kept", "--target", "or.pla").code == 0


def test_a_run_that_fails_leaves_the_old_journal(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    assert run("distill", "aims:fails", *BITS, "--out", "kept", "--no-journal").code == 1
    assert [path.name for path in Path("kept").glob("journal*")] == ["journal.db"]
    assert run("verify", "kept").code == 0


def test_the_journal_of_the_folder_may_be_named(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS)
    done = run("distill", "aims:alarm", *BITS, "--journal", folder / OUT / "journal.db")
    assert (done.code, done.err) == (0, "")
    assert [path.name for path in OUT.glob("journal*")] == ["journal.db"]


def test_a_journal_that_was_named_is_never_put_aside(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS, "--journal", "mine.db")
    assert (OUT / "journal.db").is_file()
    again = run("distill", "aims:alarm", *BITS, "--journal", "mine.db")
    assert (again.code, again.err) == (0, "")
    assert [path.name for path in OUT.glob("journal*")] == ["journal.db"]
    message = refused("distill", "aims:alarm", *BITS, "--journal", "mine.db", "--epsilon", "0.1", code=2)
    assert "epsilon was 0.05 and is 0.1 now - give the same arguments again, or another --journal" in message


def test_no_journal(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS, "--no-journal")
    assert not list(OUT.glob("journal*"))
    message = refused("distill", "aims:alarm", *BITS, "--no-journal", "--journal", "mine.db", code=2)
    assert message == "--journal and --no-journal must not be given together"


def test_jobs_change_nothing(folder: Path) -> None:
    one = run("distill", "aims:alarm", *BITS, "--json", "--no-journal").json
    two = run("distill", "aims:alarm", *BITS, "--json", "--no-journal", "--jobs", "2", "--batch-size", "3").json
    assert two["certificate"] == one["certificate"]
    message = refused("distill", "aims:alarm", *BITS, "--jobs", "2", "--dask", "tcp://127.0.0.1:1", code=2)
    assert message == "--jobs and --dask must not be given together: one of them asks the target"


def test_a_timeout_needs_processes(folder: Path) -> None:
    message = refused("distill", "aims:alarm", *BITS, "--timeout", "5", code=2)
    assert message == (
        "--timeout must be left out where the target runs in this process, which cannot end a call that hangs: give "
        "--jobs too (a command has a timeout of its own, and a target that is async can be ended)"
    )
    assert run("distill", "aims:alarm", *BITS, "--timeout", "60", "--jobs", "1").code == 0


def test_an_error_says_how_to_go_on(folder: Path) -> None:
    Path("later.py").write_text(
        "import aims\nleft = 60\ndef fails_later(batch):\n    global left\n    left -= len(batch)\n"
        "    return aims.alarm(batch) if left > 0 else aims.fails(batch)\n",
        encoding="utf-8",
    )
    message = refused("distill", "later:fails_later", *BITS, code=1)
    assert message.endswith(
        "the database is gone. Every answer until then is in the journal 'results/later-fails_later/journal.db': give "
        "the same command again, and it goes on from there (aims.py, line 23, in fails; fidelitree --traceback ... "
        "shows all frames)"
    )


def test_info_and_export(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS)
    done = run("journal", "info", OUT)
    assert done.code == 0
    assert "target   aims:alarm" in done.out
    assert "state    certified" in done.out
    assert run("journal", "info", OUT / "journal.db", "--json").json["run"]["target"] == "aims:alarm"
    done = run("journal", "export", OUT, "answers.csv")
    lines = Path("answers.csv").read_text(encoding="utf-8").splitlines()
    assert done.out == f"wrote {len(lines) - 1:,} answers to answers.csv\n"
    assert refused("journal", "info", "nowhere.db", code=2) == "journal 'nowhere.db' does not exist"
    assert "out must end in .csv or .parquet" in refused("journal", "export", str(OUT), "answers.xlsx", code=2)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_asked_to_end_it_saves_the_best_tree_and_can_be_resumed(folder: Path, sent: signal.Signals) -> None:
    Path("slow.py").write_text(
        "import time\ndef slow(batch):\n    with open('asked', 'a') as log:\n        log.write('x')\n"
        "    time.sleep(0.03)\n    return batch[:, 0] & batch[:, 1] | batch[:, 2] & batch[:, 3]\n",
        encoding="utf-8",
    )
    code = "from fidelitree.__main__ import main; main()"
    command = [sys.executable, "-c", code, "distill", "slow:slow", *BITS, "--epsilon", "0.01", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while (
        not (Path("asked").exists() and len(Path("asked").read_text(encoding="ascii")) > 8) and time.monotonic() < end
    ):
        time.sleep(0.01)
    process.send_signal(sent)
    output, complaints = process.communicate(timeout=300)
    assert process.returncode == 7, complaints
    assert json.loads(output)["reason"] == "interrupted"
    assert ft.journal.info("results/slow-slow/journal.db").ended == "interrupted"
    resumed = run("distill", "slow:slow", *BITS, "--epsilon", 0.01, "--json").json
    assert resumed["certified"]
