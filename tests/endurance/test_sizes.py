"""Files from strangers that are too large are refused before they are read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import fidelitree as ft
from fidelitree.certificates.store import load, load_space

if TYPE_CHECKING:
    from pathlib import Path


def large(path: Path) -> Path:
    """A file of a terabyte that takes no room."""
    with path.open("wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    return path


def test_spaces_and_trees(tmp_path: Path) -> None:
    for name, sentence in (
        ("space.toml", "space.toml is larger than the 16 MB that a space file may have"),
        ("space.json", "space.json is larger than the 200 MB that a file of a stored result may have"),
    ):
        with pytest.raises(ft.FormatError, match=sentence):
            load_space(large(tmp_path / name))
    with pytest.raises(ft.FormatError, match=r"tree\.json is larger than the 200 MB"):
        ft.Tree.load(large(tmp_path / "tree.json"))


def test_result_folders(tmp_path: Path) -> None:
    space = ft.ProductSpace.bernoulli(3)
    ft.distill(ft.targets.majority(3), space).save(tmp_path)
    for name in ("certificate.json", "run.json"):
        good = (tmp_path / name).read_bytes()
        large(tmp_path / name)
        with pytest.raises(
            ft.FormatError, match=f"{name} is larger than the 200 MB that a file of a stored result may have"
        ):
            load(tmp_path)
        (tmp_path / name).write_bytes(b"\xff")
        with pytest.raises(ft.FormatError, match=f"{name} must be text in UTF-8"):
            load(tmp_path)
        (tmp_path / name).write_bytes(good)
    assert load(tmp_path).certificate.holds


def test_journals(tmp_path: Path) -> None:
    with pytest.raises(ft.FormatError, match="file is not a database"):
        ft.journal.info(large(tmp_path / "run.db"))
