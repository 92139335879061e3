"""The optimum reproduces every row of the tables of smallest trees, and the frontier every cell of its table."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fidelitree as ft
from circuitfiles import circuits
from fidelitree.search.optimal.lattice import axes_of
from fidelitree.search.optimal.optimum import least_errors
from small import cube
from textbooks import function

Find = Callable[[str], Path]
UP_TO = 14  # inputs of a circuit; outside the soak one output of those, which take a second each
SOAK = os.environ.get("FIDELITREE_SOAK") == "1"
TABLES = ["circuits", "forests", "textbook"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


_circuits = cache(circuits)


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their reader of forests is used here."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # benchmarks/__init__.py sets them
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")


def targets(table: str, data_file: Find) -> Iterator[tuple[str, int, Any, dict[str, str]]]:
    """Name, number of bits, target, and the row it comes from."""
    for row in rows_of(data_file(f"optimal/{table}.tsv")):
        if table == "circuits":
            if int(row["n"]) < UP_TO + (SOAK or row["output_index"] == "0"):
                circuit = _circuits(data_file(row["circuit"]))[int(row["output_index"])]
                yield f"{row['circuit']} {row['output_index']}", circuit.n, circuit, row
        elif table == "forests":
            from benchmarks.queries.forests import read

            forest = read(data_file(f"forests/{row['forest']}.txt"))
            yield row["forest"], int(row["features"]), forest, row
        else:
            yield row["function"], int(row["n"]), function(row["function"]), row


@pytest.mark.parametrize("table", TABLES)
def test_leaves_and_depths(table: str, data_file: Find) -> None:
    found, wanted = {}, {}
    for name, n, target, row in targets(table, data_file):
        space = ft.ProductSpace.bernoulli(n)
        smallest = ft.learners.optimal(target, space)
        shallowest = ft.learners.optimal(target, space, objective="depth")
        found[name] = smallest.tree.size, shallowest.tree.depth
        wanted[name] = int(row["opt_leaves"]), int(row["opt_depth"])
        assert smallest.certificate.error_bound == shallowest.certificate.error_bound == 0
    assert found == wanted
    assert len(found) >= 5


def test_functions_of_categories(data_file: Find) -> None:
    found, wanted, smaller = {}, {}, {}
    for row in rows_of(data_file("optimal/functions.tsv")):
        name = row["function"].split(" ")[0]
        table = pd.read_csv(data_file("functions/car.data" if name == "car" else f"functions/{name}.full.csv"))
        features = table.drop(columns="class")
        if "(" in row["function"]:
            table["class"] = table["class"] != "unacc"
        answers = table.set_index(list(features))["class"]
        space = ft.ProductSpace([ft.Categorical(f, sorted(set(features[f]))) for f in features], batch="pandas")

        def target(batch: Any, answers: Any = answers) -> Any:
            return answers.loc[pd.MultiIndex.from_frame(batch)].to_numpy()

        one, sets = (ft.learners.optimal(target, space, tests=tests) for tests in ("one value", "sets"))
        assert np.array_equal(one.tree.predict(features), table["class"].to_numpy())
        assert np.array_equal(sets.tree.predict(features), table["class"].to_numpy())
        found[row["function"]] = one.tree.size
        wanted[row["function"]] = int(row["opt_leaves_binary_eq_tests"])
        smaller[row["function"]] = sets.tree.size
    assert found == wanted
    assert all(smaller[name] <= found[name] for name in found)
    assert len(found) == 5


def test_every_cell_of_the_frontier(data_file: Find) -> None:
    known = {name: (n, target) for table in TABLES[1:] for name, n, target, _ in targets(table, data_file)}
    found, wanted = {}, {}
    for row in rows_of(data_file("optimal/frontier.tsv")):
        n, target = known[row["target"]]
        axes, grid = axes_of(ft.ProductSpace.bernoulli(n), np.asarray(target(cube(n))).astype(np.intp))
        cells = {float(key.removeprefix("leaves_at_")): int(row[key]) for key in row if key.startswith("leaves_at_")}
        errors = least_errors(axes, grid, max(cells.values())).errors
        wanted[row["target"]] = cells
        found[row["target"]] = {epsilon: int(np.argmax(errors <= epsilon + 1e-12)) + 1 for epsilon in cells}
    assert found == wanted
    assert len(found) == 10
