"""The smallest tree without an error for a function of a few dozen bits, by branch and bound.

No tree has fewer leaves than one more than the features that its function depends on, nor, where the function depends
on a feature, fewer than one more than those of what is left when that feature is fixed; and none has fewer than the
test at its top leaves for both sides. With these bounds most tests of most functions need no search. A function is
held once, as in a decision diagram: it tests the first bit that it depends on and goes on with two smaller ones. What
is left of it when any other bit is fixed is remembered, because different functions lead to the same ones, and what is
known about a function is known wherever it occurs. Circuits of 15 to 25 inputs take milliseconds to minutes, where all
restrictions (`optimum`) would be 3^25.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.exact.diagram import DiagramSubfunction, Nodes
from fidelitree.spaces.features import IsOne

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.trees.nested import Nested


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


class Branching:
    """Least numbers of leaves; ``watch`` is called for every function that is looked into and may end the search."""

    def __init__(self, functions: Functions, watch: Watch) -> None:
        self._functions, self._watch = functions, watch
        self._least: dict[int, int] = {}
        self._at_least: dict[int, int] = {}
        self._test: dict[int, int] = {}

    def search(self, function: int, below: int) -> int | None:
        """Leaves of the smallest tree; None where it has not fewer than ``below``."""
        if not self._functions.support[function]:
            return 1 if below > 1 else None
        known = self._least.get(function)
        if known is not None or self._bound(function) >= below:
            return known if known is not None and known < below else None
        self._watch()
        sides = sorted(self._sides(function))
        bounds = (max(self._bound(no), self._bound(yes)) + 1 for _, _, no, yes in sides)
        self._at_least[function] = max(self._bound(function), sides[0][0], *bounds)
        return self._best(function, sides, below)

    def _best(self, function: int, sides: list[tuple[int, int, int, int]], below: int) -> int | None:
        """Test after test, the most promising first, for as long as there may be a better one."""
        best = None
        for _, level, no, yes in sides:
            if self._at_least[function] >= below:
                break
            leaves = self._together(no, yes, below)
            if leaves is not None:
                best = below = leaves
                self._test[function] = level
        if best is None:
            self._at_least[function] = max(self._at_least[function], below)
        else:
            self._least[function] = best
        return best

    def _together(self, no: int, yes: int, below: int) -> int | None:
        """Leaves of both sides; None where they are not fewer than ``below``. What needs more goes first."""
        few, many = sorted((no, yes), key=self._bound)
        most = self.search(many, below - self._bound(few))
        least = None if most is None else self.search(few, below - most)
        return None if most is None or least is None else most + least

    def _sides(self, function: int) -> Iterator[tuple[int, int, int, int]]:
        """For each test the bound on its leaves, and the functions on both sides."""
        functions, left = self._functions, self._functions.support[function]
        while left:
            level = (left & -left).bit_length() - 1
            left &= left - 1
            no, yes = functions.fixed(function, level, 0), functions.fixed(function, level, 1)
            yield self._bound(no) + self._bound(yes), level, no, yes

    def _bound(self, function: int) -> int:
        known = self._least.get(function) or self._at_least.get(function)
        return known or self._functions.support[function].bit_count() + 1

    def nested(self, function: int) -> Nested | None:
        """The best tree found so far, as tests and label codes; None where none was."""
        if not self._functions.support[function]:
            return function
        level = self._test.get(function)
        if level is None:
            return None
        no, yes = (self.nested(self._functions.fixed(function, level, bit)) for bit in (0, 1))
        return None if no is None or yes is None else (IsOne(self._functions.order[level]), no, yes)
