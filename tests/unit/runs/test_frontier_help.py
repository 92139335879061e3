"""Frontiers whose tests a surrogate shortens: fewer labels, a surrogate in the folder, and a check that draws again."""

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
from fidelitree.runs.strategies import frontier_strategy

SPACE = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "xyz"])


def tilted(batch: dict[str, Any]) -> Any:
    return np.where(batch["x"] + batch["y"] > 1, "above", "below")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("helped") / "journal.db"


@pytest.fixture(scope="module")
def front(journal: Path) -> ft.Frontier:
    return ft.frontier(tilted, SPACE, max_queries=6_000, max_leaves=8, journal=journal)


@pytest.fixture
def folder(front: ft.Frontier, tmp_path: Path) -> Path:
    front.save(tmp_path / "kept")
    return tmp_path / "kept"


def test_a_surrogate_makes_bounds_closer(front: ft.Frontier, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(point.certificate.helped for point in front)
    assert "beside a surrogate that differs on" in str(front[1].certificate)
    monkeypatch.setattr(frontier_strategy, "_HELPS", 0.0)
    plain = ft.frontier(tilted, SPACE, max_queries=6_000, max_leaves=8)
    assert not any(point.certificate.helped or point.surrogate for point in plain)
    both = [(one, two) for one in front for two in plain if one.tree == two.tree]
    assert len(both) >= 4, "only the tests differ"
    assert front.queries.asked <= plain.queries.asked
    assert all(one.error_bound < two.error_bound for one, two in both)


def test_where_time_is_short_or_inputs_are_rows_there_is_none() -> None:
    timed = ft.frontier(tilted, SPACE, max_queries=1_000, max_leaves=4, max_seconds=60)
    rng = np.random.default_rng(0)
    rows = ft.frontier(lambda rows: rows[:, 0] + rows[:, 1] > 1, ft.Rows(rng.random((1_200, 3))), max_leaves=4)
    assert not any(point.certificate.helped for point in (*timed, *rows))


def test_the_surrogate_is_kept_and_asked_again(front: ft.Frontier, folder: Path) -> None:
    found = ft.verify(folder)
    assert found.consistent
    assert "yes the surrogate disagrees with the trees as often as their certificates say" in str(found)
    again = ft.Frontier.load(folder)
    assert [point.certificate for point in again] == [point.certificate for point in front]
    surrogate = load(folder).surrogate
    assert surrogate is not None
    inner = SPACE.inputs(ft.spaces.draw.Stream.named(3, "any"), 0, 2_000)
    right = np.where(inner[:, 0] + inner[:, 1] > 1, "above", "below")
    assert (surrogate.predict_inner(inner) == right).mean() > 0.97
    assert [point.surrogate and point.surrogate.digest for point in again] == [surrogate.digest] * len(front)
    again.at(leaves=2).save(folder)
    assert ft.verify(folder).consistent


def test_the_journal_leads_to_the_same_help(journal: Path, folder: Path) -> None:
    shutil.copy(journal, folder / "journal.db")
    assert ft.verify(folder).holds


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
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


def test_where_numbers_may_be_missing_there_is_no_surrogate() -> None:
    """It has no side for them; the frontier is there all the same, with gaps in half of its columns."""
    space = ft.ProductSpace([ft.Numeric("x", 0, 1, missing=0.2), ft.Numeric("y", 0, 1)])
    found = ft.frontier(
        lambda batch: np.nan_to_num(batch["x"]) + batch["y"] > 1, space, seed=0, max_queries=900, max_leaves=8
    )
    assert len(found) > 3
    assert all(point.certificate.helped is None for point in found)
