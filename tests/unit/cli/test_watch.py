"""`fidelitree watch`: tables, JSON lines, folders that grow, a state that survives."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fidelitree as ft
from commandline import BITS, refused, run
from fidelitree import cli
from fidelitree.cli.watch import _arriving

SPACE = ft.ProductSpace.bernoulli(20)


@pytest.fixture
def kept(folder: Path) -> Path:
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    return Path("kept")


def lines(path: Path, seed: int, rows: int = 400, broken: bool = False) -> None:
    tree = ft.Tree.load("kept/tree.json")
    names, batch = tree.names, SPACE.draw(rows, seed=seed)[:, : len(tree.names)]
    answers = tree.predict(batch).tolist()
    with path.open("w", encoding="utf-8") as file:
        for row, label in zip(batch.tolist(), answers, strict=True):
            told = (not label if isinstance(label, bool) else 1 - label) if broken else label
            file.write(json.dumps({**dict(zip(names, row, strict=True)), "label": told}) + "\n")


def test_a_folder_that_grows(kept: Path) -> None:
    Path("rows").mkdir()
    lines(Path("rows/1.jsonl"), 1)
    first = run("watch", kept, "rows", "--state", "state.json", "--json")
    assert first.code == 0
    assert json.loads(first.out)["promises"][0]["rows"] == 400
    assert json.loads(first.out)["assumes"] == ["the rows are independent of each other"]
    again = run("watch", kept, "rows", "--state", "state.json", "--json")
    assert json.loads(again.out)["promises"][0]["rows"] == 400
    lines(Path("rows/2.jsonl"), 2, broken=True)
    done = run("watch", kept, "rows", "--state", "state.json", "--report", "page.html")
    assert done.code == 4
    assert "ALARM at row " in done.out
    assert Path("page.html").is_file()
    assert run("watch", kept, "rows", "--state", "state.json").code == 4


def test_a_line_that_is_being_written_waits(kept: Path) -> None:
    lines(Path("rows.jsonl"), 1, rows=10)
    whole = Path("rows.jsonl").read_text(encoding="utf-8")
    Path("rows.jsonl").write_text(whole[:-5], encoding="utf-8")
    run("watch", kept, "rows.jsonl", "--state", "state.json")
    Path("rows.jsonl").write_text(whole, encoding="utf-8")
    done = run("watch", kept, "rows.jsonl", "--state", "state.json", "--json")
    assert json.loads(done.out)["promises"][0]["rows"] == 10


def test_rows_on_standard_input_are_seen_as_they_come(kept: Path) -> None:
    """The alarm is told at once, beside what is said at the end; the last line may have no end."""
    lines(Path("rows.jsonl"), 1, rows=300, broken=True)
    whole = Path("rows.jsonl").read_bytes().rstrip(b"\n")
    done = CliRunner().invoke(cli.app, ["watch", str(kept), "-", "--state", "state.json", "--json"], input=whole)
    assert done.exit_code == 4
    assert json.loads(done.stdout)["promises"][0]["rows"] == 300
    assert done.stderr.startswith("all rows: ")
    assert "ALARM at row " in done.stderr


def test_nobody_waits_for_more_rows() -> None:
    """Cut anywhere, every whole line is there at the next look."""

    class Slow(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(7)

    told = [{"x": number, "name": "a\u2028b"} for number in range(20)]
    text = "\n".join(json.dumps(one, ensure_ascii=False) for one in told)
    looks = list(_arriving(Slow(text.encode())))
    assert [one for look in looks for one in look] == told
    assert len(looks) == 20


def test_bad_rows(kept: Path) -> None:
    assert "there is no 'nowhere'" in refused("watch", kept, "nowhere")
    Path("odd.jsonl").write_text("[1]\n", encoding="utf-8")
    assert refused("watch", kept, "odd.jsonl") == "ROWS must hold one JSON object a line; got [1]"
    Path("odd.jsonl").write_text('{"x0": 1}\n', encoding="utf-8")
    assert refused("watch", kept, "odd.jsonl") == "--label must name a column of every row; 'label' is missing"
    Path("odd.jsonl").write_text('{"x0": 1, "label": "a"}\n', encoding="utf-8")
    assert "--label must name answers of the tree's kind" in refused("watch", kept, "odd.jsonl")


def test_a_file_that_has_become_shorter_is_refused(kept: Path) -> None:
    """Its rows were passed over in silence, as if they had been read before."""
    lines(Path("rows.jsonl"), 1, rows=100)
    assert run("watch", kept, "rows.jsonl", "--state", "state.json").code == 0
    lines(Path("rows.jsonl"), 2, rows=60, broken=True)
    said = refused("watch", kept, "rows.jsonl", "--state", "state.json")
    assert said.startswith("ROWS must only grow: 100 rows of a file were read before, and now it has 60")
