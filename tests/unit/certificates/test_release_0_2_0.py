"""Folders of release 0.2.0 (tests/recorded/v0_2_0, made by it): read, checked, never confirmed by counts alone.

Their test inputs do not depend on the trees that were tested, and a surrogate shortened the tests of ``helped``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.store import SURROGATE, load

MADE = Path(__file__).parents[2] / "recorded" / "v0_2_0"
NAMES = ["bits", "helped", "rows"]


def alarm(bits: Any) -> Any:
    return bits[:, 17] & (bits[:, 3] | (bits[:, 8] & bits[:, 11]))


def disc(batch: Any) -> Any:
    return ((np.asarray(batch["a"]) - 0.5) ** 2 + (np.asarray(batch["b"]) - 0.4) ** 2 < 0.09).astype(int)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(MADE / "helped", tmp_path / "helped")
    return tmp_path / "helped"


@pytest.mark.parametrize(
    ("name", "leaves", "bound"), [("bits", 3, 0.04983166), ("helped", 8, 0.05986402), ("rows", 2, 0.09915354)]
)
def test_a_folder_is_read(name: str, leaves: int, bound: float) -> None:
    stored = load(MADE / name)
    assert stored.tree.size == leaves
    assert stored.certificate.error_bound == pytest.approx(bound, abs=1e-6)
    assert stored.certificate.holds


def test_errors_of_a_tree_that_was_not_tested_itself_are_not_known() -> None:
    told = load(MADE / "bits").certificate
    assert (told.errors, told.tested_errors, told.samples) == (None, 0, 181)
    assert "Tested on 181 fresh inputs: 0 disagreements with a tree close to this one (see details)." in str(told)
    assert "its error is at most 0.0309" in told.details()[1]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_a_folder_contradicts_it_and_alone_it_is_undecided(name: str) -> None:
    alone = ft.verify(MADE / name)
    assert alone.consistent
    assert alone.undecided
    assert "fidelitree 0.2.0 made the run and drew other test inputs: only that version makes it again" in str(alone)
    assert alone.explained.endswith("Give the target (--target), to test the tree on fresh inputs.")


@pytest.mark.parametrize(("name", "target"), [("bits", alarm), ("helped", disc)])
def test_the_target_confirms_it(name: str, target: Any) -> None:
    assert ft.verify(MADE / name, target, seed=0, max_queries=20_000).holds


def test_a_journal_is_not_gone_on_with(tmp_path: Path) -> None:
    path = shutil.copy(MADE / "bits" / "journal.db", tmp_path)
    with pytest.raises(ft.FidelitreeError, match=r"fidelitree version was '0\.2' and is '0\.3' now"):
        ft.distill(alarm, ft.ProductSpace.bernoulli(20, p=0.3), epsilon=0.05, seed=0, journal=path)
    assert Path(path).read_bytes() == (MADE / "bits" / "journal.db").read_bytes()


def test_the_surrogate_is_asked_again(folder: Path) -> None:
    found = ft.verify(folder)
    assert "yes the surrogate disagrees with the trees as often as their certificates say" in str(found)
    again = ft.Frontier.load(folder)
    surrogate = load(folder).surrogate
    assert surrogate is not None
    assert [point.surrogate and point.surrogate.digest for point in again] == [surrogate.digest] * len(again)
    again.at(leaves=3).save(folder)
    assert ft.verify(folder).consistent


def forged(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change every certificate of a frontier, and the picked one."""
    for name in ("certificate.json", "frontier.json"):
        data = json.loads((folder / name).read_text())
        for one in [data] if name == "certificate.json" else [point["certificate"] for point in data["points"]]:
            change(one)
        (folder / name).write_text(json.dumps(data))


def other_surrogate(folder: Path) -> None:
    model = load(folder).surrogate
    assert model is not None
    (folder / SURROGATE).write_text(replace(model, values=-model.values).to_json())


def test_a_forged_disagreement_is_seen(folder: Path) -> None:
    forged(folder, lambda one: one["helped"].update(differs=0.9 * one["helped"]["differs"]))
    assert "NO  the surrogate disagrees" in str(ft.verify(folder))


def test_forged_counts_are_seen(folder: Path) -> None:
    forged(folder, lambda one: one["helped"].update(fewer=0, more=one["errors"]))
    assert "NO  the bound" in str(ft.verify(folder))


def test_a_certificate_without_its_help_does_not_follow(folder: Path) -> None:
    forged(folder, lambda one: one.pop("helped"))
    assert "NO  the bound" in str(ft.verify(folder))


def test_another_surrogate_is_seen_and_none_is_told(folder: Path) -> None:
    other_surrogate(folder)
    assert "the one that is stored is not the one that they name" in str(ft.verify(folder))
    (folder / SURROGATE).unlink()
    told = "-   the surrogate disagrees with the trees as often as their certificates say: it is not stored here"
    assert told in str(ft.verify(folder))
