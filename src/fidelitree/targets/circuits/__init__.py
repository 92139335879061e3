"""Circuits: Boolean functions as files of gates. Each format is read by a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from fidelitree.errors import FormatError, ParameterError, check_path
from fidelitree.targets.circuits.aiger import read_aiger
from fidelitree.targets.circuits.blif import read_blif
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.circuits.expression import read_expression
from fidelitree.targets.circuits.network import Network, TooManyGatesError
from fidelitree.targets.circuits.pla import read_pla
from fidelitree.targets.circuits.source import CircuitFile

__all__ = ["READERS", "Circuit", "Network", "expression", "read_circuit", "read_network"]

READERS: dict[str, Callable[[CircuitFile], Network]] = {
    ".aag": read_aiger,
    ".aig": read_aiger,
    ".blif": read_blif,
    ".pla": read_pla,
}
"""The reader of a file, by its suffix."""


def read_circuit(path: str | Path, output: str | int | None = None) -> Circuit:
    """One output of the circuit in a file, by its name, then by its position; a single output need not be named.

    The suffix decides the format: PLA (``.pla``), BLIF (``.blif``), AIGER (``.aig``, ``.aag``). Don't-cares are read
    as 0. Inputs become features by position.
    """
    return Circuit(read_network(path), output)


def read_network(path: str | Path) -> Network:
    """All outputs of the circuit in a file."""
    path = check_path("path", path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ParameterError(f"path must end in {', '.join(READERS)}; got {path.name!r}")
    source = CircuitFile.of(path)
    try:
        return reader(source)
    except TooManyGatesError as error:
        raise FormatError(f"{source.name}: {error}") from None


def expression(text: str, names: Sequence[str] | None = None) -> Circuit:
    """The circuit of an expression such as ``a & (b | ~c)``; inputs are ``names``, or its names as they appear.

    >>> expression("x1 ^ x0", names=["x0", "x1", "x2"])
    <Circuit 'f0': 3 inputs, 3 gates>
    """
    return Circuit(read_expression(text, names))
