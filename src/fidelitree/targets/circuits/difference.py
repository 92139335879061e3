"""Where two circuits differ, as a circuit (a *miter*): its probability of 1 is how often they disagree."""

from __future__ import annotations

from fidelitree.errors import ParameterError
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.circuits.network import Gates, Network


def difference(one: Circuit, two: Circuit) -> Circuit:
    """1 where the circuits answer differently; inputs match by position. Gates that both have are made once.

    >>> from fidelitree.targets.circuits import expression
    >>> difference(expression("~(a & b)"), expression("~(b & a)", ["a", "b"]))
    <Circuit 'f0 differs from f0': 2 inputs, 0 gates>
    """
    if one.n != two.n:
        raise ParameterError(f"circuits must have as many inputs to be compared; got {one.n} and {two.n}")
    gates = Gates(one.n)
    literal = gates.differ(_copy(one, gates), _copy(two, gates))
    return Circuit(Network(one.names, (f"{one.output} differs from {two.output}",), gates.made, [literal]))


def _copy(circuit: Circuit, gates: Gates) -> int:
    """The literal of a circuit's output among other gates."""
    literals = [2 * signal for signal in range(circuit.n + 1)]
    for one, two in circuit.gates:
        literals.append(gates.both(literals[one >> 1] ^ one & 1, literals[two >> 1] ^ two & 1))
    return literals[circuit.literal >> 1] ^ circuit.literal & 1
