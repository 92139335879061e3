"""`fidelitree space`: a table's marginals as a file to edit."""

from __future__ import annotations

from pathlib import Path

import fidelitree as ft
from commandline import refused, run


def test_it_prints_a_space_file_or_writes_it(folder: Path) -> None:
    Path("people.csv").write_text("age,job\n31,nurse\n35,clerk\n62,nurse\n", encoding="utf-8")
    printed = run("space", "people.csv")
    assert printed.code == 0
    assert '[features."age"]' in printed.out
    done = run("space", "people.csv", "--drop", "age", "--out", "made/space.toml")
    assert done.code == 0
    assert "nurse 66.7%" in done.out
    assert ft.ProductSpace.from_file("made/space.toml").names == ("job",)


def test_a_column_that_is_not_there_is_refused(folder: Path) -> None:
    Path("people.csv").write_text("age\n31\n", encoding="utf-8")
    assert "--drop must name a column" in refused("space", "people.csv", "--drop", "height")
