"""`fidelitree distill`: what it prints, writes, and how it ends."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import get_args

import pytest

import fidelitree as ft
from commandline import BITS, people, refused, run
from fidelitree.cli.shared_options import PreferenceName, StrategyName
from fidelitree.runs.distill import PREFERENCES, STRATEGIES
from fidelitree.targets import read_circuit

CIRCUIT = ".i 3\n.o 2\n.ilb a b c\n.ob f g\n11- 10\n--1 01\n.e\n"


def test_a_certified_run_prints_the_tree_and_writes_the_folder(folder: Path) -> None:
    done = run("distill", "aims:alarm", *BITS, "--seed", 3, "--out", "kept")
    assert done.code == 0
    assert done.err == ""
    by_hand = ft.distill(lambda b: b[:, 3] & (b[:, 0] | b[:, 1] & b[:, 2]), ft.ProductSpace.bernoulli(12), seed=3)
    lines = done.out.splitlines()
    assert done.out.startswith(f"{by_hand.tree}\n\n{by_hand.certificate}\n")
    assert lines[-3] == f"{by_hand.tree.size} leaves, depth {by_hand.tree.depth}; {by_hand.queries}; seed 3"
    tested = "" if by_hand.tested is None else "tested.json, "
    assert lines[-2] == (
        f"wrote kept: tree.json, {tested}certificate.json, frontier.json, space.json, trace.csv, run.json, report.html"
    )
    assert lines[-1] == "report: kept/report.html"
    assert "fidelitree" in Path("kept/report.html").read_text(encoding="utf-8")
    assert ft.Tree.load("kept/tree.json") == by_hand.tree
    assert ft.Certificate.from_json(Path("kept/certificate.json").read_text(encoding="utf-8")) == by_hand.certificate


def test_the_trace_and_the_run_are_written(folder: Path) -> None:
    run("distill", "aims:alarm", *BITS, "--out", "kept", "--max-leaves", 50)
    with Path("kept/trace.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["asked", "size", "error", "error_bound"]
    assert [int(row["asked"]) for row in rows] == sorted(int(row["asked"]) for row in rows)
    stored = json.loads(Path("kept/run.json").read_text(encoding="utf-8"))
    assert (stored["door"], stored["epsilon"], stored["seed"], stored["max_leaves"]) == ("distill", 0.05, 0, 50)
    assert stored["reason"] == "certified"
    assert sum(stored["asked"].values()) >= int(rows[-1]["asked"])


def test_the_trace_of_the_papers_tree_has_its_splits(folder: Path) -> None:
    assert run("distill", "aims:alarm", *BITS, "--strategy", "influence", "--out", "kept").code == 0
    with Path("kept/trace.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["leaf"] == "-" * 12
    assert rows[0]["test"] == "x3 = 1"
    assert [int(row["size"]) for row in rows] == list(range(2, len(rows) + 2))


def test_without_a_folder_the_result_lies_under_the_name_of_the_target(folder: Path) -> None:
    done = run("distill", "aims:alarm", *BITS)
    assert "wrote results/aims-alarm: " in done.out
    assert Path("results/aims-alarm/tree.json").is_file()


def test_json_is_one_object(folder: Path) -> None:
    done = run("distill", "aims:alarm", *BITS, "--json", "--out", "kept")
    assert done.code == 0
    assert done.json["certified"] is True
    assert done.json["standing"] == "met"
    assert ft.Tree.from_dict(done.json["tree"]).size == done.json["size"]
    assert ft.Certificate.from_dict(done.json["certificate"]).holds
    assert done.json["sentence"].startswith("Certified: this tree agrees")
    assert all(Path(path).is_file() for path in done.json["files"])


def test_a_budget_ends_with_3_and_says_what_to_do(folder: Path) -> None:
    done = run("distill", "aims:parity", "--bernoulli", 0.5, "--features", 24, "--max-queries", 300)
    assert done.code == 3
    assert "NOT certified: the 95% that was asked for" in done.out
    assert "ended early: max_queries = 300" in done.out
    assert "% agreement, goal missed: raise --max-queries (the same command goes on from there)" in done.err
    bound = ft.Certificate.from_json(
        Path("results/aims-parity/certificate.json").read_text(encoding="utf-8")
    ).error_bound
    offered = float(done.err.rpartition("--epsilon ")[2])
    assert bound <= offered < bound + 0.01


def test_ctrl_c_ends_with_the_best_tree_and_7(folder: Path) -> None:
    done = run("distill", "aims:interrupted", "--bernoulli", 0.5, "--features", 24)
    assert done.code == 7
    assert "ended early: interrupted" in done.out
    assert "NOT certified" in done.out
    folder = Path("results/aims-interrupted")
    standing = ft.Certificate.from_json((folder / "certificate.json").read_text(encoding="utf-8")).standing
    assert done.err.startswith(f"{standing.words}: let it run on (the same command goes on from there)")
    assert (folder / "tree.json").is_file()


def test_no_small_tree_is_a_finding(folder: Path) -> None:
    table = people(folder)
    done = run(
        "distill", "aims:other", "--data", table, "--drop", "label", "--rows", "--epsilon", 0.06, "--max-leaves", 1
    )
    assert done.code == 3
    assert "% agreement, goal missed: " in done.err


def test_the_best_tree_within_a_budget(folder: Path) -> None:
    done = run("distill", "aims:alarm", *BITS, "--epsilon", "none", "--max-queries", 200)
    assert done.code == 0
    assert "leaves  agrees on at least  at most" in done.out
    assert json.loads(Path("results/aims-alarm/run.json").read_text(encoding="utf-8"))["door"] == "frontier"
    assert ft.verify("results/aims-alarm").holds


def test_noisy_and_delta_reach_the_certificate(folder: Path) -> None:
    done = run("distill", "aims:alarm", *BITS, "--noisy", "--delta", 0.01, "--epsilon", 0.1)
    assert "with 99% confidence" in done.out
    assert "deterministic" not in done.out


def test_a_circuit_needs_no_space_and_an_output_has_a_name_or_a_place(folder: Path) -> None:
    Path("two.pla").write_text(CIRCUIT, encoding="utf-8")
    for output, tested in (("f", "a"), ("g", "c"), ("1", "c")):
        done = run("distill", "two.pla", "--output", output, "--epsilon", 0)
        assert done.code == 0
        assert done.out.startswith(f"{tested} = 0: 0\n")
        assert "on 100% of all inputs" in done.out


def test_a_table_gives_the_world_that_python_gives_or_another_kind(folder: Path) -> None:
    table = people(folder)
    for more, assumed in (
        ((), "inputs follow the Chow-Liu tree fitted to one half of this table"),
        ((), "real rows that were kept aside"),
        (("--marginals",), "stated product distribution"),
        (("--rows",), "inputs are rows like those of this table"),
        (("--mixture",), "inputs follow the mixture of products fitted to this table"),
        (("--chow-liu",), "inputs follow the Chow-Liu tree fitted to this table"),
        (("--chow-liu",), "held-out log-likelihood per row"),
        (("--rows", "--blend", "0.2"), "inputs are neighbours of these"),
        (("--rows", "--blend", "auto"), "each feature drawn anew with probability 0.2"),
    ):
        done = run("distill", "aims:loan", "--data", table, "--drop", "label", "--epsilon", 0.1, *more)
        assert done.code == 0
        assert assumed in done.out
        assert "job = nurse" in done.out


def test_columns_can_be_read_as_another_kind(folder: Path) -> None:
    table = people(folder)
    done = run(
        "distill", "aims:other", "--data", table, "--drop", "label", "--drop", "job", "--epsilon", 0.1,
        "--categorical", "age", "--json",
    )  # fmt: skip
    assert [entry["kind"] for entry in done.json["tree"]["features"]] == ["categorical", "boolean"]


def test_a_program_is_a_target(folder: Path) -> None:
    Path("score.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['x0'], flush=True)\n", encoding="utf-8"
    )
    done = run("distill", "cmd:python score.py", *BITS, "--timeout", 60)
    assert done.code == 0
    assert done.out.startswith("x0 = 0: 0\nx0 = 1: 1\n")
    assert "wrote results/python-score.py: " in done.out


def test_keys_of_a_program_are_in_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("score.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(json.loads(line)['x0'], flush=True)\n", encoding="utf-8"
    )
    command = ["distill", "cmd:python score.py --key SECRET/4711", *BITS]
    monkeypatch.setattr(sys, "argv", ["fidelitree", *command])
    assert run(*command).code == 0
    files = list(Path("results").rglob("*"))
    assert Path("results/python-score.py/journal.db") in files
    assert all(b"SECRET" not in path.read_bytes() for path in files if path.is_file())
    assert not any("SECRET" in str(path) or "4711" in str(path) for path in files)
    assert "'cmd:python ...'" in json.loads(Path("results/python-score.py/run.json").read_text("utf-8"))["command"]


def test_a_space_file_names_the_features(folder: Path) -> None:
    Path("space.toml").write_text(
        '[features.age]\nkind = "numeric"\nlow = 18\nhigh = 90\n'
        '[features.job]\nkind = "categorical"\nvalues = ["nurse", "pilot"]\n',
        encoding="utf-8",
    )
    done = run("distill", "aims:loan", "--space", "space.toml", "--epsilon", 0.1)
    assert done.code == 0
    assert "job = nurse" in done.out


def test_a_large_tree_is_cut_off_in_print_only(folder: Path) -> None:
    done = run("distill", "aims:parity", "--bernoulli", 0.5, "--features", 7, "--epsilon", 0)
    assert done.code == 0
    assert "more lines: fidelitree show prints them all" in done.out
    assert len(run("show", "results/aims-parity").out.splitlines()) > len(done.out.splitlines())


def test_the_choices_are_the_librarys() -> None:
    assert list(get_args(StrategyName)) == list(STRATEGIES)
    assert list(get_args(PreferenceName)) == list(PREFERENCES)


@pytest.mark.parametrize("text", ["0.1", "none"])
def test_a_stored_circuit_tree_is_a_target_too(folder: Path, text: str) -> None:
    Path("two.pla").write_text(CIRCUIT, encoding="utf-8")
    assert run("distill", "two.pla", "--output", "f", "--out", "kept").code == 0
    again = run("distill", "kept", "--epsilon", text, "--max-queries", 100, "--out", "again")
    assert again.code == 0
    assert ft.Tree.load("again/tree.json").size <= 3
    assert (
        ft.tree_error(ft.Tree.load("kept/tree.json"), read_circuit("two.pla", "f"), read_circuit("two.pla", "f").space)
        == 0
    )


def test_numbers_take_a_tolerance_or_a_threshold(folder: Path) -> None:
    inputs = ("aims:price", "--data", people(folder), "--drop", "label", "--epsilon", 0.2)
    near = run("distill", *inputs, "--tolerance", 6, "--json")
    assert (near.code, near.json["certificate"]["tolerance"]) == (0, 6)
    assert "this tree is within 6 of the target on at least" in run("distill", *inputs, "--tolerance", 6).out
    above = run("distill", *inputs, "--threshold", 30)
    assert above.code == 0
    assert "agrees with the target on at least" in above.out
    assert "tolerance must be left out where threshold is given" in refused(
        "distill", *inputs, "--tolerance", 6, "--threshold", 30, "--out", "none"
    )
    assert "give --threshold T (a score above it means 1) or --tolerance T" in refused(
        "distill", *inputs, "--out", "none", code=1
    )
    limits = ("--max-queries", 600, "--max-leaves", 3)
    assert run("frontier", *inputs[:-2], "--tolerance", 8, *limits, "--out", "curve").code == 0
    assert ft.Frontier.load("curve")[-1].certificate.tolerance == 8


def test_every_command_that_asks_takes_a_threshold(folder: Path) -> None:
    inputs = ("--data", people(folder), "--drop", "label")
    cut = ("--threshold", 30)
    assert run("distill", "aims:price", *inputs, "--epsilon", 0.2, *cut, "--out", "above").code == 0
    assert run("certify", "above", "aims:price", "--epsilon", 0.3, *cut).code == 0
    assert run("verify", "above", "--target", "aims:price", *cut).code == 0
    assert run("diff", "above", "aims:price", "--epsilon", 0.3, *cut).code == 0
    assert run("analyze", "aims:price", *inputs, *cut).code == 0
    assert run("compare", "aims:price", *inputs, "--epsilon", 0.3, "--learner", "cart", *cut).code == 0
    labels = refused("distill", "aims:price", *inputs, "--threshold", "often", "--out", "none")
    assert "--threshold" in labels


def test_independent_columns_that_take_a_large_tree_end_with_a_hint(folder: Path) -> None:
    rows = [",".join(f"{i % 97 + (i * k) % 5}" for k in range(1, 7)) for i in range(400)]
    (folder / "sizes.csv").write_text("\n".join(["a,b,c,d,e,f", *rows]) + "\n", encoding="utf-8")
    (folder / "sums.py").write_text("def large(t):\n    return sum(t[n] for n in 'abcdef') > 300\n", encoding="utf-8")
    done = run("distill", "sums:large", "--data", "sizes.csv", "--marginals", "--max-queries", 1500)
    hint = next(line for line in done.out.splitlines() if line.startswith("Hint: "))
    assert "over rows of the table (--rows)" in hint
    assert "(--rows --blend auto)" in hint
    assert "a mixture (--mixture)" in hint


def test_a_tree_may_defer(folder: Path) -> None:
    done = run("distill", "aims:alarm", *BITS, "--defer", "--max-queries", 600, "--max-leaves", 6, "--out", "kept")
    assert done.code == 0, done.out
    assert "of the inputs that it answers" in done.out
    assert "answers at least" in done.out
    assert json.loads((folder / "kept" / "certificate.json").read_text())["coverage"] > 0.5
    assert json.loads((folder / "kept" / "run.json").read_text())["defer"] is True
