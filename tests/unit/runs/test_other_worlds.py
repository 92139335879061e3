"""The hint after a run over independent columns: when it is given, what it says, and that it is about the tree."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft


def people(rows: int = 800) -> pd.DataFrame:
    random = np.random.default_rng(0)
    size = random.normal(size=rows)
    return pd.DataFrame({f"x{i}": (size + 0.1 * random.normal(size=rows)).round(2) for i in range(6)})


def contrast(batch: Any) -> Any:
    """Nearly a matter of size among people; a matter of everything where columns are drawn apart."""
    return batch["x0"] + batch["x1"] + batch["x2"] + batch["x3"] + batch["x4"] + batch["x5"] > 0.3


def test_a_large_tree_over_marginals_names_rows_neighbours_and_mixtures() -> None:
    table = people()
    found = ft.distill(contrast, ft.ProductSpace.from_data(table), 0.05, max_queries=3_000)
    assert not found.certificate.holds or found.leaves > 50
    counts = [int(text) for text in re.findall(r"(\d+) over ", found.hint)]
    assert len(counts) == 3
    assert all(name in found.hint for name in ("ft.Rows(table)", 'blend="auto"', "ft.Mixture.from_data(table)"))
    assert counts[0] <= counts[1] < found.leaves
    assert found.hint in str(found)
    assert found.hint.split(",")[0] in found._repr_html_()
    by_rows = ft.distill(contrast, ft.Rows(table), 0.05)
    assert by_rows.leaves < found.leaves / 2
    assert by_rows.hint == ""


@pytest.mark.parametrize("how", ["small", "no table", "few rows"])
def test_otherwise_it_says_nothing(how: str) -> None:
    space = ft.ProductSpace.from_data(people(10 if how == "few rows" else 200))
    if how == "no table":
        space = ft.ProductSpace.from_dict(space.to_dict())
    limits = {} if how == "small" else {"max_queries": 300}
    found = ft.distill((lambda batch: batch["x0"] > 0) if how == "small" else contrast, space, 0.05, **limits)
    assert found.hint == ""
    assert "Hint" not in str(found)


def test_rows_are_remembered_from_all_over_the_table() -> None:
    table = people(5_000).sort_values("x0")
    seen = ft.ProductSpace.from_data(table).seen
    assert seen is not None
    assert seen.shape == (1_000, 6)
    assert np.quantile(seen[:, 0], [0, 0.5, 1]) == pytest.approx(np.quantile(table["x0"], [0, 0.5, 1]), abs=0.02)
    for other in ({"a": [1, 2], "b": ["x", None]}, np.arange(12).reshape(4, 3)):
        space = ft.ProductSpace.from_data(other)
        assert space.seen is not None
        assert space.seen.tolist() == space.encode(other).tolist()
