"""`verify` makes a run again from its journal: what it says when that works, fails, or cannot be tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import fidelitree as ft
from journals import BITS, Counting, on_bits

ABOUT = "the answers in the journal lead to this tree and this certificate"


def stored(folder: Path, target: Any = on_bits, space: ft.ProductSpace = BITS, **arguments: Any) -> ft.Distillation:
    folder.mkdir(exist_ok=True)
    result = ft.distill(target, space, journal=folder / "journal.db", **{"epsilon": 0.1, **arguments})
    result.save(folder)
    return result


def replayed(folder: Path, **more: Any) -> tuple[bool | None, str]:
    """What the check of the journal says; it is the last one."""
    check = ft.verify(folder, **more).checks[-1]
    assert check.sentence.startswith(ABOUT)
    return check.passed, check.sentence.removeprefix(ABOUT)


@pytest.mark.parametrize("limits", [{}, {"max_queries": 50}, {"deterministic": False}])
def test_the_run_is_made_again(tmp_path: Path, limits: dict[str, Any]) -> None:
    stored(tmp_path, **limits)
    assert replayed(tmp_path) == (True, "")


def test_the_journal_of_another_run_is_a_contradiction(tmp_path: Path) -> None:
    stored(tmp_path / "one")
    stored(tmp_path / "two", seed=5)
    (tmp_path / "two" / "journal.db").replace(tmp_path / "one" / "journal.db")
    assert replayed(tmp_path / "one") == (False, "")
    assert not ft.verify(tmp_path / "one").consistent


def test_a_journal_that_lacks_answers_is_a_contradiction(tmp_path: Path) -> None:
    stored(tmp_path)
    (tmp_path / "journal.db").unlink()
    with pytest.raises(ft.TargetError):
        ft.distill(Counting(on_bits, 40), BITS, 0.1, journal=tmp_path / "journal.db")
    passed, why = replayed(tmp_path)
    assert passed is False
    assert "the journal does not have their answers, and the target is not there to be asked" in why


def test_what_cannot_be_tried_is_said(tmp_path: Path) -> None:
    stored(tmp_path / "table", ft.targets.TruthTable([0, 1, 1, 0]), ft.ProductSpace.bernoulli(2))
    passed, why = replayed(tmp_path / "table")
    assert passed is None
    assert why.startswith(": not tried, a run whose target is a tree, a table or a circuit cannot be replayed")
    stored(tmp_path / "bits")
    (tmp_path / "bits" / "space.json").unlink()
    assert replayed(tmp_path / "bits") == (None, ": no space is stored here")
    assert replayed(tmp_path / "bits", space=BITS) == (True, "")


def test_an_interrupt_between_two_answers_cannot_be_placed(tmp_path: Path) -> None:
    seen: list[object] = []

    def interrupting(event: object) -> None:
        seen.append(event)
        if len(seen) == 12:
            raise KeyboardInterrupt

    result = stored(tmp_path, space=ft.ProductSpace.bernoulli(24), epsilon=0.01, observer=interrupting)
    assert result.reason == "interrupted"
    passed, why = replayed(tmp_path)
    assert passed is not False
    assert passed or "a replay cannot tell where" in why
