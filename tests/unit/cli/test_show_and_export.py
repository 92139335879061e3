"""`fidelitree show` and `fidelitree export`: stored trees, in print and in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fidelitree as ft
from commandline import BITS, refused, run
from fidelitree import export
from fidelitree.export import to_blif, to_pla


@pytest.fixture
def kept(folder: Path) -> Path:
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    return Path("kept")


def test_show_prints_tree_and_certificate(kept: Path) -> None:
    tree = ft.Tree.load(kept / "tree.json")
    certificate = ft.Certificate.from_json((kept / "certificate.json").read_text(encoding="utf-8"))
    shape = f"{tree.size} leaves, depth {tree.depth}, 12 features\n"
    constant = certificate.sentences(tree.size)
    assert certificate.confusion is not None
    table = certificate.confusion.lines()
    assert len(constant) == 1
    assert table[0].split() == ["target", "tree", "test", "inputs", "share", "of", "that", "label"]
    told = "\n".join([str(certificate), *constant, shape, *table])
    shown = run("show", kept).out
    assert shown.startswith(f"{tree}\n\n{told}\n\nleaves  agrees on at least  at most\n")
    assert shown.endswith("All of these hold together, with 95% confidence.\n")
    assert run("show", kept / "tree.json").out == f"{tree}\n\n{shape}"


def test_show_as_json(kept: Path) -> None:
    shown = run("show", kept, "--json").json
    assert ft.Tree.from_dict(shown["tree"]) == ft.Tree.load(kept / "tree.json")
    assert shown["run"]["door"] == "distill"
    assert "certificate" not in run("show", kept / "tree.json", "--json").json


@pytest.mark.parametrize(("name", "function"), [("pla", to_pla), ("blif", to_blif)])
def test_export_prints_or_writes(kept: Path, name: str, function: Any) -> None:
    text = function(ft.Tree.load(kept / "tree.json"))
    assert run("export", kept, "--to", name).out == text
    assert run("export", kept / "tree.json", "--to", name, "--json").json == {
        "format": name,
        "text": text,
        "file": None,
    }
    assert run("export", kept, "--to", name, "--out", "tree.txt").out == "wrote tree.txt\n"
    assert Path("tree.txt").read_text(encoding="utf-8") == text
    assert run("export", kept, "--to", name, "--out", "b.txt", "--json").json["file"] == "b.txt"


@pytest.mark.parametrize("name", export.FORMATS)
def test_every_format_can_be_written(kept: Path, name: str) -> None:
    assert run("export", kept, "--to", name, "--out", "made").out == "wrote made\n"
    assert Path("made").read_bytes().strip()


def test_formats_that_want_the_space_get_it(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def to_count(tree: ft.Tree, space: Any = None) -> str:
        return "none" if space is None else str(len(space))

    monkeypatch.setitem(export.FORMATS, "count", to_count)
    assert run("export", kept, "--to", "count").out == "12\n"
    assert run("export", kept / "tree.json", "--to", "count").out == "none\n"


class Message:
    """Stores itself, as ONNX models do."""

    def SerializeToString(self) -> bytes:  # noqa: N802 - protobuf's name for it
        return b"\x00\x01"


def test_models_go_to_files_only(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.tree import DecisionTreeClassifier

    monkeypatch.setitem(export.FORMATS, "message", lambda tree: Message())
    monkeypatch.setitem(export.FORMATS, "estimator", lambda tree: DecisionTreeClassifier().fit([[0], [1]], [3, 4]))
    for name in ("message", "estimator"):
        assert refused("export", kept, "--to", name) == (
            f"--to {name} makes a model, which is not text: say where to write it with --out FILE"
        )
    run("export", kept, "--to", "message", "--out", "model.bin")
    assert Path("model.bin").read_bytes() == b"\x00\x01"
    run("export", kept, "--to", "estimator", "--out", "tree.skops")
    model = ft.targets.load_model("tree.skops", trusted=["sklearn.tree._tree.Tree"])
    assert model([[1]]).tolist() == [4]


def test_an_unknown_format_lists_the_known_ones(kept: Path) -> None:
    assert refused("export", kept, "--to", "haiku") == f"--to must be one of {', '.join(export.FORMATS)}; got 'haiku'"


@pytest.mark.parametrize("command", [["show", "nowhere"], ["export", "nowhere", "--to", "pla"]])
def test_a_wrong_path_is_named(folder: Path, command: list[str]) -> None:
    assert refused(*command) == "'nowhere' cannot be read: No such file or directory"


def test_a_folder_without_a_result_says_what_is_missing(folder: Path) -> None:
    Path("empty").mkdir()
    assert refused("show", "empty") == ("folder must hold tree.json and certificate.json; tree.json is not in 'empty'")


def test_a_file_that_is_no_tree_is_refused(folder: Path) -> None:
    Path("x.json").write_text("{}", encoding="utf-8")
    assert refused("show", "x.json") == 'not a stored tree: it must be an object with "format": "fidelitree.tree"'
