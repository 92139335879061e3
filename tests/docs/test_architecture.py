"""ARCHITECTURE.md is true: its table is that of the import contract, and the files that it names are there."""

from __future__ import annotations

import re
import runpy

from documents import ROOT

PAGE = ROOT / "ARCHITECTURE.md"
SCRIPT = runpy.run_path(str(ROOT / "docs" / "architecture.py"))


def test_the_table_of_rooms_is_current() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text == SCRIPT["page"](text), "write it anew: python docs/architecture.py"


def test_every_room_has_its_row() -> None:
    there = {path.stem for path in (ROOT / "src" / "fidelitree").glob("*") if path.suffix == ".py" or path.is_dir()}
    rows = [re.match(r"\| \d+ \| `(\w+)` \|", line) for line in SCRIPT["table"]()]
    assert {row[1] for row in rows if row} == there - {"__init__", "__pycache__"}


def test_files_that_it_names_are_there() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_]+)`", PAGE.read_text(encoding="utf-8"))
    homes = (ROOT / "src" / "fidelitree", ROOT)
    missing = [name for name in named if not any((home / f"{name}.py").is_file() for home in homes)]
    assert len(named) > 20
    assert missing == []


def test_it_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= 150
