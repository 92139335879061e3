"""Exact influences of every input on every output of real circuits, and exact trees for all outputs of a wide one."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.backends import subjects
from benchmarks.report import Bar, Section, Table, duration
from benchmarks.wired import carry, real
from fidelitree.exact.build import build_diagram
from fidelitree.runs.distill import distill
from fidelitree.targets import Circuit

WIDE, SECONDS, EPSILON = "epfl/max.aig", 2.0, 0.01
SHOWN = 16  # every so many-th output has a line


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


def wide(smoke: bool) -> list[Circuit]:
    """The largest of four numbers of 128 digits, and whose it is, output by output; none where it is not."""
    if smoke:
        return [carry(3)]
    network = real(WIDE)
    return [] if network is None else [Circuit(network, position) for position in range(len(network.outputs))]


def distilled(circuits: list[Circuit]) -> tuple[list[list[str]], list[float], int]:
    """A row for each output; processor seconds of every diagram; how many outputs have exact trees."""
    rows, building, exact = [], [], 0
    for circuit in circuits:
        started = time.process_time()
        function = build_diagram(circuit, circuit.space)
        building.append(time.process_time() - started)
        started = time.process_time()
        found = distill(circuit, circuit.space, EPSILON)
        taken = time.process_time() - started
        exact += found.certificate.holds and found.certificate.method == "exact"
        nodes = f"{function.diagram.size(function.root):,}"
        tree = [f"{found.leaves:,}", f"{found.error_bound:.5f}", found.certificate.method, duration(taken)]
        rows.append([circuit.output, nodes, duration(building[-1]), *tree])
    return rows, building, exact


def run(smoke: bool) -> Section:
    """The circuits that the backends are compared on, and a wide one."""
    table, total = [], 0.0
    for name, circuits in subjects(smoke).items():
        nodes, seconds, found = measure(circuits)
        total += sum(seconds)
        sizes = [f"{circuits[0].n}", f"{len(circuits)}", f"{max(nodes):,}", f"{sum(nodes):,}"]
        table.append([name, *sizes, *map(duration, seconds), f"{found:,}"])
    headings = ["circuit", "inputs", "outputs", "largest", "all nodes", "build", "influences", "above 0"]
    rows, building, exact = distilled(wide(smoke))
    judge = not smoke and bool(rows)
    slowest = duration(max(building, default=0.0))
    bars = [
        Bar("all of them within a minute", duration(total), None if smoke else total <= 60),
        Bar(
            f"{WIDE}, {len(rows)} outputs: a diagram each within {SECONDS:g} s of processor time",
            slowest,
            max(building) <= SECONDS if judge else None,
        ),
        Bar(
            f"{WIDE}: exact trees for all outputs at {EPSILON:g}",
            f"{exact} of {len(rows)}",
            exact == len(rows) if judge else None,
        ),
    ]
    remark = (
        "Fair bits. Nodes are those of one diagram for each output, without complement edges, in the best of our "
        "orders; all are tried. Influences of all inputs of all outputs; the last column counts those above 0. Of "
        f"{WIDE} every output is distilled, too (epsilon = {EPSILON:g}; processor time); every {SHOWN}th is shown."
    )
    per_output = Table([WIDE, "nodes", "build", "leaves", "error", "method", "distill"], rows[::SHOWN])
    return Section("outputs", "every input of every output", [Table(headings, table), per_output], bars, remark)
