"""Circuits for benchmarks: two families made here, and the real ones where they are."""

from __future__ import annotations

import os
from pathlib import Path

from fidelitree.targets import Circuit
from fidelitree.targets.circuits import Network, read_network
from fidelitree.targets.circuits.network import Gates

ROOT = Path(__file__).resolve().parents[1]


def carry(digits: int) -> Circuit:
    """The last carry of an adder of two numbers, all digits of one before all digits of the other."""
    gates = Gates(2 * digits)
    one, two = _numbers(digits)
    last = 0
    for a, b in zip(one, two, strict=True):
        last = gates.either(gates.both(a, b), gates.both(last, gates.differ(a, b)))
    return _circuit(gates, 2 * digits, last)


def product(digits: int) -> Circuit:
    """The middle digit of a product, by adding up rows: the function that no order makes small."""
    gates = Gates(2 * digits)
    one, two = _numbers(digits)
    total = [0] * (2 * digits)
    for place, b in enumerate(two):
        last = 0
        for column, a in enumerate(one, start=place):
            digit = gates.both(a, b)
            either = gates.differ(total[column], digit)
            carried = gates.either(gates.both(total[column], digit), gates.both(last, either))
            total[column], last = gates.differ(either, last), carried
        total[place + digits] = last
    return _circuit(gates, 2 * digits, total[digits - 1])


def real(name: str) -> Network | None:
    """A file of the real data, as in ``epfl/adder.aig``; None where it is not."""
    folder = ROOT / (os.environ.get("FIDELITREE_DATA") or "../shared/data")
    path = folder / "circuits" / name
    return read_network(path) if path.is_file() else None


def _numbers(digits: int) -> tuple[list[int], list[int]]:
    literals = [2 * (i + 1) for i in range(2 * digits)]
    return literals[:digits], literals[digits:]


def _circuit(gates: Gates, inputs: int, literal: int) -> Circuit:
    return Circuit(Network(tuple(f"x{i}" for i in range(inputs)), ("f0",), gates.made, [literal]))
