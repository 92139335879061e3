"""Pages about folders that strangers may have written: nothing outside is read, and nothing broken hides the rest."""

from __future__ import annotations

import hashlib
import html
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.certificate import Certificate
from fidelitree.runs.viewer import Viewer
from fidelitree.trees.answers import DEFER
from journals import BITS, on_bits

if TYPE_CHECKING:
    from pathlib import Path

PAGES = ("report", "verify", "differ", "differ.csv", "rows")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    ft.distill(on_bits, BITS, 0.2, max_leaves=2, max_queries=300, journal=folder / "journal.db").save(folder)
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    """Two copies of one result."""
    for name in ("good", "other"):
        shutil.copytree(kept, tmp_path / "results" / name)
    return tmp_path / "results"


def promise(folder: Path, **changed: Any) -> None:
    """Another certificate in the folder ``other``."""
    file = folder / "other" / "certificate.json"
    file.write_text(replace(Certificate.from_json(file.read_text()), **changed).to_json())


def line(folder: Path) -> str:
    return Viewer(folder).page("", {}).body.split("<tr>")[-1]


FILES = ("report.html", "journal.db", "space.json", "run.json", "tree.json", "certificate.json", "trace.csv")


@pytest.mark.parametrize("name", FILES)
def test_no_link_is_followed(folder: Path, name: str) -> None:
    """Not even to a file that would do: it lies outside."""
    secret = folder.parent / "secret"
    (folder / "other" / name).rename(secret)
    (folder / "other" / name).symlink_to(secret)
    viewer = Viewer(folder)
    for page in PAGES:
        found = viewer.page(page, {"of": "other"})
        assert found.status == 400, page
        assert f"a result must hold files, not links; {name} is a link" in found.body
    assert viewer.page("compare", {"old": "good", "new": "other"}).status == 400
    assert "unreadable: a result must hold files, not links" in line(folder)
    assert viewer.page("report", {"of": "good"}).status == 200


def test_a_report_that_the_run_did_not_write_is_refused(folder: Path) -> None:
    viewer, file = Viewer(folder), folder / "other" / "report.html"
    page = viewer.page("report", {"of": "other"})
    assert (page.status, page.foreign) == (200, True)
    file.write_text(page.body + "<script>1</script>", encoding="utf-8")
    page = viewer.page("report", {"of": "other"})
    assert (page.status, page.foreign) == (400, False)
    assert "its digest is not the one in run.json" in page.body
    (folder / "other" / "run.json").unlink()
    assert viewer.page("report", {"of": "other"}).status == 400


def test_a_report_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "other" / "report.html").write_bytes(b"\xff\xfe")
    run = json.loads((folder / "other" / "run.json").read_text())
    run["files"]["report.html"] = hashlib.sha256(b"\xff\xfe").hexdigest()
    (folder / "other" / "run.json").write_text(json.dumps(run))
    page = Viewer(folder).page("report", {"of": "other"})
    assert (page.status, "report.html must be text in UTF-8" in page.body) == (400, True)


def test_the_list_tells_what_is_promised_of_what(folder: Path) -> None:
    promise(folder, error_bound=0.00898, coverage=0.5, drawn=10_000)
    assert "99.1% of what it answers: at least 50% of inputs" in line(folder)
    promise(folder, coverage=0.0)
    assert "nothing: it defers every input" in line(folder)
    promise(folder, coverage=None, drawn=None, tolerance=2.5)
    assert "99.1%, within 2.5" in line(folder)
    promise(folder, error_bound=1.0)
    assert ">nothing<" in line(folder)


