"""The folder's own ``verify.py`` against ``verify --answers``: two programs, no shared line, the same verdicts."""

from __future__ import annotations

import ast
import collections
import importlib.util
import json
import random
import re
import runpy
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fidelitree as ft
from fidelitree.certificates import standalone
from journals import BITS, MIXED, on_bits, on_mixed

if TYPE_CHECKING:
    from types import ModuleType


def _battery() -> ModuleType:
    """The folders and forgeries of the neighbour: tests are no package, so it is loaded by its path."""
    path = Path(__file__).with_name("test_forged_folders.py")
    spec = importlib.util.spec_from_file_location("forged_folders", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["forged_folders"] = module
    spec.loader.exec_module(module)
    return module


FORGED = _battery()
NOT_ON_THE_LIST = (
    r"^trace.csv",  # how the tree was found: its digest is all that is looked at, and a forger writes it anew
    r"run.json: (asked|paid|reason)",
    r"real_rows",  # the error on rows kept aside: beside the promise as well
    r"confusion",  # tables of answers: the cells are counted, their intervals are not worked out again
    r"frontier.json removed|frontier.json: points(\.\d+)?$",  # nothing tells how many points there were
    r"frontier.json: (max_leaves|points.\d+.answers.classes)",  # the largest size looked for; the names of columns
    r"frontier.json: points.\d+.answers$",  # a table that is left out: beside the promise
    r"journal.db run: (ended|drawn|entropy|replayed|features)",
    r"journal.db (attempts|answers) \d+",  # single rows: left to `verify`, which replays the run
    r"certificate(\.json: |\.)(queries|attempts|split_quality|ledger)",  # of a sequential one, ledger gives the level
)
LINES = 1_300  # it is read by people who do not trust it: long before it is dense
OLDER = Path(__file__).parents[1] / "recorded" / "v0_2_0"
SOME = 90  # forgeries of each kind of folder outside the soak


def code_of(folder: Path, answers: bool = True) -> int:
    """The exit code of ``fidelitree verify``, as the command works it out."""
    try:
        found = ft.verify(folder, answers=answers)
    except ft.FidelitreeError:
        return 2
    if not found.consistent:
        return 2
    return 5 if found.undecided else 0 if found.holds else 3


def test_it_is_short_and_needs_nothing() -> None:
    path = Path(standalone.__file__)
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LINES
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt)]
    places = collections.Counter(node.lineno for node in statements)
    assert [line for line, count in places.items() if count > 1] == []
    imported = set(re.findall(r"^(?:import|from) (\w+)", source, re.MULTILINE))
    assert imported <= sys.stdlib_module_names, imported
    assert "fidelitree." not in re.sub(r'"""[\s\S]*?"""|"[^"\n]*"', "", source)


