"""Real tables whose rows repeat by nature are left alone, and are seen once each row is stored five times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.copies import copied

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

FORESTS = ["COMPAS-ProPublica", "HTRU2", "Breast-Cancer-Wisconsin", "Seeds"]


def inputs(path: Path) -> NDArray[np.float64]:
    """All columns but the class."""
    return np.genfromtxt(path, delimiter=",", skip_header=1)[:, :-1]


def shares(table: NDArray[np.float64]) -> tuple[float, float] | None:
    space = ft.ProductSpace.from_data(table)
    return copied(space, space.encode(table))


@pytest.mark.parametrize("name", FORESTS)
def test_rows_that_repeat_by_nature_are_left_alone(name: str, data_file: Callable[[str], Path]) -> None:
    table = inputs(data_file(f"forests/{name}.full.csv"))
    assert shares(table) is None
    some = np.random.default_rng(0).choice(len(table), min(len(table), 1_000), replace=False)
    assert shares(table[some]) is None


def test_compas_is_split_row_by_row(data_file: Callable[[str], Path]) -> None:
    assert ft.Rows(inputs(data_file("forests/COMPAS-ProPublica.full.csv"))).groups is None


@pytest.mark.parametrize("name", ["HTRU2", "Seeds"])
def test_each_row_five_times_is_seen(name: str, data_file: Callable[[str], Path]) -> None:
    table = inputs(data_file(f"forests/{name}.full.csv"))[:600]
    assert shares(np.repeat(table, 5, axis=0)) is not None
