"""`fidelitree diff`: exit codes, pages and annotations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import BITS, refused, run
from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN


@pytest.fixture
def models(folder: Path) -> Path:
    Path("models.py").write_text(
        "def old(batch):\n    return batch[:, 0] | batch[:, 1]\n\n\n"
        "def new(batch):\n    return old(batch) & ~(batch[:, 3] & batch[:, 4])\n",
        encoding="utf-8",
    )
    return folder


def test_more_than_allowed_ends_with_4(models: Path) -> None:
    done = run("diff", "models:old", "models:new", *BITS, "--report", "page.html", "--markdown", "out.md", "--github")
    assert done.code == 4
    assert "1 -> 0" in done.out
    assert "of what it flags has changed" in done.out
    assert "::error title=fidelitree diff::With confidence 0.95" in done.err
    assert Path("page.html").is_file()
    assert Path("out.md").read_text(encoding="utf-8").startswith("### What changed between old and new")


def test_the_same_model_ends_with_0(models: Path) -> None:
    done = run("diff", "models:old", "models:old", *BITS, "--epsilon", 0.01, "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert told["holds"]
    assert told["changed"][1] <= 0.01


def test_a_budget_ends_with_3(models: Path) -> None:
    assert run("diff", "models:old", "models:old", *BITS, "--max-queries", 50).code == 3


def test_two_results_are_compared_exactly(models: Path) -> None:
    run("distill", "models:old", *BITS, "--out", "one")
    run("distill", "models:new", *BITS, "--out", "two")
    done = run("diff", "one", "two")
    assert done.code == 4
    assert "Exactly, " in done.out
    assert run("diff", "one", "one").code == 0


def test_bad_arguments(models: Path) -> None:
    assert "--recall must be above 0 and below 1" in refused("diff", "models:old", "models:new", *BITS, "--recall", 2)


def test_a_journal_is_gone_on_with(models: Path) -> None:
    command = ("diff", "models:old", "models:new", *BITS, "--journal", "run.db", "--json")
    first, again = run(*command, "--max-queries", 40), run(*command)
    assert (first.code, again.code) == (4, 4)
    assert again.json == run("diff", "models:old", "models:new", *BITS, "--json").json
    assert "new certify" in run("journal", "info", "run.db").out


def test_numbers_and_noise(models: Path) -> None:
    Path("others.py").write_text(
        "import numpy as np\n\n\ndef price(batch):\n    return batch[:, 0] + 0.4\n\n\n"
        "def coin(batch):\n    return np.random.randint(0, 2, len(batch))\n",
        encoding="utf-8",
    )
    numbers = ("diff", "others:price", "models:old", *BITS, "--tolerance", 0.5)
    assert "the old number -> a higher one" in run(*numbers).out
    assert run("diff", "others:coin", "others:coin", *BITS, "--noisy", "--max-queries", 300).code == 4


def test_the_seed_is_told_in_json_and_a_given_one_is_assumed_to_be_unforeseen(models: Path) -> None:
    """A fresh one was printed, and lost in JSON."""
    asked = ("diff", "models:old", "models:old", "--bernoulli", 0.5, "--features", 24, "--epsilon", 0.02)
    fresh = run(*asked, "--json").json
    assert type(fresh["seed"]) is int
    assert (fresh["seed_chosen"], "assumes" in fresh) == (False, False)
    given = run(*asked, "--seed", fresh["seed"], "--json").json
    assert (given["seed"], given["seed_chosen"], given["assumes"]) == (fresh["seed"], True, [ASSUMES_UNFORESEEN])
    assert given["changed"] == fresh["changed"]
    assert f"Assumes: {ASSUMES_UNFORESEEN}." in run(*asked, "--seed", 3).out
    kept = (*asked, "--journal", "kept.db", "--json")
    assert run(*kept, "--seed", 5).json["seed_chosen"]
    again = run(*kept).json
    assert (again["seed"], again["seed_chosen"]) == (5, True), "the run takes the journal's"
    run("distill", "models:old", *BITS, "--out", "one")
    exact = run("diff", "one", "one", "--seed", 3, "--json").json
    assert (exact["seed"], exact["seed_chosen"], "assumes" in exact) == (None, False, False)
