"""Algorithm 1 at epsilon 0 on fair bits gives the greedy trees that the table of textbook functions lists."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import fidelitree as ft
from fidelitree import targets
from fidelitree.targets import Textbook

# The names of TEXTBOOK.md, which stands beside the table.
NAMES: dict[str, Callable[..., Textbook]] = {
    r"parity_(\d+)": targets.parity,
    r"majority_(\d+)": targets.majority,
    r"threshold_(\d+)_(\d+)": targets.threshold,
    r"exactly_(\d+)_(\d+)": targets.exactly,
    r"address_(\d+)": targets.multiplexer,
    r"tribes_(\d+)x(\d+)": targets.tribes,
    r"nand_tree_(\d+)": targets.nand_tree,
    r"xor2_junk_(\d+)": lambda n: targets.parity(n, 2),
    r"hwb_(\d+)": targets.hidden_weighted_bit,
    r"sel_parity_(\d+)x(\d+)_k(\d+)": targets.selector_parity,
    r"is_edge_star(\d+)": lambda n: targets.is_edge(n, targets.star(n)),
    r"is_edge_cycle(\d+)": lambda n: targets.is_edge(n, targets.cycle(n)),
    r"is_edge_K(\d+)": lambda n: targets.is_edge(n, targets.complete(n)),
    r"is_edge1_star(\d+)": lambda n: targets.is_edge_marked(n, targets.star(n)),
}
Table = list[dict[str, str]]


def function(name: str) -> Textbook:
    for pattern, make in NAMES.items():
        if match := re.fullmatch(pattern, name):
            return make(*map(int, match.groups()))
    raise AssertionError(f"no definition of {name}")


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
