"""Circuits of 15 to 25 inputs, which have too many restrictions to list: how much smaller than the exact greedy."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from typing import TYPE_CHECKING

from benchmarks.queries.runs import progress, workers
from benchmarks.queries.settings import Settings
from benchmarks.report import Bar, Section, Table
from benchmarks.subjects import DATA
from fidelitree.runs.distill import distill
from fidelitree.runs.paper import build_top_down
from fidelitree.targets import read_circuit
from fidelitree.targets.circuits import read_network

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FOLDER = DATA / "circuits" / "pla"
NAMES = ("b12", "duke2", "vg2", "cordic")
EPSILONS = (0.0, 0.05)


@dataclass(frozen=True)
class Row:
    """One output of a circuit at one epsilon."""

    circuit: str
    inputs: int
    epsilon: float
    greedy: int
    smallest: int
    seconds: float

    @property
    def ratio(self) -> float:
        return self.smallest / self.greedy


def paths() -> list[Path]:
    """The circuits whose files are there."""
    return [path for name in NAMES if (path := FOLDER / f"{name}.pla").is_file()]


def perform(settings: Settings, case: tuple[Path, int, float]) -> Row:
    """The exact greedy, and ours in the time that a run may take."""
    path, output, epsilon = case
    circuit = read_circuit(path, output)
    greedy, started = build_top_down(circuit, circuit.space, epsilon).tree, time.monotonic()
    ours = distill(circuit, circuit.space, epsilon, strategy="smallest", max_seconds=settings.seconds)
    taken = time.monotonic() - started
    if not ours.certificate.holds:
        raise AssertionError(f"{path.stem} {output} at {epsilon:g} must be certified; got {ours.certificate}")
    row = Row(f"{path.stem} {output}", circuit.n, epsilon, greedy.size, ours.tree.size, taken)
    progress(f"{row.circuit} at {epsilon:g}: {row.greedy:,} -> {row.smallest:,} ({taken:.1f} s)")
    return row


def measure(settings: Settings) -> list[Row]:
    """All outputs of all circuits; at smoke size the first of each."""
    cases = [
        (path, output, epsilon)
        for path in paths()
        for output in range(1 if settings.smoke else len(read_network(path).outputs))
        for epsilon in EPSILONS
        if not settings.smoke or path.stem != "cordic"
    ]
    with workers(settings) as each:
        return each(partial(perform, settings), cases)


def section(rows: Sequence[Row], settings: Settings) -> Section:
    """The table and its bars; outputs whose greedy tree is a leaf are left out of it."""
    shown = [row for row in rows if row.greedy > 1]
    table = [
        [
            row.circuit,
            f"{row.inputs}",
            f"{row.epsilon:g}",
            f"{row.greedy:,}",
            f"{row.smallest:,}",
            f"{row.ratio:.3f}",
            f"{row.seconds:.1f}",
        ]
        for row in shown
    ]
    larger = [f"{row.circuit} at {row.epsilon:g}" for row in rows if row.smallest > row.greedy]
    bars = [Bar("never larger than the exact greedy", "; ".join(larger) or f"{len(rows)} outputs", not larger)]
    for name in NAMES:
        for epsilon in EPSILONS:
            ratios = [row.ratio for row in shown if row.circuit.split()[0] == name and row.epsilon == epsilon]
            if ratios:
                promise = f"{name} at {epsilon:g}: smaller than the greedy"
                said = f"geometric mean {geometric_mean(ratios):.3f}, least {min(ratios):.3f}"
                bars.append(Bar(promise, said, min(ratios) < 1))
    headings = ["output", "inputs", "epsilon", "greedy", "smallest", "ratio", "seconds"]
    judged = [Bar(bar.promise, bar.measured, None) for bar in bars] if settings.smoke else bars
    return Section("circuits", "outputs of 15 to 25 inputs", [Table(headings, table)], judged, _remark(rows, settings))


def _remark(rows: Sequence[Row], settings: Settings) -> str:
    absent = "" if rows else f" Skipped: no files in {FOLDER.name}."
    leaves = sum(row.greedy == 1 for row in rows)
    return (
        f"*Greedy* is the tree of Algorithm 1, exact influences; *smallest* was given {settings.seconds:g} s. Where a "
        "run at epsilon 0 ended earlier, all trees were considered: none has fewer leaves. Left out: "
        f"{leaves} lines where a single leaf is good enough." + absent
    )


def run(settings: Settings) -> Section:
    return section(measure(settings), settings)
