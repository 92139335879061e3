"""Damaged model files end a child process, never this one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
import pytest
import xgboost

import fidelitree as ft
from fidelitree.targets import LightGBMModel, OnnxModel, XGBoostModel, load_model
from fidelitree.targets.models import sandbox as trial
from trained import classes, inputs

if TYPE_CHECKING:
    from pathlib import Path

X = inputs()


@pytest.fixture(scope="module", name="boosters")
def _boosters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small models as files."""
    folder = tmp_path_factory.mktemp("boosters")
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, classes(X, 2)), num_boost_round=4)
    booster.save_model(folder / "lightgbm.txt")
    matrix = xgboost.DMatrix(X, classes(X, 2))
    xgboost.train({"objective": "binary:logistic", "nthread": 1}, matrix, 4).save_model(folder / "xgboost.json")
    return folder


_ALL_CUTS = """
import sys
from pathlib import Path
import fidelitree as ft
from fidelitree.targets import load_model
source, cut = Path(sys.argv[1]), Path(sys.argv[2])
content, refused = source.read_bytes(), 0
for k in range(1, 61):
    cut.write_bytes(content[: len(content) * k // 61])
    try:
        load_model(cut)
    except ft.FormatError:
        refused += 1
print("alive", refused)
"""


@pytest.mark.parametrize("name", ["lightgbm.txt", "xgboost.json"])
def test_a_file_cut_off_anywhere_ends_no_interpreter(name: str, boosters: Path, tmp_path: Path) -> None:
    """In a process of its own, for it would end this one if it ended any."""
    cut = tmp_path / name
    done = subprocess.run(
        [sys.executable, "-c", _ALL_CUTS, str(boosters / name), str(cut)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    alive, refused = done.stdout.split()[-2:]
    assert alive == "alive"
    assert int(refused) >= 50  # a file that lacks only what nobody needs may be read


def test_what_happened_is_said_with_the_name_of_the_file(boosters: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt"
    content = (boosters / "lightgbm.txt").read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    with pytest.raises(ft.FormatError, match=r"^cut\.txt is (damaged|not a LightGBM model that can be read)"):
        load_model(cut)


@pytest.fixture(name="child")
def _child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Another program in the place of the child."""

    def use(program: str) -> None:
        script = tmp_path / "child.py"
        script.write_text(program, encoding="utf-8")
        monkeypatch.setattr(trial, "_CHILD", script)
        monkeypatch.setattr(trial, "_tried", set())

    return use


BEGIN = "model.txt is damaged, or not the model that its name says: it was read in a process of its own first, and "


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it ended that process by SIGSEGV"),
        ("import os, signal; os.kill(os.getpid(), 40)", "it ended that process by signal 40"),
        ("raise SystemExit(7)", "it ended that process with exit code 7"),
        ("import time; time.sleep(60)", "it took more than 1 seconds"),
        ("print('\"memory\"')", "it needed more than 2,048 MB"),
    ],
)
def test_crashes_hangs_and_hunger_are_told(
    program: str, end: str, boosters: Path, tmp_path: Path, child: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "SECONDS", 1 if "sleep" in program else 60)
    child(program)
    (tmp_path / "model.txt").write_bytes((boosters / "lightgbm.txt").read_bytes())
    with pytest.raises(ft.FormatError) as caught:
        load_model(tmp_path / "model.txt")
    assert str(caught.value) == BEGIN + end


def test_a_file_is_tried_once_until_it_changes(boosters: Path, tmp_path: Path, child: Any) -> None:
    child(f"open({str(tmp_path / 'count')!r}, 'a').write('x'); print('null')")
    path = tmp_path / "model.txt"
    path.write_bytes((boosters / "lightgbm.txt").read_bytes())
    for _ in range(3):
        LightGBMModel(path)
    assert (tmp_path / "count").read_text() == "x"
    path.write_bytes(path.read_bytes() + b"\n")
    LightGBMModel(path)
    assert (tmp_path / "count").read_text() == "xx"


@pytest.mark.parametrize("executable", ["", "frozen-program"])
def test_without_an_interpreter_files_are_read_without(
    executable: str, boosters: Path, child: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    child("raise SystemExit(7)")
    monkeypatch.setattr(sys, "executable", executable)
    assert LightGBMModel(boosters / "lightgbm.txt")(X[:3]).shape == (3,)


def test_no_room_for_a_child_is_our_own_error(boosters: Path, child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    child("print('null')")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ft.FormatError, match="cannot be tried in a process of its own: No such file"):
        LightGBMModel(boosters / "lightgbm.txt")


def test_a_model_that_takes_too_much_memory_is_refused(boosters: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With next to no memory any model takes too much; the real child is asked."""
    monkeypatch.setattr(trial, "MEGABYTES", 0)
    monkeypatch.setattr(trial, "_tried", set())
    with pytest.raises(ft.FormatError):
        load_model(boosters / "lightgbm.txt")


def test_good_files_of_every_kind_pass(boosters: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "_tried", set())
    booster = lightgbm.Booster(model_file=boosters / "lightgbm.txt")
    expected = (np.asarray(booster.predict(X)) > 0.5).astype(int).tolist()
    assert LightGBMModel(boosters / "lightgbm.txt")(X).tolist() == expected
    assert XGBoostModel(boosters / "xgboost.json")(X).shape == (len(X),)
    space = ft.ProductSpace.bernoulli(2)
    tree = ft.Tree.build(space, [(0, 1, 2), 0, 1], [0, 1])
    (tmp_path / "model.onnx").write_bytes(ft.export.to_onnx(tree).SerializeToString())
    assert OnnxModel(tmp_path / "model.onnx")(np.array([[1, 0]])).tolist() == [1]
    assert len(trial._tried) == 3


def test_the_child_is_told_where_libraries_lie(boosters: Path, child: Any, tmp_path: Path) -> None:
    """A folder that a notebook or PYTHONPATH put on the path is on the child's too."""
    note = tmp_path / "path"
    child(f"import sys; open({str(note)!r}, 'w').write(sys.argv[5]); print('null')")
    LightGBMModel(boosters / "lightgbm.txt")
    assert json.loads(note.read_text()) == sys.path
