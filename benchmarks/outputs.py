"""Exact influences of every input on every output of real circuits, with hundreds of inputs."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.backends import subjects
from benchmarks.report import Bar, Section, Table, duration
from fidelitree.exact.build import build_diagram
from fidelitree.targets import Circuit


def measure(circuits: list[Circuit]) -> tuple[list[int], list[float], int]:
    """Nodes of every output; seconds to build the diagrams, and for their influences; influences above 0."""
    nodes, seconds, found = [], [0.0, 0.0], 0
    for circuit in circuits:
        started = time.perf_counter()
        function = build_diagram(circuit, circuit.space)
        built = time.perf_counter()
        found += int(np.count_nonzero(function.influences()))
        seconds[0] += built - started
        seconds[1] += time.perf_counter() - built
        nodes.append(function.diagram.size(function.root))
    return nodes, seconds, found


def run(smoke: bool) -> Section:
    """The circuits that the backends are compared on."""
    table, total = [], 0.0
    for name, circuits in subjects(smoke).items():
        nodes, seconds, found = measure(circuits)
        total += sum(seconds)
        sizes = [f"{circuits[0].n}", f"{len(circuits)}", f"{max(nodes):,}", f"{sum(nodes):,}"]
        table.append([name, *sizes, *map(duration, seconds), f"{found:,}"])
    headings = ["circuit", "inputs", "outputs", "largest", "all nodes", "build", "influences", "above 0"]
    bar = Bar("all of them within a minute", duration(total), None if smoke else total <= 60)
    remark = (
        "Fair bits. Nodes are those of one diagram for each output, without complement edges, in the best of three "
        "orders; all are tried. Influences of all inputs of all outputs; the last column counts those above 0."
    )
    return Section("outputs", "every input of every output", [Table(headings, table)], [bar], remark)
