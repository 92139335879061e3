"""The file that checks folders without our code, run in this process; tests/contract runs it alone, as people do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.standalone import main

BITS = ft.ProductSpace.bernoulli(6)
ROWS = {"age": np.arange(600) % 61 / 2, "job": np.array(["nurse", "clerk", "pilot"])[np.arange(600) % 3]}
MIXED = ft.ProductSpace([ft.Boolean("owner", 0.3), ft.Numeric("age", 18, 90), ft.Categorical("job", ["a", "b", "c"])])


def made(folder: Path, target: Any, space: Any, **options: Any) -> Path:
    found = ft.distill(target, space, journal=folder / "journal.db", **options)
    found.save(folder / "kept")
    return folder / "kept"


def people(batch: Any) -> Any:
    return (np.asarray(batch["age"]) > 20) | (np.asarray(batch["job"]) == "clerk")


@pytest.mark.parametrize(
    ("target", "space", "options"),
    [
        (lambda bits: bits[:, 0] & bits[:, 1], ft.ProductSpace.bernoulli(12, 0.4), {"epsilon": 0.1}),
        (lambda bits: bits[:, 0] & bits[:, 1], BITS, {"epsilon": 0}),
        (people, ft.Rows(ROWS), {"epsilon": 0.2}),
        (lambda batch: (batch["age"] > 40) & (batch["job"] != "a"), MIXED, {"epsilon": 0.2, "max_queries": 800}),
        (lambda bits: bits[:, 0] & bits[:, 1], ft.ProductSpace.bernoulli(12), {"epsilon": 0.1, "defer": True}),
    ],
    ids=["bits", "exact", "rows", "any features", "deferring"],
)
def test_good_folders_are_confirmed(
    tmp_path: Path, target: Any, space: Any, options: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, target, space, **options)
    witness = space.table is None  # rows are the same whatever tree is tested
    assert main(folder) == (0 if witness else 5), capsys.readouterr().out
    assert capsys.readouterr().out.splitlines()[-1].strip() == ("confirmed" if witness else "undecided")


@pytest.mark.parametrize(
    ("name", "entry", "value"),
    [
        ("certificate.json", "errors", 3),
        ("certificate.json", "error_bound", 0.001),
        ("certificate.json", "level", 0.5),
        ("certificate.json", "space_digest", "0" * 64),
        ("run.json", "seed", 17),
        ("run.json", "delta", 0.5),
    ],
)
def test_forged_ones_are_refused(
    tmp_path: Path, name: str, entry: str, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(tmp_path, lambda bits: bits[:, 0] & bits[:, 1], ft.ProductSpace.bernoulli(12), epsilon=0.1)
    path = folder / name
    path.write_text(json.dumps({**json.loads(path.read_text()), entry: value}))
    assert main(folder) == 2
    assert "do not rely on this folder" in capsys.readouterr().out


def test_without_a_journal_it_is_undecided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ft.distill(lambda bits: bits[:, 0], ft.ProductSpace.bernoulli(12), 0.1).save(tmp_path / "kept")
    assert main(tmp_path / "kept") == 5
    assert main(tmp_path) == 2
    assert "can be read" in capsys.readouterr().out
