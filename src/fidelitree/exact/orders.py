"""Orders in which a circuit's inputs may be tested: the size of a diagram lives or dies by it.

Two orders follow the wires from the output back to the inputs and list an input where it is first met, so that
inputs that act together stand together (Malik et al., 1988): the two digits of a column of an adder, say, not the
two numbers one after the other. The third is the order of the file: the wires of a two-level cover say little, and
whoever wrote the file may have known better.
"""

from __future__ import annotations

from collections.abc import Callable

from fidelitree.targets.circuits.circuit import Circuit


def as_wired(circuit: Circuit) -> list[int]:
    """Each gate's wires in the order that the file gives them."""
    return _walk(circuit, lambda one, two: (one, two))


def deepest_first(circuit: Circuit) -> list[int]:
    """Each gate's longer way back to an input first."""
    depth = [0] * (circuit.n + 1 + len(circuit.gates))
    for signal, (one, two) in enumerate(circuit.gates, start=circuit.n + 1):
        depth[signal] = 1 + max(depth[one >> 1], depth[two >> 1])
    return _walk(circuit, lambda one, two: (two, one) if depth[one] < depth[two] else (one, two))


def _walk(circuit: Circuit, first: Callable[[int, int], tuple[int, int]]) -> list[int]:
    met: set[int] = {0}
    order: list[int] = []
    waiting = [circuit.literal >> 1]
    while waiting:
        signal = waiting.pop()
        if signal in met:
            continue
        met.add(signal)
        if signal <= circuit.n:
            order.append(signal - 1)
        else:
            one, two = circuit.gates[signal - circuit.n - 1]
            waiting += reversed(first(one >> 1, two >> 1))
    return order


def as_listed(circuit: Circuit) -> list[int]:
    """The inputs that matter, as the file lists them."""
    return sorted(as_wired(circuit))


ORDERS = (deepest_first, as_wired, as_listed)
