"""Rows a second of a circuit: 64 rows to a word, against one NumPy operation for each gate, and against pyeda."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import Contestant, shortest
from benchmarks.report import Bar, Section, Table, times
from benchmarks.wired import carry, product, real
from fidelitree.targets import Circuit

PEER_ROWS = 20  # pyeda takes one row at a time
PEER_GATES = 200
PLAIN_ROWS = 1 << 12  # all signals of a large circuit stay near the processor


def plain(circuit: Circuit, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Plain NumPy: a vector of truth values for each signal, one operation for each gate."""
    if len(rows) > PLAIN_ROWS:
        parts = [rows[start : start + PLAIN_ROWS] for start in range(0, len(rows), PLAIN_ROWS)]
        return np.concatenate([plain(circuit, part) for part in parts])
    signals = [np.zeros(len(rows), np.bool_), *rows.T]
    for one, two in circuit.gates:
        a = ~signals[one >> 1] if one & 1 else signals[one >> 1]
        b = ~signals[two >> 1] if two & 1 else signals[two >> 1]
        signals.append(a & b)
    found = signals[circuit.literal >> 1]
    return ~found if circuit.literal & 1 else found


class Pyeda:
    """The circuit as pyeda's expression, its points put in one at a time."""

    def __init__(self, circuit: Circuit) -> None:
        from pyeda.inter import expr, exprvar

        self.variables = [exprvar(f"v{i}") for i in range(circuit.n)]
        signals: list[Any] = [expr(False), *self.variables]
        for one, two in circuit.gates:
            a = ~signals[one >> 1] if one & 1 else signals[one >> 1]
            b = ~signals[two >> 1] if two & 1 else signals[two >> 1]
            signals.append(a & b)
        self.output = ~signals[circuit.literal >> 1] if circuit.literal & 1 else signals[circuit.literal >> 1]

    def __call__(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        points = (dict(zip(self.variables, row, strict=True)) for row in rows.tolist())
        return np.array([int(self.output.restrict(point)) for point in points], np.uint8)


def measure(circuit: Circuit, count: int, seconds: float) -> tuple[float, float, float | None]:
    """Rows a second: ours, plain NumPy's, pyeda's (None where it is absent, or the circuit too large for it)."""
    rows = np.asfortranarray(np.random.default_rng(0).integers(0, 2, (count, circuit.n), dtype=np.uint8))
    flags = rows.view(np.bool_)
    labels = circuit(rows)
    if not np.array_equal(labels, plain(circuit, flags)):
        raise RuntimeError(f"labels of {circuit!r} must be those of plain NumPy")
    ours, peer = shortest(
        Contestant(lambda _: circuit(rows)), Contestant(lambda _: plain(circuit, flags)), seconds=seconds
    )
    if find_spec("pyeda") is None or len(circuit.gates) > PEER_GATES:
        return count / ours, count / peer, None
    pyeda = Pyeda(circuit)
    few = rows[:PEER_ROWS]
    if not np.array_equal(labels[:PEER_ROWS], pyeda(few)):
        raise RuntimeError(f"labels of {circuit!r} must be those of pyeda")
    return count / ours, count / peer, PEER_ROWS / shortest(Contestant(lambda _: pyeda(few)), seconds=seconds)[0]


def subjects(smoke: bool) -> dict[str, Circuit]:
    """Made here, and real where there are any."""
    if smoke:
        return {"carry of 3 digits": carry(3)}
    found = {"carry of 32 digits": carry(32), "product of 16 digits": product(16)}
    for name, output in (
        ("epfl/ctrl.aig", 4),
        ("epfl/priority.aig", 0),
        ("epfl/adder.aig", 127),
        ("pla/alu4.pla", 4),
        ("epfl/voter.aig", 0),
    ):
        network = real(name)
        if network is not None:
            found[f"{name} {output}"] = Circuit(network, output)
    return found


def run(smoke: bool) -> Section:
    """A batch of 65 536 rows each."""
    count = 256 if smoke else 1 << 16
    table, ratios = [], []
    for name, circuit in subjects(smoke).items():
        ours, peer, pyeda = measure(circuit, count, 0.1 if smoke else 5)
        ratios.append(ours / peer)
        slow = "-" if pyeda is None else f"{pyeda:,.0f}"
        cells = [f"{circuit.n}", f"{len(circuit.gates):,}", f"{ours / 1e6:.2f}", f"{peer / 1e6:.3f}", times(ratios[-1])]
        table.append([name, *cells, slow])
    headings = ["circuit", "inputs", "gates", "million rows/s", "plain NumPy", "", "pyeda, rows/s"]
    bar = Bar(
        "at least 2x plain NumPy on every circuit",
        f"{times(min(ratios))} to {times(max(ratios))}",
        None if smoke else min(ratios) >= 2,
    )
    remark = (
        f"{count:,} rows at once, column-major, checks and packing included; all labels are equal. Plain NumPy has one "
        f"vector of truth values for each signal, {PLAIN_ROWS:,} rows at a time. pyeda restricts its expression to one "
        f"point at a time ({PEER_ROWS} points); circuits of more than {PEER_GATES} gates are too large for it."
    )
    return Section("circuits", "labels of many rows from one circuit", [Table(headings, table)], [bar], remark)
