"""`fidelitree verify`: offline, against the target, and on folders that were tampered with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import BITS, people, refused, run


@pytest.fixture
def kept(folder: Path) -> Path:
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    return Path("kept")


def test_a_good_folder_is_consistent(kept: Path) -> None:
    done = run("verify", kept)
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[:6]] == ["yes"] * 6
    assert lines[-3] == "The stored answers confirm the certificate."
    assert lines[-2].startswith("Certified: this tree agrees")


def test_without_answers_it_is_undecided_and_ends_with_5(kept: Path) -> None:
    (kept / "journal.db").unlink()
    done = run("verify", kept, "--json")
    assert done.code == 5
    assert (done.json["consistent"], done.json["undecided"], done.json["certified"]) == (True, True, False)
    assert "versions" in done.json["unchecked"]
    assert run("verify", kept, "--target", "aims:alarm", "--seed", 4).code == 0


def test_the_target_confirms(kept: Path) -> None:
    done = run("verify", kept, "--target", "aims:alarm", "--seed", 4)
    assert done.code == 0
    assert "yes the target, asked again: Certified: this tree agrees" in done.out


def test_another_target_contradicts(kept: Path) -> None:
    done = run("verify", kept, "--target", "aims:parity", "--seed", 4)
    assert done.code == 3
    assert "NO  the target, asked again:" in done.out
    assert done.out.endswith(
        "The target contradicts the stored certificate: it is not the same target, or not the same space.\n"
    )


def test_too_few_queries_leave_it_undecided_unless_the_journal_confirms(kept: Path) -> None:
    few = "--target", "aims:alarm", "--seed", 4, "--max-queries", 20
    done = run("verify", kept, *few)
    assert done.code == 0
    assert "\n-   the target, asked again:" in done.out
    told = "The stored answers confirm the certificate. The target was asked too: 20 test inputs are too few for what"
    assert f"\n{told} was promised; more queries may decide it.\nCertified" in done.out
    (kept / "journal.db").unlink()
    done = run("verify", kept, *few)
    assert done.code == 5
    assert "\n-   the target, asked again:" in done.out


def test_a_tampered_tree_ends_with_2(kept: Path) -> None:
    text = (kept / "tree.json").read_text(encoding="utf-8")
    (kept / "tree.json").write_text(text.replace('"label": 0', '"label": 1', 1), encoding="utf-8")
    done = run("verify", kept, "--target", "aims:alarm", "--json")
    assert done.code == 2
    assert done.json["consistent"] is False
    assert done.json["fresh"] is None
    assert done.json["checks"][0] == {"passed": False, "sentence": "the tree is the one that the certificate names"}


def test_a_flattered_bound_ends_with_2(kept: Path) -> None:
    data = json.loads((kept / "certificate.json").read_text(encoding="utf-8"))
    data["error_bound"] = 0.01
    (kept / "certificate.json").write_text(json.dumps(data), encoding="utf-8")
    done = run("verify", kept)
    assert done.code == 2
    assert "NO  the bound 0.01 follows from 0 errors" in done.out
    assert done.out.endswith("This folder contradicts itself: do not rely on it.\n")


def test_a_result_that_was_not_certified_ends_with_3(folder: Path) -> None:
    run("distill", "aims:parity", "--bernoulli", 0.5, "--features", 24, "--max-queries", 300, "--out", "kept")
    assert run("verify", "kept").code == 3


def test_the_table_can_be_given_again(folder: Path) -> None:
    table = people(folder)
    run("distill", "aims:loan", "--data", table, "--drop", "label", "--epsilon", 0.1, "--out", "kept")
    asked = run("verify", "kept", "--target", "aims:loan", "--data", table, "--drop", "label")
    assert asked.code == 0
    assert "the target is asked at most 7,670 times; --max-queries sets another limit" in asked.err
    assert run("verify", "kept", "--data", table, "--drop", "label").code == 0
    assert run("verify", "kept", "--data", table).code == 0, "the tree knows which columns it is about"
    lines = table.read_text(encoding="utf-8").splitlines()
    Path("less.csv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    done = run("verify", "kept", "--data", "less.csv")
    assert done.code == 2
    assert "NO  the space is the one that the certificate names" in done.out


def test_the_tree_knows_how_many_bits_there_are(kept: Path) -> None:
    done = run("verify", kept, "--bernoulli", 0.5)
    assert done.code == 0
    assert "yes the space is the one that the certificate names" in done.out
    assert run("verify", kept, "--bernoulli", 0.5, "--target", "aims:alarm", "--seed", 4).code == 0
    assert "NO  the space is the one that the certificate names" in run("verify", kept, "--bernoulli", 0.4).out


def test_rows_need_new_rows(folder: Path) -> None:
    table = people(folder)
    run("distill", "aims:loan", "--data", table, "--drop", "label", "--rows", "--epsilon", 0.1, "--out", "kept")
    assert run("verify", "kept").code == 0
    assert refused("verify", "kept", "--target", "aims:loan") == (
        "this result is about rows of a table, and these rows have taught and tested the tree: give new ones"
    )
    lines = table.read_text(encoding="utf-8").splitlines()
    Path("new.csv").write_text("\n".join([lines[0], *lines[:0:-1]]), encoding="utf-8")
    done = run("verify", "kept", "--target", "aims:loan", "--data", "new.csv", "--drop", "label", "--rows")
    assert done.code == 0
    assert "the predictor was not made from them" in done.out


def test_a_run_that_went_on_without_its_limit_is_consistent(folder: Path) -> None:
    assert run("distill", "aims:alarm", *BITS, "--out", "kept", "--max-queries", 30).code == 3
    assert run("distill", "aims:alarm", *BITS, "--out", "kept").code == 0
    done = run("verify", "kept")
    assert done.code == 0
    assert "yes the answers in the journal lead to this tree and this certificate\n" in done.out


def test_a_wrong_folder_is_named(folder: Path) -> None:
    assert refused("verify", "nowhere") == "folder must hold a stored result; there is no folder 'nowhere'"
