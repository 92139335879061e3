"""Scores and influences of real functions: what is drawn agrees with what is listed in full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.exact.engine import exact_subfunction
from fidelitree.search.scores import best_test, draw_pairs
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.region import Region

DELTA = 1e-7


def listed(path: Path) -> tuple[Any, ft.ProductSpace, pd.DataFrame]:
    table = pd.read_csv(path)
    features = table.drop(columns="class")
    answers = table.set_index(list(features))["class"]

    def target(batch: Any) -> Any:
        return answers.loc[pd.MultiIndex.from_frame(batch)].to_numpy()

    return target, ft.ProductSpace.from_data(features, categorical=list(features)), features


@pytest.mark.parametrize("file", ["monks-1.full.csv", "car.data"])
def test_best_tests_of_categories(data_file: Callable[[str], Path], file: str) -> None:
    """Six features, each wrong with probability 1e-7 at most."""
    target, space, _ = listed(data_file(f"functions/{file}"))
    counted, whole = Counted(target, space), Region.whole(space)
    function = exact_subfunction(counted, whole, 1 << 20)
    assert function is not None
    total, exact = float(function.influences().sum()), function.splits()
    for i, best in enumerate(exact.drops):
        found = best_test(draw_pairs(counted, whole, i, Stream.named(0, "scores"), 4000), DELTA)
        assert found is not None
        no, yes = function.split(found.test)
        share = space.features[i].mass(whole.split(found.test)[1].restrictions[i])
        drop = total - share * float(yes.influences().sum()) - (1 - share) * float(no.influences().sum())
        assert found.low - 1e-12 <= drop <= found.high + 1e-12
        assert drop - 1e-12 <= best <= found.most + 1e-12
        assert drop >= best - 0.05, "near the best, if not the best"


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
