"""Functions of categories that others have listed in full: Algorithm 1 learns them without an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("file", "inputs", "leaves"),
    [("monks-1.full.csv", 432, 7), ("monks-2.full.csv", 432, 41), ("monks-3.full.csv", 432, 5), ("car.data", 1728, 86)],
)
def test_algorithm_1_on_categories(data_file: Callable[[str], Path], file: str, inputs: int, leaves: int) -> None:
    table = pd.read_csv(data_file(f"functions/{file}"))
    features = table.drop(columns="class")
    answers = table.set_index(list(features))["class"]

    def target(batch: Any) -> Any:
        return answers.loc[pd.MultiIndex.from_frame(batch)].to_numpy()

    space = ft.ProductSpace.from_data(features, categorical=list(features))
    assert space.points == len(table) == inputs
    result = ft.build_top_down(target, space, 0)
    assert result.certificate.error_bound == 0
    assert result.tree.size <= leaves
    assert np.array_equal(result.tree.predict(features), table["class"].to_numpy())
    assert ft.certify(result.tree, target, space, 0).error_bound == 0