@pytest.fixture(scope="module", params=FORGED.KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return FORGED.Folder(tmp_path_factory.mktemp("alone"), request.param)


def test_both_end_alike_on_an_honest_folder(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows of a table are the same whatever tree is tested: their counts confirm nothing, a replay does."""
    for path in (folder.path, folder.other):
        code = 5 if folder.kind == "rows" else code_of(path, answers=False)
        assert standalone.main(str(path)) == code_of(path) == code, capsys.readouterr().out
        assert code_of(path, answers=False) in (0, 3)


def test_it_runs_with_nothing_installed(folder: Any) -> None:
    command = [sys.executable, "-I", "-S", str(folder.path / "verify.py"), str(folder.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code_of(folder.path), done.stdout + done.stderr
    assert "not checked: that the answers are those of the target, that the seed was given, how the" in done.stdout


def test_both_refuse_what_is_on_the_list(
    folder: Any, soak: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where one of the two confirms a forgery of something on the list, the test names it."""
    forgeries = [one for one in folder.forgeries() if not any(re.search(rule, one.name) for rule in NOT_ON_THE_LIST)]
    some = forgeries if soak else random.Random(folder.kind).sample(forgeries, SOME)
    codes: list[tuple[int, int]] = []

    def both(path: Path) -> bool:
        codes.append((standalone.main(str(path)), code_of(path)))
        return False

    monkeypatch.setattr(FORGED, "confirmed", both)
    for one in some:
        folder.confirms(one)
    capsys.readouterr()
    confirmed = {0, 3}
    taken = [
        f"{one}: {pair}"
        for one, pair in zip(some, codes, strict=True)
        if confirmed & {*pair} and not FORGED.harmless(folder, one)
    ]
    assert "\n".join(taken) == ""


def test_a_flattered_count_is_refused_by_the_answers_alone(tmp_path: Path) -> None:
    """The planted fault: a bound that follows from counts which the answers do not give."""
    (tmp_path / "kept").mkdir()
    made = FORGED.made_frontier(tmp_path / "kept", (FORGED.on_nine, BITS, {"max_leaves": 3, "max_queries": 150}))
    assert made.certificate.errors
    assert standalone.main(str(tmp_path / "kept")) == 0
    told = standalone.Folder(tmp_path / "kept")
    flattered = {**told.certificate, "errors": told.certificate["errors"] - 1}
    with pytest.raises(ValueError, match="give"):
        told.point(told.read("tree.json"), flattered, told.read("tested.json", None))
    bound = standalone.upper_end(flattered["errors"], flattered["samples"], flattered["level"])
    flattered["error_bound"] = bound + flattered["differs"]
    with pytest.raises(ValueError, match="the answers give other counts"):
        told.point(told.read("tree.json"), flattered, told.read("tested.json", None))


def test_what_it_cannot_check_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ft.distill(on_bits, BITS, epsilon=0.1).save(tmp_path / "bare")
    assert standalone.main(str(tmp_path / "bare")) == 5 == code_of(tmp_path / "bare")
    assert "no journal, or no space, is here" in capsys.readouterr().out
    assert standalone.main(str(tmp_path / "nothing")) == 2
    world = ft.Rows(MIXED.draw(400), blend=0.1)
    ft.distill(on_mixed, world, epsilon=0.3, journal=tmp_path / "w.db").save(tmp_path / "world")
    assert standalone.main(str(tmp_path / "world")) == 5 == code_of(tmp_path / "world")
    assert "neighbours of rows are not drawn again here" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["bits", "rows", "helped"])
def test_folders_of_0_2_0_are_counted_and_undecided(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their test inputs are the same whatever tree was tested: both programs say so, in words."""
    folder = shutil.copytree(OLDER / kind, tmp_path / kind)
    assert standalone.main(folder) == 5 == code_of(folder), capsys.readouterr().out
    said = capsys.readouterr().out
    if kind == "helped":
        assert "a surrogate model shortened the test, which is not counted here" in said
        assert "a surrogate model shortened the test, which is not counted" in str(ft.verify(folder, answers=True))
        return
    changed = "it may have been changed after its test inputs were known"
    assert changed in said
    assert changed in str(ft.verify(folder, answers=True))
    told = standalone.Folder(folder)
    flattered = {**told.certificate, "errors": told.certificate["errors"] + 1}
    bound = standalone.upper_end(flattered["errors"], flattered["samples"], flattered["level"])
    flattered |= {"error_bound": bound + flattered["differs"], "holds": False}
    with pytest.raises(ValueError, match="the answers give other counts"):
        told.point(told.read("tree.json"), flattered, told.read("tested.json", None))


def test_many_good_folders(tmp_path: Path, soak: bool) -> None:
    """Targets, worlds, seeds and budgets as they come; 200 of them in the soak."""
    rows = ft.Rows(MIXED.draw(600, seed=4))
    cases: list[tuple[Any, Any, dict[str, Any]]] = [
        (on_bits, BITS, {}),
        (on_mixed, MIXED, {}),
        (on_mixed, rows, {}),
        (FORGED.on_numbers, MIXED, {"tolerance": 4.5}),
        (FORGED.on_half, MIXED, {"defer": True, "max_queries": 1_500, "max_leaves": 4}),
        (on_mixed, MIXED, {"prefer": "rounds"}),
    ]
    for seed in range(200 if soak else len(cases)):
        (target, space, more), where = cases[seed % len(cases)], tmp_path / str(seed)
        budget = {"max_queries": 40 + 30 * seed} if seed % 9 == 0 else {}
        epsilon = (0.05, 0.1, 0.2)[seed // 7 % 3] if space is not rows else 0.2
        made = ft.distill(
            target, space, epsilon=epsilon, seed=seed, journal=tmp_path / f"{seed}.db", **{**more, **budget}
        )
        made.save(where)
        assert standalone.main(str(where)) == code_of(where) in ((5,) if space is rows else (0, 3)), seed


def test_what_a_run_was_told_must_be_in_its_journal(tmp_path: Path) -> None:
    """Arguments that not every run has, removed from the journal: found by forging, once for all."""
    asked = {"tolerance": (FORGED.on_numbers, {"tolerance": 4.5}), "defer": (FORGED.on_half, {"defer": True})}
    for name, (target, more) in asked.items():
        where = tmp_path / name
        made = ft.distill(target, MIXED, 0.2, max_queries=900, journal=tmp_path / f"{name}.db", **more)
        made.save(where)
        assert standalone.main(str(where)) == code_of(where) in (0, 3)
        with closing(sqlite3.connect(where / "journal.db")) as file, file:
            told = json.loads(file.execute("SELECT value FROM run WHERE name = 'arguments'").fetchone()[0])
            del told[name]
            file.execute("UPDATE run SET value = ? WHERE name = 'arguments'", (json.dumps(told),))
        assert standalone.main(str(where)) == code_of(where) == code_of(where, answers=False) == 5


def test_it_is_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["verify.py", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(standalone.__file__, run_name="__main__")
    assert ended.value.code == 2
