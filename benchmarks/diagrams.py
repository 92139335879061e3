"""Exact influences of a circuit from its decision diagram, from its truth table, and by boofun from that table."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import Contestant, shortest
from benchmarks.influences import BOOFUN_AGREEMENT, agree
from benchmarks.report import Bar, Section, Table, duration, times
from benchmarks.wired import carry, product
from fidelitree.asking.counted import tabulate
from fidelitree.exact.build import build_diagram
from fidelitree.exact.diagram import DiagramSubfunction
from fidelitree.exact.subfunction import Floats
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets import Circuit, Counted

if TYPE_CHECKING:
    from collections.abc import Callable

JUDGED = 20
BOOFUN_UP_TO = 18


def from_table(circuit: Circuit, space: ProductSpace) -> Floats:
    """All labels, then all influences."""
    codes = tabulate(Counted(circuit, space), space.whole)
    return TableSubfunction.of(codes, space.whole, [0, 1]).influences()


def boofun(answers: NDArray[np.uint8]) -> Callable[[], Floats] | None:
    """Its compiled way, which knows fair bits only; None where it is not installed."""
    if find_spec("boofun") is None:
        return None
    import boofun

    function = boofun.create(answers.astype(np.bool_), storage="dense")
    return lambda: np.array(list(map(float, function.influences()))) / 2


def measure(circuit: Circuit, seconds: float) -> tuple[DiagramSubfunction, list[float], str]:
    """The diagram; seconds to build it, for its influences, and for those of the table; boofun's time."""
    space = ProductSpace.bernoulli(circuit.n)
    found = build_diagram(circuit, space)
    influences = found.influences()
    agree(f"the table of {circuit!r}", influences, from_table(circuit, space))
    taken = shortest(
        Contestant(lambda _: build_diagram(circuit, space)),
        Contestant(lambda fresh: fresh.influences(), lambda: build_diagram(circuit, space)),
        Contestant(lambda _: from_table(circuit, space)),
        seconds=seconds,
    )
    ask = boofun(tabulate(Counted(circuit, space), space.whole)) if circuit.n <= BOOFUN_UP_TO else None
    if ask is None:
        return found, taken, "-"
    agree(f"boofun on {circuit!r}", influences, ask(), BOOFUN_AGREEMENT)
    return found, taken, duration(shortest(Contestant(lambda _: ask()), seconds=seconds)[0])


def run(smoke: bool) -> Section:
    """An adder's carry, which has a small diagram, and a digit of a product, which has none."""
    table, judged = [], 0.0
    for name, family, sizes in (("carry", carry, (16, 18, 20, 24)), ("digit of a product", product, (16, 20))):
        for n in (8,) if smoke else sizes:
            found, (built, passed, tabled), peer = measure(family(n // 2), 0.1 if smoke else 8)
            ratio = tabled / (built + passed)
            if family is carry and n in (8, JUDGED):
                judged = ratio
            nodes = f"{found.diagram.size(found.root):,}"
            cells = [duration(built), duration(passed), duration(tabled), times(ratio), peer]
            table.append([name, str(n), nodes, *cells])
    headings = ["function", "n", "nodes", "build", "influences", "truth table", "", "boofun"]
    bar = Bar(
        f"at least 2x the truth table at n = {JUDGED} on the carry", times(judged), None if smoke else judged >= 2
    )
    remark = (
        "Fair bits; all influences agree within 1e-12 (boofun's 1e-11). The truth table's time is tabulating, packing "
        "and all influences; boofun's is its influences alone, from a table that it is given (dense, compiled)."
    )
    return Section("diagrams", "exact influences of circuits", [Table(headings, table)], [bar], remark)
