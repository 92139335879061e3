"""The search learns whole tables of real functions exactly, with few leaves."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fidelitree.search.local.coded import Coded
from fidelitree.search.local.iterated import Refiner
from fidelitree.trees.nested import size

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def read(path: Path) -> Coded:
    with path.open(newline="", encoding="utf-8") as file:
        columns = list(zip(*[row for row in csv.reader(file) if row][1:], strict=True))
    *features, labels = (np.unique(np.array(column), return_inverse=True) for column in columns)
    bins = np.stack([codes for _, codes in features]).astype(np.uint16)
    sizes = [len(values) for values, _ in features]
    return Coded(bins, [False] * len(sizes), sizes, labels[1], np.ones(bins.shape[1]))


@pytest.mark.parametrize(
    ("name", "rows", "leaves"),
    [("monks-1.full.csv", 432, 7), ("monks-2.full.csv", 432, 41), ("monks-3.full.csv", 432, 5), ("car.data", 1728, 80)],
)
def test_tables_are_learnt_exactly(data_file: Callable[[str], Path], name: str, rows: int, leaves: int) -> None:
    coded = read(data_file(f"functions/{name}"))
    assert len(coded.codes) == rows
    refiner = Refiner(coded, seed=0)
    refiner.improve(0.0, 600)
    tree = refiner.smallest(0.0)
    assert coded.errors(tree) == 0
    assert size(tree) <= leaves
