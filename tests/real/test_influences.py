"""Influences of real functions: what is drawn agrees with what is listed in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DELTA = 1e-7


def listed(path: Path) -> tuple[Any, ft.ProductSpace, pd.DataFrame]:
    table = pd.read_csv(path)
    features = table.drop(columns="class")
    answers = table.set_index(list(features))["class"]

    def target(batch: Any) -> Any:
        return answers.loc[pd.MultiIndex.from_frame(batch)].to_numpy()

    return target, ft.ProductSpace.from_data(features, categorical=list(features)), features


@pytest.mark.parametrize("file", ["monks-2.full.csv", "car.data"])
def test_influences_of_categories_and_of_rows(data_file: Callable[[str], Path], file: str) -> None:
    """A table that lists every input once is a product: its rows have the same influences. 2e-7 in all."""
    target, space, features = listed(data_file(f"functions/{file}"))
    exact = ft.analyze(target, space)
    assert exact.exact
    drawn = ft.analyze(target, space, max_queries=400, delta=DELTA)
    rows = ft.analyze(target, ft.Rows(features, categorical=list(features)), delta=DELTA)
    for found in (drawn, rows):
        assert not found.exact
        assert (found.intervals[:, 0] <= exact.influences).all()
        assert (exact.influences <= found.intervals[:, 1]).all()
    assert np.abs(rows.influences - exact.influences).max() < 0.15
