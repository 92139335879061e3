"""Results as folders: saved, loaded, damaged."""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.certificates import standalone
from fidelitree.certificates.store import load, load_space, ways_to_check
from fidelitree.errors import WriteError

SPACE = ft.ProductSpace([ft.Boolean("owner", 0.3), ft.Categorical("job", ["a", "b"]), ft.Numeric("age", 18, 90)])


def target(batch: dict[str, object]) -> object:
    return (batch["age"] > 40) & (batch["job"] == "a")  # type: ignore[operator]


def test_a_result_comes_back(tmp_path: Path) -> None:
    result = ft.distill(target, SPACE, 0.1)
    files = result.save(tmp_path / "deep" / "folder")
    assert {"tree.json", "certificate.json", "space.json", "trace.csv", "run.json"} <= {path.name for path in files}
    stored = load(tmp_path / "deep" / "folder")
    assert (stored.tree, stored.certificate, stored.space) == (result.tree, result.certificate, SPACE)
    assert stored.run["reason"] == "certified"
    assert stored.run["asked"] == dict(result.queries.asked)
    assert stored.run["deterministic"] is True


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    result, taken = ft.distill(target, SPACE, 0.1), tmp_path / "taken"
    taken.write_text("mine", encoding="utf-8")
    with pytest.raises(WriteError) as caught:
        result.save(taken)
    why = caught.value.__cause__
    assert isinstance(why, FileExistsError)
    assert str(caught.value) == (
        f"{str(taken)!r} cannot be written: {why.strerror} - give a folder, or a name that is not taken"
    )
    assert taken.read_text(encoding="utf-8") == "mine"


def test_a_report_needs_a_folder(tmp_path: Path) -> None:
    page = tmp_path / "nowhere" / "report.html"
    with pytest.raises(OSError, match="give a file in a folder that exists") as caught:
        ft.distill(target, SPACE, 0.1).report(page)
    assert isinstance(caught.value, ft.FidelitreeError)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert str(caught.value).startswith(f"{str(page)!r} cannot be written: ")


def test_rows_come_back(tmp_path: Path) -> None:
    rows = ft.Rows({"age": list(range(200)), "job": ["a", "b"] * 100})
    result = ft.distill(target, rows, 0.2)
    result.save(tmp_path)
    stored = load(tmp_path)
    assert isinstance(stored.space, ft.Rows)
    assert stored.space.digest == stored.certificate.space_digest


def test_the_trace_of_an_exact_run_names_its_tests(tmp_path: Path) -> None:
    finite = ft.ProductSpace([ft.Categorical("job", ["a", "b", "c"]), ft.Numeric.from_values("age", [20, 50, 60])])
    ft.build_top_down(target, finite, 0).save(tmp_path)
    with (tmp_path / "trace.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["leaf"] == "all inputs"
    assert {row["test"] for row in rows} == {"age <= 35", "job = a"}


def test_a_tree_without_a_trace_has_an_empty_table(tmp_path: Path) -> None:
    ft.build_top_down(lambda batch: batch[:, 0] * 0, ft.ProductSpace.bernoulli(2), 0).save(tmp_path)
    assert (tmp_path / "trace.csv").read_text(encoding="utf-8") == "asked\n"


def test_space_and_run_may_be_missing(tmp_path: Path) -> None:
    ft.distill(target, SPACE, 0.1).save(tmp_path)
    (tmp_path / "space.json").unlink()
    (tmp_path / "run.json").unlink()
    assert load(tmp_path).space is None
    assert load(tmp_path).run == {}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("run.json", "[]", r"run.json must hold an object; got \[\]"),
        ("run.json", "{", "run.json is not JSON: "),
        ("space.json", "", "space.json is not JSON: "),
        ("tree.json", "", "tree.json is not JSON: "),
        ("certificate.json", "", "not a stored certificate: it is not JSON: "),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    ft.distill(target, SPACE, 0.1).save(tmp_path)
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ft.FormatError, match=message):
        load(tmp_path)


def test_a_space_is_read_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('features.a = { kind = "boolean", p = 0.25 }', encoding="utf-8")
    assert load_space(tmp_path / "a.toml") == ft.ProductSpace([ft.Boolean("a", 0.25)])


FULL = """
import resource, signal, sys
import fidelitree as ft
folder, most = sys.argv[1], int(sys.argv[2])
result = ft.distill(lambda batch: batch["age"] > 40, ft.ProductSpace([ft.Numeric("age", 18, 90)]), 0.1)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    result.save(folder)
except ft.FidelitreeError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on files")
@pytest.mark.parametrize("most", [10, 300, 2_000])  # bytes of a file: nothing, a tree, all but the report
@pytest.mark.parametrize("old", [False, True])
def test_a_full_disk_leaves_the_old_result_or_none(tmp_path: Path, most: int, old: bool) -> None:
    folder = tmp_path / "kept"
    if old:
        ft.distill(target, SPACE, 0.1).save(folder)
    before = contents(folder)
    script = [sys.executable, "-c", FULL, str(folder), str(most)]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{str(folder)!r} cannot be written: File too large")
    assert contents(folder) == before
    assert folder.exists() == old


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def test_a_kill_between_two_files_leaves_nothing_that_can_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two results that are both whole, no mixture."""
    one, two = ft.distill(target, SPACE, 0.1), ft.distill(lambda batch: batch["owner"], SPACE, 0.1)
    put, steps = Path.replace, 0

    def killed(self: Path, place: Path) -> Path:
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise KeyboardInterrupt
        return put(self, place)

    monkeypatch.setattr(Path, "replace", killed)
    for before in range(6):
        steps = 99
        one.save(tmp_path)
        steps = before
        with pytest.raises(KeyboardInterrupt):
            two.save(tmp_path)
        with pytest.raises(ft.ParameterError, match=r"certificate.json is not in"):
            load(tmp_path)
    steps = 99
    two.save(tmp_path)
    assert load(tmp_path).tree == two.tree


