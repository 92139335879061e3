"""`assert_agrees` in an example project: a model that passes, one that fails with words, one that is approved."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.store import load
from fidelitree.runs.agree import approval
from fidelitree.testing import assert_agrees
from journals import MIXED, on_mixed

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """
import numpy as np
import fidelitree as ft
from fidelitree.testing import assert_agrees

SPACE = ft.ProductSpace([ft.Boolean("owner", 0.3), ft.Numeric("age", 18, 90)])


def approved(batch):
    return np.where(batch["age"] > 40, "yes", "no")


def changed(batch):
    return np.where((batch["age"] > 40) & (batch["owner"] == 0), "yes", "no")


def test_passes():
    assert_agrees(approved, "approved", SPACE)


def test_fails():
    assert_agrees(changed, "approved", SPACE)
"""


class Model:
    def predict(self, batch: Any) -> Any:
        return on_mixed(batch)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("approved") / "kept"
    ft.distill(on_mixed, MIXED, epsilon=0.1).save(folder)
    return folder


def test_a_model_that_agrees(kept: Path) -> None:
    assert assert_agrees(Model(), kept).holds
    assert assert_agrees(on_mixed, kept, MIXED, 0.2).epsilon == 0.2


def test_a_model_that_does_not_is_explained(kept: Path) -> None:
    def changed(batch: Any) -> Any:
        return np.where(batch["age"] < 35, "gold", on_mixed(batch))

    with pytest.raises(AssertionError, match="no longer agrees with") as failed:
        assert_agrees(changed, kept)
    assert "of inputs are answered otherwise by the new target" in str(failed.value)
    assert "age <= 3" in str(failed.value)


def test_numbers_are_explained_too(tmp_path: Path) -> None:
    def price(batch: Any) -> Any:
        return np.where(batch["age"] < 35, 10.5, 20.25)

    def dearer(batch: Any) -> Any:
        return price(batch) + 5 * (batch["owner"] == 1)

    ft.distill(price, MIXED, epsilon=0.1, tolerance=0.5).save(tmp_path / "kept")
    assert assert_agrees(price, tmp_path / "kept").holds
    with pytest.raises(AssertionError, match=r"owner = 1: the old number -> a higher one"):
        assert_agrees(dearer, tmp_path / "kept")


def test_what_was_approved_is_rounded_up(kept: Path) -> None:
    """A bound of 10.33% was printed as 10.3%, in favour of the model."""
    stored = load(kept)
    rounded = replace(stored, certificate=replace(stored.certificate, error_bound=0.1033))
    test = approval._Test(rounded, 0.0205, None, 0.01, 5)
    assert test.allows == "10.4% was approved, and 12.4% is allowed"


def test_too_few_inputs_are_said(kept: Path) -> None:
    message = (
        r"undecided after 5 inputs, which show neither .* was approved, .* allowed\.\n.*\nRaise max_queries .*margin"
    )
    with pytest.raises(AssertionError, match=message):
        assert_agrees(on_mixed, kept, max_queries=5)
    with pytest.raises(AssertionError, match=r"undecided .* epsilon allows 10%\.\n.*\n.* or leave epsilon out"):
        assert_agrees(on_mixed, kept, epsilon=0.1, max_queries=5)


def hard(batch: Any) -> Any:
    """A model that no small tree stands for: the bound of a frontier is close above its error."""
    return np.where(batch["age"] + 9 * np.sin(batch["age"] * 1.7) + 4 * (batch["owner"] == 1) > 50, "yes", "no")


@pytest.fixture(scope="module")
def curve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("approved") / "curve"
    ft.frontier(hard, MIXED, max_queries=3_000, max_leaves=8, seed=1).save(folder)
    return folder


def test_an_unchanged_model_passes_after_a_frontier(curve: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(8):
        monkeypatch.setattr("fidelitree.runs.agree.audit.fresh_seed", lambda seed=seed: 1_000 + seed)
        found = assert_agrees(hard, curve)
        assert found.interval[0] > 0
        assert found.samples <= 10_000
        assert not found.seed_chosen


def test_no_two_calls_ask_the_same_inputs(curve: Path) -> None:
    with pytest.raises(TypeError, match="seed"):
        assert_agrees(hard, curve, seed=0)  # type: ignore[call-arg]
    seen: list[set[bytes]] = []

    def watched(batch: Any) -> Any:
        seen.append({age.tobytes() for age in batch["age"]})
        return hard(batch)

    for _ in range(2):
        seen.append(set())
        assert_agrees(watched, curve)
    first, second = seen[1], seen[-1]
    assert not first & second


def test_a_model_that_is_three_points_worse_fails(curve: Path) -> None:
    approved = ft.Frontier.load(curve).knee

    def worse(batch: Any) -> Any:
        labels, own = hard(batch), approved.predict(batch)
        other = np.where(own == "yes", "no", "yes")
        hashed = np.modf(np.asarray(batch["age"]) * 12_345.678)[0]
        return np.where(hashed < 0.05, other, labels)

    with pytest.raises(AssertionError, match=r"no longer agrees with .* was approved, and .* is allowed"):
        assert_agrees(worse, curve)


def test_all_labels_of_a_call_are_limited(curve: Path) -> None:
    asked = 0

    def other(batch: Any) -> Any:
        nonlocal asked
        asked += len(batch["age"])
        return np.where(hard(batch) == "yes", "no", "yes")

    with pytest.raises(AssertionError, match="What changed, and where"):
        assert_agrees(other, curve, max_queries=1_000)
    assert asked <= 1_000
    asked = 0
    with pytest.raises(AssertionError, match=r"What the model \(target\) and the approved tree \(tree\) answer"):
        assert_agrees(other, curve, max_queries=150)
    assert asked <= 150


def test_an_update_keeps_a_frontier_a_frontier(curve: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.testing._update", True)
    knee, sized = tmp_path / "knee", tmp_path / "sized"
    shutil.copytree(curve, knee)
    ft.Frontier.load(curve).at(leaves=1).save(sized)
    for folder, leaves in ((knee, None), (sized, 1)):
        assert assert_agrees(hard, folder).error_bound < 1
        made = ft.Frontier.load(folder)
        assert len(made) > 1
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        assert run["door"] == "frontier"
        assert run["max_queries"] == 3_000
        assert run["seed_chosen"] is False
        assert run["point"]["leaves"] == (leaves or made.knee.leaves)
    monkeypatch.setattr("fidelitree.testing._update", False)
    assert assert_agrees(hard, knee).holds


def test_rows_that_taught_the_tree_do_not_test_a_model(tmp_path: Path) -> None:
    table = MIXED.draw(3_000, seed=5)
    ft.distill(on_mixed, ft.Rows(table), epsilon=0.1, seed=0).save(tmp_path / "rows")
    with pytest.raises(ft.ParameterError, match="these rows have taught and tested the tree: give new ones"):
        assert_agrees(on_mixed, tmp_path / "rows")
    assert assert_agrees(on_mixed, tmp_path / "rows", ft.Rows(MIXED.draw(3_000, seed=6))).holds


def test_nothing_certified_is_nothing_approved(tmp_path: Path) -> None:
    ft.distill(hard, MIXED, epsilon=0.01, max_queries=1, seed=0).save(tmp_path / "empty")
    with pytest.raises(AssertionError, match=r"nothing is certified in .*empty: approve one with"):
        assert_agrees(hard, tmp_path / "empty")


def test_nothing_was_approved(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"there is no approved result in .*--fidelitree-update"):
        assert_agrees(on_mixed, tmp_path)


def test_the_example_project(tmp_path: Path) -> None:
    (tmp_path / "test_models.py").write_text(PROJECT, encoding="utf-8")

    def run(*words: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "fidelitree.testing", *words]
        # Where it is installed the plugin loads itself, and twice is an error.
        alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(
            command, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=900, check=False
        )
        return done.stdout

    assert "there is no approved result" in run("-k", "passes")
    assert "1 passed" in run("-k", "passes", "--fidelitree-update")
    done = run()
    assert "1 failed, 1 passed" in done
    assert "yes -> no" in done
    assert "owner = 1" in done
