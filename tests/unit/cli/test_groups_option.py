"""`--groups COLUMN`: rows that belong together, for every command that takes a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from commandline import run

NEEDS = "--groups says nothing without --data; leave it out, or give --data"


@pytest.fixture
def table(folder: Path) -> str:
    """120 people with four rows each, that differ a little."""
    rng = np.random.default_rng(0)
    age = np.repeat(rng.integers(18, 90, 120), 4) + rng.integers(0, 3, 480)
    job = np.repeat(rng.choice(["clerk", "nurse", "pilot"], 120), 4)
    lines = [f"{a},{b},{i // 4},{i}" for i, (a, b) in enumerate(zip(age, job, strict=True))]
    (folder / "years.csv").write_text("\n".join(["age,job,person,label", *lines]) + "\n", encoding="utf-8")
    return "years.csv"


GROUPED = ("--drop", "label", "--groups", "person")


@pytest.mark.parametrize(
    ("command", "more"),
    [
        (["distill", "aims:loan"], ["--epsilon", "0.3"]),
        (["frontier", "aims:loan"], ["--max-leaves", "3", "--max-queries", "200"]),
        (["certify", "aims:loan", "aims:loan"], []),
        (["diff", "aims:loan", "aims:loan"], ["--epsilon", "0.3"]),
        (["analyze", "aims:loan"], ["--max-queries", "200"]),
        (["compare", "aims:loan"], ["--learner", "id3", "--epsilon", "0.3", "--max-queries", "300"]),
    ],
    ids=lambda told: told[0] if told else "",
)
@pytest.mark.parametrize("kind", [[], ["--rows"], ["--rows", "--blend", "0.1"], ["--chow-liu"], ["--mixture"]])
def test_every_command_with_a_table_takes_groups(
    table: str, command: list[str], more: list[str], kind: list[str]
) -> None:
    done = run(*command, "--data", table, *GROUPED, *kind, *more, "--seed", 0)
    assert done.code in (0, 3), done.err


def test_the_column_is_no_feature_and_the_certificate_says_what_counts(table: str) -> None:
    done = run("distill", "aims:loan", "--data", table, *GROUPED, "--rows", "--epsilon", "0.3", "--out", "kept")
    assert done.code == 0
    assert "each counts once, by one of its rows" in done.out + str(
        json.loads(Path("kept/certificate.json").read_text())
    )
    stored = json.loads(Path("kept/space.json").read_text())
    assert [one["name"] for one in stored["features"]] == ["age", "job"]
    assert set(stored["rows"]["groups"]) == {"packed", "equal"}
    assert run("verify", "kept", "--data", table, *GROUPED, "--rows", "--target", "aims:loan").code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--data", "years.csv", "--groups", "whom"],
            "--groups must name a column of years.csv (age, job, person, label)",
        ),
        (["--bernoulli", "0.5", "--features", "3", "--groups", "person"], NEEDS),
        (["--data", "years.csv", "--marginals", "--groups", "person"], "--groups says nothing with --marginals"),
    ],
)
def test_what_means_nothing_is_refused(table: str, options: list[str], said: str) -> None:
    done = run("distill", "aims:loan", *options)
    assert done.code == 2
    assert said in done.err
