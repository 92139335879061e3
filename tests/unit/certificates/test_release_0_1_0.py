"""Folders and journals of release 0.1.0 (tests/recorded/v0_1_0, made by it): read, or refused with the way out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.store import load

MADE = Path(__file__).parents[2] / "recorded" / "v0_1_0"
MULTIPLEXER = ft.targets.multiplexer(2)


def target(batch: Any) -> Any:
    return MULTIPLEXER(batch)


def mixed(batch: Any) -> Any:
    return np.where((batch["owner"] == 1) & (batch["age"] > 40) | (batch["job"] == "nurse"), "yes", "no")


@pytest.mark.parametrize(("name", "leaves", "bound"), [("bits", 8, 0.0), ("exact", 8, 0.0), ("mixed", 3, 0.0999965)])
def test_a_folder_is_read(name: str, leaves: int, bound: float) -> None:
    stored = load(MADE / name)
    assert stored.tree.size == leaves
    assert stored.certificate.holds
    assert stored.certificate.error_bound == pytest.approx(bound, abs=1e-6)


@pytest.mark.parametrize(("name", "asked"), [("bits", target), ("exact", target), ("mixed", mixed)])
def test_a_folder_is_undecided_alone_and_confirmed_by_the_target(name: str, asked: Any) -> None:
    """0.1.0 stored fewer facts: what is not there is open, and nothing is called false for it."""
    alone = ft.verify(MADE / name)
    assert alone.undecided
    assert not [check.sentence for check in alone.checks if check.passed is False]
    assert ft.verify(MADE / name, asked).holds


def test_a_journal_is_told_of_and_exported(tmp_path: Path) -> None:
    told = ft.journal.info(MADE / "mixed.journal")
    assert "fidelitree 0.1.0" in str(told)
    ft.journal.export(MADE / "bits.journal", tmp_path / "answers.csv")
    assert len((tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()) == 81


def test_a_journal_of_0_1_0_is_not_gone_on_with(tmp_path: Path) -> None:
    """The same seed asks other inputs now; the journal stays as it was."""
    path = shutil.copy(MADE / "bits.journal", tmp_path)
    with pytest.raises(ft.FidelitreeError) as caught:
        ft.distill(target, ft.ProductSpace.bernoulli(6), epsilon=0.1, seed=1, journal=path)
    assert str(caught.value) == (
        "journal must belong to the same run, and this one does not: fidelitree version was '0.1' and is '0.3' now - "
        "give the same arguments again, or another journal, or go on with fidelitree 0.1.0, which wrote this one"
    )
    assert Path(path).read_bytes() == (MADE / "bits.journal").read_bytes()
