"""`assert_agrees` in an example project: a model that passes, one that fails with words, one that is approved."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
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


def test_too_few_inputs_are_said(kept: Path) -> None:
    with pytest.raises(AssertionError, match="undecided after 5 inputs"):
        assert_agrees(on_mixed, kept, max_queries=5)


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
