"""The paper's two algorithms with a journal and with workers: the same trees, and nothing is paid twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from journals import BITS, MIXED, Counting, alike, on_bits

if TYPE_CHECKING:
    from pathlib import Path

DOORS: dict[str, Any] = {
    "build_top_down": partial(ft.build_top_down, space=BITS, epsilon=0.05),
    "practical_top_down": partial(ft.practical_top_down, space=BITS, epsilon=0.4, delta=0.4, seed=3),
    "printed": partial(ft.practical_top_down, space=BITS, epsilon=0.4, delta=0.4, schedule="printed"),
}


@pytest.mark.parametrize("door", DOORS)
def test_workers_change_nothing(door: str) -> None:
    workers = {"executor": partial(ThreadPoolExecutor, 3), "batch_size": 500}
    assert alike(DOORS[door](on_bits, **workers), DOORS[door](on_bits))


@pytest.mark.parametrize("door", DOORS)
def test_a_journal_resumes_where_the_target_failed(door: str, tmp_path: Path) -> None:
    plain, whole = DOORS[door](on_bits), Counting(on_bits)
    small = {"batch_size": 500, "journal": tmp_path / "run.db"}
    DOORS[door](whole, batch_size=500)
    with pytest.raises(ft.TargetError, match="make the same call again, and it goes on from there"):
        DOORS[door](Counting(on_bits, most=whole.rows // 2), **small)
    paid = ft.journal.info(tmp_path / "run.db").answers
    assert 0 < paid <= whole.rows // 2
    rest = Counting(on_bits)
    assert alike(DOORS[door](rest, **small), plain)
    assert rest.rows <= whole.rows - paid + 16  # some are asked again, to see that it is the same target
    assert alike(DOORS[door](rest, **small), plain)


@pytest.mark.parametrize("door", DOORS)
def test_a_call_that_raises_is_made_again(door: str) -> None:
    failures = iter([True, False])

    def moody(batch: Any) -> Any:
        if next(failures, False):
            raise OSError("busy")
        return on_bits(batch)

    assert alike(DOORS[door](moody, retries=1), DOORS[door](on_bits))


def test_a_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    DOORS["practical_top_down"](on_bits, journal=tmp_path / "run.db", max_queries=10_000)
    for door, differs in (
        ("build_top_down", "call was 'practical_top_down'"),
        ("printed", "schedule was 'corrected' and is 'printed'"),
    ):
        with pytest.raises(ft.FidelitreeError, match=differs):
            DOORS[door](on_bits, journal=tmp_path / "run.db")


def test_a_space_that_is_none_is_refused_before_a_journal_is_made(tmp_path: Path) -> None:
    for space, rule in ((11, "space must be a ProductSpace"), (MIXED, "needs a space of bits")):
        with pytest.raises(ft.ParameterError, match=rule):
            ft.practical_top_down(np.asarray, space, 0.1, 0.1, journal=tmp_path / "run.db")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
