"""Algorithm 1 at epsilon 0 on fair bits gives the greedy trees that the table of textbook functions lists."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import pytest

import fidelitree as ft
from textbooks import NAMES, function

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Table = list[dict[str, str]]


@pytest.fixture
def table(data_file: Callable[[str], Path]) -> Table:
    with data_file("optimal/textbook.tsv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_every_kind_of_function_is_in_the_table(table: Table) -> None:
    used = {pattern for pattern in NAMES if any(re.fullmatch(pattern, row["function"]) for row in table)}
    assert used == set(NAMES)
    assert {row["function"]: function(row["function"]).n for row in table} == {
        row["function"]: int(row["n"]) for row in table
    }


def test_greedy_trees_have_the_leaves_and_depths_of_the_table(table: Table) -> None:
    grown, listed = {}, {}
    for row in table:
        target = function(row["function"])
        result = ft.build_top_down(target, ft.ProductSpace.bernoulli(target.n), 0)
        grown[row["function"]] = (result.tree.size, result.tree.depth, result.certificate.error_bound)
        listed[row["function"]] = (int(row["greedy_influence_leaves"]), int(row["greedy_influence_depth"]), 0.0)
    assert grown == listed
    assert len(grown) >= 22


def test_probabilities_and_influences_are_those_of_the_table(table: Table) -> None:
    """The table counts flips, twice our re-draws for a fair bit; it prints six digits of one, four of the other."""
    for row in table:
        target = function(row["function"])
        found = ft.analyze(target, ft.ProductSpace.bernoulli(target.n))
        assert found.mean == pytest.approx(float(row["Pr1"]), abs=5.1e-7), row["function"]
        assert 2 * found.total_influence == pytest.approx(float(row["total_influence"]), rel=5.1e-4), row["function"]