def test_a_tested_tree_does_not_outlive_its_result(tmp_path: Path) -> None:
    result = ft.distill(target, SPACE, 0.1)
    replace(result, tested=result.tree).save(tmp_path)
    assert load(tmp_path).tested == result.tree
    result.save(tmp_path)
    assert load(tmp_path).tested is None


def test_a_result_takes_its_journal_along(tmp_path: Path) -> None:
    """A journal of another run that lies there is kept aside; a copy of the same run is replaced."""
    space = ft.ProductSpace.bernoulli(12)
    for number, bit in enumerate((0, 1)):
        made = ft.distill(lambda batch, bit=bit: batch[:, bit], space, seed=number, journal=tmp_path / f"{number}.db")
        made.save(tmp_path / "kept")
        made.save(tmp_path / "kept")
    assert sorted(path.name for path in (tmp_path / "kept").glob("journal*")) == ["journal-1.db", "journal.db"]
    assert ft.journal.info(tmp_path / "kept" / "journal.db").run.seed == 1
    assert ft.journal.info(tmp_path / "kept" / "journal-1.db").run.seed == 0
    assert (tmp_path / "kept" / "journal.db").stat().st_mode & 0o077 == 0
    assert ft.verify(tmp_path / "kept").holds
    told = (tmp_path / "kept" / "README.txt").read_text(encoding="utf-8")
    assert (told.count("\n"), "(journal.db)" in told) == (5, True)
    assert "could have changed it: get it elsewhere. `fidelitree verifier` prints the genuine file" in told
    assert "With Python alone, count the stored answers again: python3 -I -S verify.py ." in told.splitlines()[1]
    ft.distill(lambda batch: batch[:, 0], space).save(tmp_path / "without")
    told = (tmp_path / "without" / "README.txt").read_text(encoding="utf-8")
    assert (told.count("\n"), "journal" in told, "no answers were kept" in told) == (5, False, True)
    assert told.splitlines()[1] == "Ask the model about fresh inputs: fidelitree verify . --target MODEL"
    assert "but not the answers, which it leaves undecided: python3 -I -S verify.py ." in told


@pytest.mark.parametrize(("near", "first"), [(True, "fidelitree verify ."), (False, "python3 -I -S verify.py .")])
def test_what_is_offered_first_decides(tmp_path: Path, near: bool, first: str) -> None:
    """Over neighbours of rows the folder's own program is left undecided, and it says so."""
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["a", "b"])
    space = ft.Rows(rows, blend=0.1) if near else ft.ChowLiu.from_data(rows)
    made = ft.distill(lambda batch: batch["a"] > 0, space, epsilon=0.2, journal=tmp_path / "j.db")
    made.save(tmp_path / "kept")
    ways = ways_to_check(space, kept=True, helped=False)
    assert ways[0][1] == first
    assert standalone.main(tmp_path / "kept") == (5 if near else 0)
    assert not ft.verify(tmp_path / "kept").undecided
    assert any("leaves undecided" in text for text, _ in ways) is near
    page = (tmp_path / "kept" / "report.html").read_text(encoding="utf-8")
    assert page.index(ways[0][1]) < page.index(ways[1][1] + "<")
    assert ways_to_check(space, kept=False, helped=False)[0][1] == "fidelitree verify . --target MODEL"
    assert ways_to_check(space, kept=True, helped=True)[0][1] == "fidelitree verify ."


def test_over_rows_what_is_offered_first_decides_too(tmp_path: Path) -> None:
    """The folder's own program counts their answers, and is left undecided."""
    rows = ft.Rows(pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=["a", "b"]))
    made = ft.distill(lambda batch: batch["a"] > 0, rows, epsilon=0.3, journal=tmp_path / "j.db")
    made.save(tmp_path / "kept")
    told = (tmp_path / "kept" / "README.txt").read_text(encoding="utf-8").splitlines()
    assert told[1].endswith("bit for bit: fidelitree verify .")
    assert told[3].startswith(
        "With Python alone, count the stored answers, which leaves undecided when the tree was made"
    )
    assert "Nothing in this folder shows that they are the model's own answers" in told[0]
    assert not ft.verify(tmp_path / "kept").undecided
    assert standalone.main(tmp_path / "kept") == 5
