"""One output of a circuit as a target, evaluated 64 inputs to a word."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, check_count, show
from fidelitree.spaces.features import Boolean
from fidelitree.spaces.inputs import as_bits
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets.circuits.network import MAX_WIRES, Gates, Network
from fidelitree.trees.bits import Words, unpack

_thread = threading.local()
_WORDS = 1 << 19  # of all signals together: what stays near the processor


class Circuit:
    """A Boolean function given by gates; its labels are 0 and 1.

    Columns of a batch are the circuit's inputs by position. ``output`` is the name of an output, or, where there is
    none of that name, its position.

    >>> from fidelitree.targets.circuits import expression
    >>> circuit = expression("a & (b | ~c)")
    >>> circuit.names, circuit(np.array([[1, 0, 0], [1, 0, 1]])).tolist()
    (('a', 'b', 'c'), [1, 0])
    """

    def __init__(self, network: Network, output: str | int | None = None) -> None:
        self.names = network.inputs
        position = _position(network.outputs, output)
        self.output = network.outputs[position]
        self.gates, self.literal = _cone(network, network.literals[position])

    @property
    def n(self) -> int:
        """Number of inputs."""
        return len(self.names)

    @cached_property
    def space(self) -> ProductSpace:
        """Fair bits under the inputs' names."""
        return ProductSpace.bernoulli(self.n, names=self.names)

    def check_space(self, space: ProductSpace) -> None:
        """Refuse a space with another number of features, or with features that are not bits."""
        if len(space) != self.n:
            raise ParameterError(f"space must have the circuit's {self.n} inputs as features; got {len(space)}")
        for feature in space:
            if not isinstance(feature, Boolean):
                raise ParameterError(
                    f"space must hold bits only for a circuit; feature {feature.name!r} is {feature.kind}"
                )

    def __call__(self, batch: Any) -> NDArray[np.uint8]:
        bits = as_bits(batch, self.names)
        plan = self._plan
        step = max(64, min(len(bits), 64 * (_WORDS // (2 * plan.signals))))
        out = np.empty(len(bits), np.uint8)
        values = _desk(2 * plan.signals, -(-step // 64))
        for start in range(0, len(bits), step):
            part = bits[start : start + step]
            columns = np.ascontiguousarray(part[:, plan.inputs].T)
            out[start : start + len(part)] = unpack(plan.run(columns, values), len(part))
        return out

    def __repr__(self) -> str:
        return f"<Circuit {self.output!r}: {self.n} inputs, {len(self.gates)} gates>"

    @cached_property
    def _plan(self) -> _Schedule:
        return _Schedule.of(self.n, self.gates, self.literal)


@dataclass(frozen=True)
class _Schedule:
    """Which rows of values are combined when.

    The values of all signals stand below each other, and all their negations below these, so reading a negated signal
    costs nothing. Gates that need only what is there already form a level and are computed together.
    """

    inputs: list[int]
    signals: int
    levels: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    output: int

    @classmethod
    def of(cls, n: int, gates: Sequence[tuple[int, int]], literal: int) -> _Schedule:
        """Only inputs that gates read have rows; gates are numbered anew, level by level."""
        depth = [0] * (n + 1 + len(gates))
        for signal, (one, two) in enumerate(gates, start=n + 1):
            depth[signal] = 1 + max(depth[one >> 1], depth[two >> 1])
        read = {wanted >> 1 for pair in gates for wanted in pair} | {literal >> 1}
        inputs = sorted(signal - 1 for signal in read if 0 < signal <= n)
        by_level: list[list[int]] = [[] for _ in range(max(depth) + 1)]
        for signal in range(n + 1, len(depth)):
            by_level[depth[signal]].append(signal)
        row = {0: 0} | {i + 1: place for place, i in enumerate(inputs, start=1)}
        for level in by_level:
            row |= {signal: place for place, signal in enumerate(level, start=len(row))}

        def where(wanted: int) -> int:
            return row[wanted >> 1] + (wanted & 1) * len(row)

        levels = []
        for level in by_level[1:]:
            pairs = [gates[signal - n - 1] for signal in level]
            first, second = (np.array([where(pair[side]) for pair in pairs], np.intp) for side in (0, 1))
            levels.append((first, second))
        return cls(inputs, len(row), levels, where(literal))

    def run(self, columns: NDArray[np.uint8], values: NDArray[np.uint64]) -> Words:
        """The output's words for inputs given as one row of bytes for each input that is read."""
        end = 1 + len(columns)
        packed = np.packbits(columns, axis=1, bitorder="little")
        values[:end] = 0
        values.view(np.uint8)[1:end, : packed.shape[1]] = packed
        np.invert(values[:end], out=values[self.signals : self.signals + end])
        for one, two in self.levels:
            start, end = end, end + len(one)
            np.bitwise_and(values.take(one, axis=0), values.take(two, axis=0), out=values[start:end])
            np.invert(values[start:end], out=values[self.signals + start : self.signals + end])
        output: Words = values[self.output]
        return output


def _desk(rows: int, words: int) -> NDArray[np.uint64]:
    """Room for the values of all signals, the same for all calls of a thread: fresh memory costs more than the work."""
    if rows * words > _WORDS:
        return np.empty((rows, words), np.uint64)
    if not hasattr(_thread, "desk"):
        _thread.desk = np.empty(_WORDS, np.uint64)
    room: NDArray[np.uint64] = _thread.desk[: rows * words]
    return room.reshape(rows, words)


def _cone(network: Network, literal: int) -> tuple[list[tuple[int, int]], int]:
    """The gates that an output needs, numbered anew, and its literal."""
    first = len(network.inputs) + 1
    wanted = bytearray(first + len(network.gates))
    wanted[literal >> 1] = 1
    for signal in range(literal >> 1, first - 1, -1):
        if wanted[signal]:
            one, two = network.gates[signal - first]
            wanted[one >> 1] = wanted[two >> 1] = 1
    number = list(range(first)) + [0] * len(network.gates)
    kept: list[tuple[int, int]] = []
    for signal in (place for place in range(first, len(wanted)) if wanted[place]):
        number[signal] = first + len(kept)
        one, two = network.gates[signal - first]
        kept.append((2 * number[one >> 1] | one & 1, 2 * number[two >> 1] | two & 1))
    return kept, 2 * number[literal >> 1] | literal & 1


def _position(outputs: tuple[str, ...], output: str | int | None) -> int:
    """An output by name, then by index; the only one where none is asked for."""
    if output is None and len(outputs) == 1:
        return 0
    if isinstance(output, str) and output in outputs:
        return outputs.index(output)
    try:
        position = output if isinstance(output, str) else str(check_count("output", output, least=0))
    except ParameterError:
        position = ""
    if position.isdecimal() and len(position) <= len(str(MAX_WIRES)) and int(position) < len(outputs):
        return int(position)
    known = ", ".join(outputs[:8]) + (", ..." if len(outputs) > 8 else "")
    raise ParameterError(
        f"output must be one of the circuit's {len(outputs)} outputs ({known}), or its position; got {show(output, 40)}"
    )


def difference(one: Circuit, two: Circuit) -> Circuit:
    """1 where the circuits answer differently; inputs match by position. Gates that both have are made once.

    >>> from fidelitree.targets.circuits import expression
    >>> difference(expression("~(a & b)"), expression("~(b & a)", ["a", "b"]))
    <Circuit 'f0 differs from f0': 2 inputs, 0 gates>
    """
    return joined(one, two, Gates.differ, "differs from")


def joined(one: Circuit, two: Circuit, gate: Callable[[Gates, int, int], int], how: str = "with") -> Circuit:
    """The circuit of a gate between two outputs."""
    if one.n != two.n:
        raise ParameterError(f"circuits must have as many inputs to be compared; got {one.n} and {two.n}")
    gates = Gates(one.n)
    literal = gate(gates, _copy(one, gates), _copy(two, gates))
    return Circuit(Network(one.names, (f"{one.output} {how} {two.output}",), gates.made, [literal]))


def _copy(circuit: Circuit, gates: Gates) -> int:
    """The literal of a circuit's output among other gates."""
    literals = [2 * signal for signal in range(circuit.n + 1)]
    for one, two in circuit.gates:
        literals.append(gates.both(literals[one >> 1] ^ one & 1, literals[two >> 1] ^ two & 1))
    return literals[circuit.literal >> 1] ^ circuit.literal & 1
