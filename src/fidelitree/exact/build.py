"""From a circuit to its decision diagram, by OxiDD.

OxiDD builds the diagram gate by gate and is then let go: the nodes that are left go into a `Diagram`, whose passes
need no library. It was measured beside CUDD (dd): the same nodes in the same order, as fast, and the only one with a
limit on nodes that holds inside an operation (docs/circuits.md).

The size of a diagram lives or dies by the order of its inputs. Two orders follow the wires from the output back to the
inputs and list an input where it is first met, so that inputs that act together stand together (Malik et al., 1988):
the two digits of a column of an adder, say, not the two numbers one after the other. The third is the order of the
file: the wires of a two-level cover say little, and whoever wrote the file may have known better. Where names have
numbers, the inputs are digits of buses: two orders take digit after digit of all of them, from either end, and one
takes bus after bus, the shortest first, because it says what becomes of the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from fidelitree.asking.limits import Watch, go_on
from fidelitree.errors import MissingExtraError, NoDiagramError
from fidelitree.exact.diagram import Diagram, DiagramSubfunction
from fidelitree.targets.circuits.network import in_order

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.circuits.circuit import Circuit

NODE_LIMIT = 1 << 18
_FIRST_LIMITS = (
    1 << 12,
    1 << 15,
)  # limits that are tried first, so that a bad order does not cost what the limit costs
_LEAST = _FIRST_LIMITS[0]
_NUMBERED = re.compile(r"(.*?)(\d{1,9})(\D*)", re.DOTALL)
_GARBAGE = 2  # times the limit: nodes at which those that nobody needs are thrown away
_ROOM = 4  # times the limit: what OxiDD may hold


def as_wired(circuit: Circuit) -> list[int]:
    """Each gate's wires in the order that the file gives them."""
    return _walk(circuit, lambda one, two: (one, two))


def deepest_first(circuit: Circuit) -> list[int]:
    """Each gate's longer way back to an input first."""
    return _walk(circuit, _deepest(circuit))


def _deepest(circuit: Circuit) -> Callable[[int, int], tuple[int, int]]:
    """What puts that one of two signals first which has the longer way back to an input."""
    depth = [0] * (circuit.n + 1 + len(circuit.gates))
    for signal, (one, two) in enumerate(circuit.gates, start=circuit.n + 1):
        depth[signal] = 1 + max(depth[one >> 1], depth[two >> 1])
    return lambda one, two: (two, one) if depth[one] < depth[two] else (one, two)


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


def by_digit(circuit: Circuit) -> list[int]:
    """The first digit of every bus, then the second, and so on."""
    buses, digits = _buses(circuit)
    return sorted(as_wired(circuit), key=lambda i: (digits[i], buses[i]))


def by_last_digit(circuit: Circuit) -> list[int]:
    """The last digit of every bus, then the one before it, and so on."""
    buses, digits = _buses(circuit)
    return sorted(as_wired(circuit), key=lambda i: (-digits[i], buses[i]))


def by_bus(circuit: Circuit) -> list[int]:
    """Bus after bus, the shortest first."""
    (buses, digits), inputs = _buses(circuit), as_wired(circuit)
    width = Counter(buses[i] for i in inputs)
    return sorted(inputs, key=lambda i: (width[buses[i]], buses[i], digits[i]))


def _buses(circuit: Circuit) -> tuple[list[int], list[int]]:
    """For each input the number of its bus, which is the name without its last number, and that number."""
    parts = [_NUMBERED.fullmatch(name) for name in circuit.names]
    stems = [name if part is None else part[1] + part[3] for name, part in zip(circuit.names, parts, strict=True)]
    first = {stem: place for place, stem in reversed(list(enumerate(stems)))}
    return [first[stem] for stem in stems], [0 if part is None else int(part[2]) for part in parts]


ORDERS = (deepest_first, as_wired, as_listed, by_last_digit, by_digit, by_bus)


