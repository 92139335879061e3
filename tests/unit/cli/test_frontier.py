"""`fidelitree frontier`, and `--pick` on what it stored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fidelitree as ft
from commandline import BITS, refused, run

SMALL = (*BITS, "--max-leaves", "5", "--max-queries", "400")


@pytest.fixture
def kept(folder: Path) -> Path:
    assert run("frontier", "aims:alarm", *SMALL, "--out", "kept").code == 0
    return Path("kept")


def test_it_prints_the_verdict_first_and_marks_the_knee(folder: Path) -> None:
    done = run("frontier", "aims:alarm", *SMALL, "--out", "kept")
    assert done.code == 0
    lines = done.out.splitlines()
    found = ft.Frontier.load("kept")
    assert lines[0] == found.verdict()
    assert lines[2] == "leaves  agrees on at least  at most"
    assert [int(line.split()[0]) for line in lines[3 : 3 + len(found)]] == [point.leaves for point in found]
    assert "All of these hold together, with 95% confidence." in lines
    assert str(found.knee.tree) in done.out  # small enough to be read at once
    assert f"another size: fidelitree show kept --pick leaves={found[-2].leaves}" in lines
    assert ft.verify("kept").holds
    assert json.loads((Path("kept") / "run.json").read_text(encoding="utf-8"))["command"].split()[0] == "fidelitree"


def test_it_goes_into_results_unless_told(folder: Path) -> None:
    assert run("frontier", "aims:alarm", *SMALL).code == 0
    assert (Path("results") / "aims-alarm" / "frontier.json").is_file()


def test_as_json(folder: Path) -> None:
    told = run("frontier", "aims:alarm", *SMALL, "--out", "kept", "--json").json
    found = ft.Frontier.load("kept")
    assert told["points"] == found.rows()
    assert (told["certified"], told["picked"], told["sentence"]) == (True, found.knee.leaves, found.verdict())
    assert told["knee"] == (found.knee.leaves if found.has_knee else None)


def test_the_library_gives_the_same(kept: Path) -> None:
    def alarm(batch: object) -> object:
        return batch[:, 3] & (batch[:, 0] | batch[:, 1] & batch[:, 2])  # type: ignore[index]

    again = ft.frontier(alarm, ft.ProductSpace.bernoulli(12), max_leaves=5, max_queries=400)
    assert again.rows() == ft.Frontier.load(kept).rows()


def test_a_curve_of_which_nothing_is_certified_ends_with_3(folder: Path) -> None:
    done = run("frontier", "aims:alarm", *BITS, "--max-queries", "1", "--out", "kept")
    assert done.code == 3
    assert done.err.endswith("nothing useful certified: 1 label is too few, give --max-queries at least 48\n")
    assert (
        run("frontier", "aims:alarm", *BITS, "--max-queries", "1", "--out", "kept", "--json").json["certified"] is False
    )


@pytest.mark.parametrize("labels", [5, 10])
def test_a_curve_that_says_no_more_than_a_guess_ends_with_3(folder: Path, labels: int) -> None:
    """Ten labels certified 0.3 % of agreement, and ended with 0."""
    done = run("frontier", "aims:parity", "--bernoulli", "0.5", "--features", "24", "--max-queries", labels)
    assert done.code == 3
    told = re.fullmatch(rf"(?s).*: {labels} labels are too few, give --max-queries at least (\d+)\n", done.err)
    assert told is not None
    assert 48 <= int(told[1]) < 100
    assert "at least 0%" not in done.out
    again = run("frontier", "aims:alarm", "--bernoulli", "0.5", "--features", "24", "--max-queries", told[1])
    assert again.code == 0, "so many can say more than a guess"
    with_more = run("frontier", "aims:alarm", "--bernoulli", "0.5", "--features", "24", "--max-queries", 64)
    assert with_more.code == 0


def test_ctrl_c_leaves_a_curve(folder: Path) -> None:
    done = run(
        "frontier", "aims:interrupted", "--bernoulli", "0.5", "--features", "24", "--out", "kept", "--no-journal"
    )
    found = ft.Frontier.load("kept")
    assert "interrupted" in done.out
    assert done.code == 7, "interrupted, whatever the curve shows by then"
    assert found.points
    assert done.err.endswith("interrupted: no answers were kept, so the same command begins anew\n")


def test_options_are_named_in_errors(folder: Path) -> None:
    assert "--max-leaves must be" in refused("frontier", "aims:alarm", *BITS, "--max-leaves", "0", code=2)
    assert "--delta must be" in refused("frontier", "aims:alarm", *BITS, "--delta", "2", code=2)


def test_show_picks_a_point(kept: Path) -> None:
    found = ft.Frontier.load(kept)
    for pick, point in (("leaves=2", found.at(leaves=2)), ("epsilon=0.4", found.at(epsilon=0.4)), ("knee", found.knee)):
        shown = run("show", kept, "--pick", pick)
        assert shown.code == 0
        assert shown.out.startswith(f"{point.tree}\n\n{point.certificate}\n")
        starred = [line for line in shown.out.splitlines() if line.endswith("  *")]
        assert [int(line.split()[0]) for line in starred] == [point.leaves]
    assert ft.Tree.from_dict(run("show", kept, "--pick", "leaves=2", "--json").json["tree"]) == found.at(leaves=2).tree
    assert run("show", kept, "--json").json["frontier"] == found.rows()


def test_export_picks_a_point(kept: Path) -> None:
    tree = ft.Frontier.load(kept).at(leaves=2).tree
    assert run("export", kept, "--to", "text", "--pick", "leaves=2").out.rstrip("\n") == str(tree).rstrip("\n")


def test_report_opens_at_a_point(kept: Path) -> None:
    found = ft.Frontier.load(kept)
    about = ("--title", "Audit of March", "--target-name", "the lender", "--notes", "Signed.", "--date", "2026-03-31")
    done = run("report", kept, "--pick", "price=0", "--out", "page.html", *about)
    assert (done.code, done.out.splitlines()[-1]) == (0, "wrote page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert f'A tree with {found[-1].leaves} leaves that answers as <span class="named">the lender</span> does' in page
    assert all(told in page for told in ("<title>Audit of March</title>", "Signed.", "2026-03-31"))
    assert run("report", kept, "--json").json == {"size": found.knee.leaves, "file": "report.html"}


@pytest.mark.parametrize(
    ("pick", "message"),
    [
        ("8", "--pick must be knee, leaves=N, epsilon=E or price=P; got '8'"),
        ("size=8", "--pick must be knee, leaves=N, epsilon=E or price=P; got 'size=8'"),
        ("leaves=many", "--pick must name a number after leaves=; got 'leaves=many'"),
        ("leaves=0", "leaves must be"),
        ("epsilon=1e-9", "epsilon must be reached by a tree of the frontier"),
    ],
)
def test_a_pick_that_names_nothing_is_refused(kept: Path, pick: str, message: str) -> None:
    assert message in refused("show", kept, "--pick", pick, code=2)


def test_a_pick_needs_a_frontier(kept: Path) -> None:
    (kept / "frontier.json").unlink()
    assert "folder must hold a stored frontier" in refused("show", kept, "--pick", "knee", code=2)
    message = refused("export", kept / "tree.json", "--to", "text", "--pick", "knee", code=2)
    assert "--pick needs a result folder with a frontier" in message
