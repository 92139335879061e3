"""Published results about learners, run again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fidelitree.experiments import published
from fidelitree.experiments.catalogue import Settings, run

if TYPE_CHECKING:
    from pathlib import Path


def test_influence_greedy_loses_on_selectors(tmp_path: Path) -> None:
    report = run("selector-parity", Settings(tmp_path), lambda done, total: None)
    rows = (tmp_path / "selector-parity.csv").read_text(encoding="utf-8").splitlines()[1:]
    sizes = [(int(row.split(",")[2]), int(row.split(",")[3])) for row in rows]
    assert sizes == [(28, 64), (56, 256), (112, 1024)]
    assert [path.suffix for path in report.files] == [".csv", ".txt"]
    assert "influence 0" in report.summary[-1]


def test_impurity_greedy_loses_on_multiplexers() -> None:
    rows = [published.row(case) for case in list(published.impurity(1, 0))[:2]]
    for row in rows:
        assert row.influence == row.optimum
        assert (row.id3 or 0) > row.optimum
        assert row.cart is None or row.cart > row.optimum


def test_id3_learns_juntas_of_smoothed_bits_and_no_parity_of_fair_ones() -> None:
    rows = [published.row(case) for case in published.juntas(1, 3)]
    parities = [row for row in rows if row.target.startswith("parity")]
    assert all(row.id3 == row.optimum for row in rows if row.biases == "smoothed")
    assert all((row.id3 or 0) > row.optimum for row in parities if row.biases == "fair")


@pytest.mark.parametrize("name", published.PLANS)
def test_the_plans_are_the_same_for_the_same_seed(name: str) -> None:
    plans = [[(case[0], case[2]) for case in published.PLANS[name](2, 1)] for _ in range(2)]
    assert plans[0] == plans[1]
    assert plans[0]


def test_vertex_covers_are_hard_for_all_but_the_search() -> None:
    cases = {case[0]: case for case in published.hard_instances(1, 0)}
    row = published.row(cases["edge of a cycle of 6"])
    assert (row.optimum, row.influence) == (19, 25)
