"""`distill` learns functions of categories that others have listed in full: exactly, with few leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.asking.repeats import CHECK, MOST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("file", "inputs", "leaves"),
    [("monks-1.full.csv", 432, 7), ("monks-2.full.csv", 432, 41), ("monks-3.full.csv", 432, 5), ("car.data", 1728, 85)],
)
def test_no_error_and_few_leaves(data_file: Callable[[str], Path], file: str, inputs: int, leaves: int) -> None:
    table = pd.read_csv(data_file(f"functions/{file}"))
    features = table.drop(columns="class")
    answers = table.set_index(list(features))["class"]

    def target(batch: Any) -> Any:
        return answers.loc[pd.MultiIndex.from_frame(batch)].to_numpy()

    space = ft.ProductSpace([ft.Categorical(name, sorted(set(features[name]))) for name in features], batch="pandas")
    result = ft.distill(target, space, epsilon=0)
    certificate = result.certificate
    assert result.queries.asked == space.points == inputs
    assert result.queries.paid[CHECK] == MOST, "some are asked again, to see that answers repeat"
    assert result.queries.paid == inputs + MOST
    assert (certificate.method, certificate.delta, certificate.error_bound) == ("exact", 0, 0)
    assert certificate.holds
    assert np.array_equal(result.tree.predict(features), table["class"].to_numpy())
    assert result.tree.size <= leaves
