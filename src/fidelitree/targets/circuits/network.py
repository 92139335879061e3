"""Networks of gates: every circuit becomes ANDs and negations, whatever file it came from.

A *literal* stands for a signal or its negation: literal 2v is signal v, literal 2v + 1 its negation (the convention
of AIGER). Signal 0 is the constant 0, signals 1 to n are the inputs, and the gates follow, each after the two
literals that it is the AND of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from fidelitree.errors import FormatError

FALSE, TRUE = 0, 1
MAX_WIRES = 100_000
"""Inputs, and outputs, that a circuit may have: a header can announce billions of them in ten bytes."""
MAX_GATES = 1 << 21


def in_order(wanted: Iterable[int], needs: Sequence[Sequence[int]], cycle: Callable[[int], NoReturn]) -> list[int]:
    """Everything that ``wanted`` needs, directly or not, each after its own needs; ``cycle`` hears of a circle.

    >>> in_order([2], [[], [0], [1, 0]], lambda node: 1 / 0)
    [0, 1, 2]
    """
    waiting_for, done = object(), object()
    state: list[object] = [None] * len(needs)
    order: list[int] = []
    stack = [(node, False) for node in reversed(list(wanted))]
    while stack:
        node, met = stack.pop()
        if met:
            state[node] = done
            order.append(node)
        elif state[node] is waiting_for:
            cycle(node)
        elif state[node] is None:
            state[node] = waiting_for
            stack.append((node, True))
            stack += [(need, False) for need in reversed(needs[node]) if state[need] is not done]
    return order


class TooManyGatesError(FormatError):
    """A circuit is larger than this library reads."""


@dataclass(frozen=True, eq=False)
class Network:
    """Gates in order: gate g has signal ``1 + len(inputs) + g`` and is the AND of ``gates[g]``'s two literals."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    gates: Sequence[tuple[int, int]]
    literals: Sequence[int]
    """The literal of every output."""


class Gates:
    """Gates while a file is read: equal gates are made once, and none whose value is already there.

    >>> gates = Gates(2)
    >>> gates.both(2, 4), gates.both(4, 2), gates.both(2, 3), gates.either(2, 4)
    (6, 6, 0, 9)
    """

    def __init__(self, inputs: int) -> None:
        self.made: list[tuple[int, int]] = []
        self._next = 2 * (inputs + 1)
        self._known: dict[tuple[int, int], int] = {}

    def both(self, one: int, two: int) -> int:
        """The literal of AND."""
        if one > two:
            one, two = two, one
        if one <= TRUE:
            return two if one else FALSE
        if one >> 1 == two >> 1:
            return one if one == two else FALSE
        found = self._known.get((one, two))
        if found is None:
            if len(self.made) >= MAX_GATES:
                raise TooManyGatesError(f"a circuit may have at most {MAX_GATES:,} gates")
            found = self._known[one, two] = self._next
            self.made.append((one, two))
            self._next += 2
        return found

    def either(self, one: int, two: int) -> int:
        """The literal of OR."""
        return self.both(one ^ 1, two ^ 1) ^ 1

    def differ(self, one: int, two: int) -> int:
        """The literal of XOR."""
        return self.either(self.both(one, two ^ 1), self.both(one ^ 1, two))

    def every(self, literals: Sequence[int]) -> int:
        """AND of any number of literals, as a balanced tree: it is evaluated level by level."""
        left = list(literals)
        while len(left) > 1:
            paired = [self.both(one, two) for one, two in zip(left[::2], left[1::2], strict=False)]
            left = paired + left[len(left) & ~1 :]
        return left[0] if left else TRUE

    def some(self, literals: Sequence[int]) -> int:
        """OR of any number of literals."""
        return self.every([literal ^ 1 for literal in literals]) ^ 1

    def cube(self, signs: str, literals: Sequence[int]) -> int:
        """AND of the literals that a row of a cover names: ``1`` as it is, ``0`` negated, ``-`` not at all."""
        wanted = zip(signs, literals, strict=True)
        return self.every([literal ^ (sign == "0") for sign, literal in wanted if sign != "-"])
