"""Tables with missing numbers, and models that take them: distilled as they are, and every export answers as the tree.

The bank table has gaps of its own: balances, days since the last call (-1), and whatever is "unknown". The tables of
scikit-learn have none, so some are made: in every column, more often where another column is large.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import fidelitree as ft
from exported import RUNNERS
from fidelitree.spaces.world import drawn

Find = Callable[[str], Path]
FORMATS, SLOWER = ("c", "sql", "onnx", "python"), ("sklearn", "rules", "json")
ROWS, PORTION = 4_000, 50_000
EPSILON = 0.1


def with_gaps(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """About a sixth of each column is missing, more often where the column before it is large."""
    rng, large = np.random.default_rng(seed), table.rank(pct=True).to_numpy()
    return table.mask(rng.random(table.shape) < np.roll(large, 1, axis=1) / 3)


def boosting() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=6, random_state=0)


def bundled(load: Any) -> tuple[pd.DataFrame, Any]:
    found = load(as_frame=True)
    labels = found.target if found.target.nunique() < 9 else found.target > found.target.median()
    return with_gaps(found.data, 1), labels.to_numpy()


def penguins() -> tuple[pd.DataFrame, Any]:
    from palmerpenguins import load_penguins

    table = load_penguins()
    return table.drop(columns="species").astype({"island": "category", "sex": "category"}), table["species"].to_numpy()


def bank(find: Find) -> tuple[pd.DataFrame, Any]:
    table = pd.read_csv(find("tables/bank_marketing_11162.csv"), na_values={"pdays": "-1"})
    texts = table.columns[table.dtypes == table["job"].dtype]
    table[texts] = table[texts].replace("unknown", None)
    return table.drop(columns="deposit").astype(dict.fromkeys(texts.drop("deposit"), "category")), table["deposit"]


CASES: dict[str, tuple[Callable[[Find], tuple[pd.DataFrame, Any]], Any]] = {
    "bank, boosting": (bank, boosting()),
    "breast cancer, forest": (
        lambda find: bundled(load_breast_cancer),
        RandomForestClassifier(15, max_depth=4, random_state=0),
    ),
    "wine, LightGBM": (
        lambda find: bundled(load_wine),
        LGBMClassifier(n_estimators=4, num_leaves=5, verbosity=-1, n_jobs=1, random_state=0),
    ),
    "diabetes, boosting": (lambda find: bundled(load_diabetes), boosting()),
}
if importlib.util.find_spec("palmerpenguins"):  # not needed by anything else
    CASES["penguins, boosting"] = lambda find: penguins(), boosting()


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, data_file: Find) -> tuple[Any, pd.DataFrame]:
    """A fitted model, and rows that it has not seen."""
    make, model = CASES[request.param]
    table, labels = make(data_file)
    order = np.random.default_rng(0).permutation(len(table))
    fitted, others = np.split(order, [len(table) // 2])
    return model.fit(table.iloc[fitted], np.asarray(labels)[fitted]), table.iloc[others].reset_index(drop=True)


def test_it_is_distilled_with_all_its_gaps_and_every_export_agrees(
    case: Any, tmp_path: Path, soak: bool, absent: Callable[[str], NoReturn]
) -> None:
    if shutil.which("gcc") is None:
        absent("gcc, which compiles what to_c writes, is not installed")
    model, table = case
    space = ft.ProductSpace.from_data(table)
    numbers = [feature for feature in space if isinstance(feature, ft.Numeric)]
    assert any(feature.missing for feature in numbers)
    received: list[Any] = []

    def target(batch: pd.DataFrame) -> Any:
        received.append(batch)
        return model.predict(batch)

    result = ft.distill(target, space, EPSILON, seed=0, max_leaves=40, max_queries=60_000)
    tree = result.tree
    assert all((batch.dtypes == table.dtypes).all() for batch in received)
    assert result.certificate.error_bound < 0.3
    fresh = drawn(space, 20_000, 99)
    wrong = np.mean(tree.predict_inner(fresh) != model.predict(space.batch(fresh)))
    assert wrong < result.certificate.error_bound + 0.015, "within .015 with probability 1 - 10^-6 or more"
    assert tree.gaps >= {space.index(feature.name) for feature in numbers if feature.missing}
    rows = 1_000_000 if soak else ROWS
    for start in range(0, rows, PORTION):
        inner = drawn(space, min(PORTION, rows - start), start)
        missing = np.isnan(inner).any(axis=0)
        assert all(missing[space.index(feature.name)] for feature in numbers if feature.missing)
        expected = tree.predict_inner(inner).tolist()
        for name in FORMATS if start else FORMATS + SLOWER:
            assert RUNNERS[name](tree, inner, tmp_path) == expected, name


def test_rows_and_worlds_take_the_gaps_too(case: Any) -> None:
    model, table = case
    for world in (ft.Rows(table), ft.ChowLiu.from_data(table), ft.Mixture.from_data(table)):
        result = ft.distill(model.predict, world, 0.2, seed=0, max_leaves=30, max_queries=20_000)
        unlike = np.mean(result.tree.predict(table) != model.predict(table))
        assert unlike < 0.35
        assert (result.tree.predict(pl.from_pandas(table)) == result.tree.predict(table)).all()