def test_inputs_that_the_tree_defers_are_no_disagreements(folder: Path) -> None:
    """Where x0 = 1 the tree is asked nothing, so that all that is left is what it gets wrong elsewhere."""
    about, viewer = {"of": "other"}, Viewer(folder)
    ft.Tree.build(BITS, [(0, 1, 2), 0, 1], [0, 1]).save(folder / "other" / "tree.json")
    every = [row.split(",") for row in viewer.page("differ.csv", about).body.splitlines()[1:]]
    assert " The tree defers" not in viewer.page("differ", about).body
    elsewhere = [row for row in every if row[0] == "0"]
    assert 0 < len(elsewhere) < len(every)
    ft.Tree.build(BITS, [(0, 1, 2), 0, 2], [0, 1, DEFER]).save(folder / "other" / "tree.json")
    assert [row.split(",") for row in viewer.page("differ.csv", about).body.splitlines()[1:]] == elsewhere
    page = viewer.page("differ", about).body
    assert f"Tree and target differ on {len(elsewhere)} of " in page
    assert " more, which are left out." in page


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tree.json", b"{}"),
        ("certificate.json", b"[1]"),
        ("space.json", b"\xff"),
        ("run.json", b"[]"),
        ("tree.json", b"[" * 100_000),
        ("certificate.json", b'{"format": "fidelitree.certificate", "version": 1}'),
    ],
)
def test_one_broken_folder_leaves_the_others_on_the_list(folder: Path, name: str, content: bytes) -> None:
    (folder / "other" / name).write_bytes(content)
    page = Viewer(folder).page("", {})
    assert page.status == 200
    assert 'href="report?of=good"' in page.body
    assert 'href="report?of=other"' not in page.body
    assert ">unreadable: " in line(folder)


def test_a_folder_whose_name_is_no_text_leaves_the_others_on_the_list(folder: Path) -> None:
    (folder / "other").rename(folder / "other\udcff")
    page = Viewer(folder).page("", {})
    assert (page.status, 'href="report?of=good"' in page.body) == (200, True)


@pytest.mark.parametrize("table", ["x0,label\r1\r", f"x0,label\n1,{'7' * 200_000}\n", 'x0,label\n"1', "\0", ""])
def test_a_table_that_cannot_be_read_is_one_line(folder: Path, table: str) -> None:
    page = Viewer(folder).page("rows", {"of": "good"}, table)
    assert page.status == 400
    assert "That did not work" in page.body


def _another_bound(folder: Path) -> None:
    promise(folder, error_bound=0.001)


def _no_journal(folder: Path) -> None:
    (folder / "other" / "journal.db").unlink()


def _another_trace(folder: Path) -> None:
    """Only a replay finds it: the digest is written anew."""
    trace, run = folder / "other" / "trace.csv", folder / "other" / "run.json"
    trace.write_bytes(trace.read_bytes().rsplit(b"\n", 2)[0] + b"\n")
    told = json.loads(run.read_text(encoding="utf-8"))
    told["files"]["trace.csv"] = hashlib.sha256(trace.read_bytes()).hexdigest()
    run.write_text(json.dumps(told), encoding="utf-8")


def _no_run(folder: Path) -> None:
    (folder / "other" / "run.json").unlink()


@pytest.mark.parametrize("change", [None, _another_bound, _no_journal, _another_trace, _no_run])
def test_view_and_verify_say_the_same(folder: Path, change: Any) -> None:
    """The page of a result has every check and the verdict of ``fidelitree verify``, word for word."""
    if change is not None:
        change(folder)
    found = ft.verify(folder / "other")
    page = html.unescape(Viewer(folder).page("verify", {"of": "other"}).body)
    for words in (*found.explained.splitlines(), *(check.sentence for check in found.checks), *found.remarks):
        assert words in page
    assert page.count("✗") == sum(check.passed is False for check in found.checks)


def test_view_confirms_what_only_a_replay_confirms(tmp_path: Path) -> None:
    """Counting the answers does not decide here: 0.2.0 said "Undecided" on the page and "confirm" in the shell."""
    rows = {"x": np.arange(400) % 89 / 89.0, "y": np.arange(400) % 97 / 97.0}
    made = ft.distill(
        lambda batch: np.asarray(batch["x"]) > 0.5,
        ft.Rows(rows, blend=0.1),
        epsilon=0.2,
        seed=0,
        journal=tmp_path / "j.db",
    )
    made.save(tmp_path / "results" / "kept")
    assert ft.verify(tmp_path / "results" / "kept", answers=True).undecided
    assert ft.verify(tmp_path / "results" / "kept").verdict == "confirmed"
    assert (
        "The stored answers confirm the certificate."
        in Viewer(tmp_path / "results").page("verify", {"of": "kept"}).body
    )
