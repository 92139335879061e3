"""OxiDD beside CUDD (through dd): the diagrams of all outputs of real circuits, gate by gate, in one order."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from benchmarks.report import Bar, Section, Table, duration, times
from benchmarks.wired import carry, product, real
from fidelitree.exact.build import NODE_LIMIT, build_diagram
from fidelitree.targets import Circuit

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = (
    *("epfl/priority.aig", "epfl/router.aig", "pla/e64.pla", "epfl/adder.aig", "epfl/i2c.aig", "epfl/bar.aig"),
    *("epfl/arbiter.aig", "pla/cordic.pla", "pla/duke2.pla", "pla/vg2.pla", "pla/alu4.pla"),
)


def oxidd(order: list[int]) -> tuple[dict[int, Any], Callable[[Any], int], Any]:
    """A signal for each input, how to count nodes, and what must stay alive."""
    from oxidd.bcdd import BCDDManager

    manager = BCDDManager(NODE_LIMIT, NODE_LIMIT, 1)
    manager.add_vars(len(order))
    held = {0: manager.false()} | {i + 1: manager.var(level) for level, i in enumerate(order)}
    return held, lambda function: function.node_count(), manager


def cudd(order: list[int], sift: bool = False) -> tuple[dict[int, Any], Callable[[Any], int], Any]:
    """The same, with CUDD's own sifting switched on or off."""
    from dd.cudd import BDD

    manager = BDD(memory_estimate=1 << 30)
    manager.configure(reordering=sift)
    names = [f"v{level}" for level in range(len(order))]
    manager.declare(*names)
    held = {0: manager.false} | {i + 1: manager.var(name) for i, name in zip(order, names, strict=True)}
    return held, len, manager


def sifted(order: list[int]) -> tuple[dict[int, Any], Callable[[Any], int], Any]:
    """CUDD, which moves inputs when diagrams grow."""
    return cudd(order, sift=True)


def nodes(circuit: Circuit, order: list[int], backend: Callable[..., Any]) -> int:
    """Build one output's diagram and count its nodes."""
    held, count, manager = backend(order)
    for gate, (one, two) in enumerate(circuit.gates, start=circuit.n + 1):
        a = ~held[one >> 1] if one & 1 else held[one >> 1]
        held[gate] = a & (~held[two >> 1] if two & 1 else held[two >> 1])
    found = count(held[circuit.literal >> 1])
    a = None
    held.clear()
    del manager
    return found


def total(circuits: list[Circuit], backend: Callable[..., Any]) -> tuple[int, float]:
    """Nodes and seconds of all outputs, each in the best of our orders."""
    orders = [build_diagram(circuit, circuit.space).diagram.order for circuit in circuits]
    started = time.perf_counter()
    found = sum(nodes(circuit, order, backend) for circuit, order in zip(circuits, orders, strict=True))
    return found, time.perf_counter() - started


def subjects(smoke: bool) -> dict[str, list[Circuit]]:
    """All outputs of every file; something made here where there are none."""
    if smoke:
        return {"carry of 3 digits": [carry(3)]}
    found = {name: network for name in FILES if (network := real(name)) is not None}
    made = {"product of 8 digits": [product(8)], "carry of 64 digits": [carry(64)]}
    return made | {
        name: [Circuit(network, position) for position in range(len(network.outputs))]
        for name, network in found.items()
    }


def run(smoke: bool) -> Section:
    """Both backends, and CUDD with sifting."""
    peers = [cudd, sifted] if find_spec("dd") and find_spec("dd.cudd") else []
    table, ours, theirs = [], 0.0, 0.0
    for name, circuits in subjects(smoke).items():
        found, seconds = total(circuits, oxidd)
        ours += seconds
        cells = [f"{found:,}", duration(seconds)]
        for peer in peers:
            found, seconds = total(circuits, peer)
            theirs += seconds if peer is cudd else 0
            cells += [f"{found:,}", duration(seconds)]
        table.append([name, f"{len(circuits)}", *cells, *["-"] * (6 - len(cells))])
    headings = ["circuit", "outputs", "nodes", "OxiDD", "nodes", "CUDD", "nodes", "CUDD, sifting"]
    ratio = theirs / ours if peers else 0.0
    measured = times(ratio) if peers else "0 peers: dd has no CUDD here"
    bar = Bar("OxiDD takes at most twice CUDD's time over all circuits", measured, None if smoke else ratio >= 0.5)
    remark = (
        "Each output has a manager of its own and the best of our three static orders; nodes have complement edges. "
        "A manager of OxiDD refuses to grow past its limit, inside an operation too; dd offers no such limit for CUDD: "
        "the majority of 1001, or a barrel shifter in the order of its file without sifting, ran on for minutes."
    )
    return Section("backends", "two libraries of decision diagrams", [Table(headings, table)], [bar], remark)
