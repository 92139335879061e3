"""Gates in an order in which each comes after what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn


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
