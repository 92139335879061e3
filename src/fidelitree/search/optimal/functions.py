"""Functions of bits, each of them once, and what is left of them when a bit is fixed.

A function tests the first bit that it depends on and goes on with two smaller ones, as in a decision diagram. What is
left of a function when any other bit is fixed is remembered, because different functions lead to the same ones: that
makes searches affordable that look at all tests of all restrictions (`branching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.diagram import DiagramSubfunction, Nodes


class Functions(Nodes):
    """All functions met so far, by number; the first are the constants, one for each label.

    ``order`` holds the features; bit k of ``support[f]`` says whether function f depends on ``order[k]``.

    >>> functions = Functions([0, 1], 2)
    >>> either = functions.node(0, functions.node(1, 0, 1), 1)
    >>> functions.fixed(either, 1, 0) == functions.node(0, 0, 1), bin(functions.support[either])
    (True, '0b11')
    """

    def __init__(self, order: Sequence[int], labels: int) -> None:
        super().__init__(order, labels)
        self.support = [0] * labels
        self._fixed: tuple[dict[tuple[int, int], int], ...] = {}, {}

    @classmethod
    def of_diagram(cls, part: DiagramSubfunction) -> tuple[Functions, int]:
        """The function of a diagram, and its number."""
        functions = cls(part.diagram.order, part.diagram.labels)
        numbers = {label: label for label in range(part.diagram.labels)}
        for node, level, no, yes in part.diagram.nodes(part.root):
            numbers[node] = functions.node(level, numbers[no], numbers[yes])
        return functions, numbers[part.root]

    @classmethod
    def of_table(cls, codes: NDArray[Any], labels: int) -> tuple[Functions, int]:
        """The function that a truth table lists, the first feature changing fastest: that one is tested last."""
        features = len(codes).bit_length() - 1
        functions = cls(range(features - 1, -1, -1), labels)
        numbers = np.asarray(codes, np.int64)
        for level in range(features - 1, -1, -1):
            pairs, which = np.unique(numbers.reshape(-1, 2), axis=0, return_inverse=True)
            made = np.array([functions.node(level, no, yes) for no, yes in pairs.tolist()])
            numbers = made[which.reshape(-1)]
        return functions, int(numbers[0])

    def __len__(self) -> int:
        return len(self._level)

    def _describe(self, level: int, no: int, yes: int) -> None:
        self.support.append(self.support[no] | self.support[yes] | 1 << level)

    def fixed(self, function: int, level: int, bit: int) -> int:
        """What is left where ``order[level]`` has a value."""
        if not self.support[function] >> level & 1:
            return function
        known = self._fixed[bit]
        found = known.get((function, level))
        if found is None:
            top, no, yes = self._level[function], self._no[function], self._yes[function]
            if top == level:
                found = yes if bit else no
            else:
                found = self.node(top, self.fixed(no, level, bit), self.fixed(yes, level, bit))
            known[function, level] = found
        return found