def build_diagram(
    circuit: Circuit, space: ProductSpace, limit: int = NODE_LIMIT, watch: Watch = go_on
) -> DiagramSubfunction:
    """The whole function of a circuit as a diagram; NoDiagramError where no order keeps within ``limit`` nodes.

    ``watch`` is called at every gate, and may end it by raising.
    """
    circuit.check_space(space)
    orders, schedule = list({tuple(order(circuit)): None for order in ORDERS}), _schedule(circuit)
    for most in [*(first for first in _FIRST_LIMITS if first < limit), limit]:
        best: tuple[int, Sequence[int], Any] | None = None
        for order in orders:  # once there is a diagram, others are of interest while they are smaller
            room = most if best is None else max(best[0], _LEAST)
            function = _gate_by_gate(circuit, (order, schedule), room, watch)
            if function is not None and (best is None or function.node_count() < best[0]):
                best = function.node_count(), order, function
        if best is not None:
            return _take_over(Diagram(space, best[1]), best[2])
    raise NoDiagramError(
        f"the decision diagram of output {circuit.output!r} must have at most {limit:,} nodes while it is built; "
        f"{len(circuit.gates):,} gates over {len(orders[0])} inputs need more in each of {len(orders)} orders. "
        "distill, practical_top_down and certify draw inputs instead"
    )


def _gate_by_gate(
    circuit: Circuit, orders: tuple[Sequence[int], list[tuple[int, list[int]]]], limit: int, watch: Watch
) -> Any | None:
    """OxiDD's function of the output, by an order of inputs and one of gates; None where it needs more nodes."""
    order, schedule = orders
    try:
        from oxidd.bcdd import BCDDManager
        from oxidd.util import DDMemoryError
    except ImportError:
        raise MissingExtraError("decision diagrams need the extra 'bdd': pip install 'fidelitree[bdd]'") from None
    try:
        # OxiDD collects garbage in the background once it is nearly full, so what fails there depends on the clock.
        # We collect earlier: then only an operation whose result alone breaks the limit can fill it.
        manager = BCDDManager(_ROOM * limit, _ROOM * limit, 1)
        manager.add_vars(len(order))
        held = {0: manager.false()} | {i + 1: manager.var(level) for level, i in enumerate(order)}
        for gate, spent in schedule:
            watch()
            one, two = circuit.gates[gate - circuit.n - 1]
            held[gate] = _signed(held, one) & _signed(held, two)
            for signal in spent:
                del held[signal]
            if manager.num_inner_nodes() > _GARBAGE * limit:
                manager.gc()
                if manager.num_inner_nodes() > limit:
                    return None
        return _signed(held, circuit.literal)
    except DDMemoryError:
        return None


def _signed(held: dict[int, Any], literal: int) -> Any:
    return ~held[literal >> 1] if literal & 1 else held[literal >> 1]


def _schedule(circuit: Circuit) -> list[tuple[int, list[int]]]:
    """The gates one after the other, by their signals, with those that no later gate needs.

    What is needed for one wire of a gate is built before anything else is begun, the deeper one first: then few
    functions are held at a time.
    """
    inputs, deepest = circuit.n + 1, _deepest(circuit)
    needs = [(), *[()] * circuit.n, *(deepest(one >> 1, two >> 1) for one, two in circuit.gates)]
    gates = [signal for signal in in_order([circuit.literal >> 1], needs, _no_cycle) if signal >= inputs]
    last = {signal: gate for gate in gates for signal in needs[gate]}
    last.pop(circuit.literal >> 1, None)
    spent: dict[int, list[int]] = {gate: [] for gate in gates}
    for signal, gate in last.items():
        spent[gate].append(signal)
    return list(spent.items())


def _no_cycle(signal: int) -> NoReturn:
    raise AssertionError(f"gate {signal} comes after what it needs")


def _take_over(diagram: Diagram, function: Any) -> DiagramSubfunction:
    """Copy a function node by node, children first."""
    numbers: dict[Any, int] = {}
    waiting = [function]
    while waiting:
        top = waiting[-1]
        if top in numbers:
            waiting.pop()
            continue
        children = top.cofactors()
        if children is None:
            numbers[top] = int(top.valid())
            continue
        yes, no = children
        missing = [child for child in (no, yes) if child not in numbers]
        if missing:
            waiting += missing
        else:
            numbers[top] = diagram.node(top.node_level(), numbers[no], numbers[yes])
    return DiagramSubfunction(diagram, numbers[function], [0, 1])
