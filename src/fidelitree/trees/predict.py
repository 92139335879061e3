"""Sending rows down a tree: as sets of bits where all features are bits, else row by row, compiled where it can be.

The first two know a tree by its root and by what is below a node: a test with the no and the yes side, or what a leaf
holds. So they take trees as arrays, as nested tuples or as nodes with rows. Answering tests of any kind for all rows
and combining the answers as sets of bits was measured to be slower beyond 16 leaves, and at most 1.6 times as fast
below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test
from fidelitree.trees import kernels

if TYPE_CHECKING:
    from fidelitree.trees.bits import Columns, Words

N = TypeVar("N")
M = TypeVar("M", "Words", int)
Below = Callable[[N], "tuple[Test, N, N] | int"]
Places = NDArray[np.intp]
Arrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
_AT_ONCE = 1 << 20  # rows between two looks at Ctrl-C
_THRESHOLD, _OR_MISSING = -1, -2  # instead of where a set begins


def leaf_values(root: N, below: Below[N], passes: Callable[[Test, Places], NDArray[np.bool_]], rows: int) -> Places:
    """What the leaf holds that each row reaches; ``passes`` says which of some rows are on the yes side of a test.

    Nodes that no row reaches cost nothing.
    """
    values = np.empty(rows, np.intp)
    waiting = [(root, np.arange(rows))]
    while waiting:
        node, here = waiting.pop()
        inside = below(node)
        if not isinstance(inside, tuple):
            values[here] = inside
        elif len(here):
            test, no, yes = inside
            up = passes(test, here)
            waiting += [(yes, here[up]), (no, here[~up])]
    return values


def route(root: N, below: Below[N], columns: Columns[M], rows: M) -> Iterator[tuple[int, M]]:
    """What each leaf of a tree of bits holds, with the set of rows that reach it: words, or one whole number."""
    waiting = [(root, rows)]
    while waiting:
        node, mask = waiting.pop()
        inside = below(node)
        if isinstance(inside, tuple):
            test, no, yes = inside
            upper = mask & columns[test.feature]
            waiting += [(yes, upper), (no, mask ^ upper)]
        else:
            yield inside, mask


@dataclass(frozen=True, eq=False)
class Steps:
    """A tree for the compiled walk: siblings side by side, the second for what passes; see ``kernels/predict.c``."""

    cut: NDArray[np.float64]
    feature: NDArray[np.int32]
    child: NDArray[np.int32]
    start: NDArray[np.int32]
    width: NDArray[np.int32]
    member: NDArray[np.uint8]
    node: NDArray[np.intp]
    """The node of the tree that each of these stands for."""
    depth: int

    @classmethod
    def of(cls, nodes: Sequence[tuple[Test, int, int] | int], depth: int) -> Steps:
        """The steps for a tree's nodes, root first: a test with its sides, or what a leaf holds."""
        order, rows, member = [0], list[tuple[float, int, int, int, int]](), bytearray()
        for node in order:  # it grows on the way
            inside = nodes[node]
            if not isinstance(inside, tuple):
                rows.append((np.nan, 0, len(rows), _THRESHOLD, 0))
                continue
            test, no, yes = inside
            cut, start, width, sides = 0.5, _THRESHOLD, 0, (no, yes)
            if isinstance(test, AtMost):
                cut, start = test.cut, _OR_MISSING if test.missing else _THRESHOLD
            elif isinstance(test, IsIn):
                start, width = len(member), max(test.codes, default=-1) + 1
                member += bytes(code in test.codes for code in range(width))
            else:
                sides = (yes, no)  # a bit that is at most 0.5 is 0
            rows.append((cut, test.feature, len(order), start, width))
            order += sides
        cuts, *others = zip(*rows, strict=True)
        feature, child, first, widths = (np.array(column, np.int32) for column in others)
        members = np.frombuffer(bytes(member), np.uint8)
        return cls(np.array(cuts, np.float64), feature, child, first, widths, members, np.array(order), depth)

    def values(
        self, held: NDArray[np.int64], rows: NDArray[np.float64], checked: bool = False
    ) -> NDArray[np.int64] | None:
        """What the node of the leaf holds that each row reaches; None where numbers are checked and one is missing."""
        by_columns = not rows.flags.c_contiguous
        data = np.ascontiguousarray(rows.T if by_columns else rows)
        out = np.empty(len(rows), np.int64)
        tree = self.cut, self.feature, self.child, held[self.node], self.start, self.width, self.member
        for first in range(0, len(rows), _AT_ONCE):
            part = out[first : first + _AT_ONCE]
            if not kernels.native.walk(*tree, data, part, first, by_columns, self.depth, checked):
                return None
        return out


def preorder(nodes: Sequence[Any]) -> list[int]:
    """The places of nodes, ``(test, no, yes)`` or anything for a leaf: the root first, the no side before the yes."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        entry = nodes[node]
        if isinstance(entry, tuple):
            waiting += [entry[2], entry[1]]
    return order


def as_arrays(nodes: Sequence[tuple[Test, int, int] | int]) -> tuple[Arrays, Mapping[int, Test]]:
    """Features, no sides, yes sides and codes of nodes, -1 where there is none; and the tests that are not of bits."""
    rows = [(of[0].feature, *of[1:], -1) if isinstance(of, tuple) else (-1, -1, -1, of) for of in nodes]
    tests = {node: of[0] for node, of in enumerate(nodes) if isinstance(of, tuple)}
    asked = {node: test for node, test in tests.items() if not isinstance(test, IsOne)}
    feature, no, yes, code = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    return (feature, no, yes, code), asked
