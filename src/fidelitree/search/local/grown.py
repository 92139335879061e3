"""A tree that a search has grown, as arrays: what goes into the compiled search and comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import AtMost, IsIn, Test

if TYPE_CHECKING:
    from fidelitree.trees.nested import Nested

Places = NDArray[np.int32]
Shape = tuple[Places, Places, Places, Places, NDArray[np.uint64]]
"""Feature (-1 at a leaf), cut, yes side and place of a set (-1 for a threshold) of every node; the sets' bits."""

CART = 400  # leaves of CART's tree that a search begins with; larger trees are not polished


@dataclass(frozen=True, eq=False)
class Grown:
    """Nodes in preorder, the no side first, with the weight of each label at each node (a line)."""

    shape: Shape
    counts: NDArray[Any]

    @property
    def leaves(self) -> int:
        """Their number."""
        return (len(self.counts) + 1) // 2

    @cached_property
    def code(self) -> Places:
        """For each node the label of a leaf in its place: the heaviest, the first among equals."""
        return np.asarray(self.counts.argmax(axis=1), np.int32)

    @cached_property
    def alone(self) -> NDArray[np.float64]:
        """For each node what a leaf in its place gets wrong."""
        return np.asarray(self.counts.sum(axis=1) - self.counts.max(axis=1), np.float64)

    @cached_property
    def errors(self) -> float:
        """What the tree gets wrong."""
        return float(self.alone[self.shape[0] < 0].sum())

    @cached_property
    def _lists(self) -> tuple[list[int], ...]:
        """Feature, cut, yes side, place and code of every node: a loop over nodes reads them four times faster."""
        return (*(part.tolist() for part in self.shape[:4]), self.code.tolist())

    def below(self, node: int) -> tuple[Test, int, int] | int:
        """Test and both sides of a node, or the code of a leaf."""
        feature, cut, yes, place, code = self._lists
        if feature[node] < 0:
            return code[node]
        if place[node] < 0:
            test: Test = AtMost(feature[node], cut[node])
        else:
            bits = np.unpackbits(self.shape[4][place[node]].view(np.uint8), bitorder="little")
            test = IsIn(feature[node], frozenset(np.flatnonzero(bits).tolist()))
        return test, node + 1, yes[node]

    def nested(self, node: int = 0) -> Nested:
        """The tree as tuples."""
        inside = self.below(node)
        return inside if isinstance(inside, int) else (inside[0], self.nested(inside[1]), self.nested(inside[2]))


def flat(tree: Nested, words: int) -> Shape:
    """A tree of thresholds and sets over bins as arrays; a set takes so many words."""
    rows: list[list[int]] = []
    sets: list[NDArray[np.uint64]] = []

    def append(part: Nested) -> None:
        row = [-1, -1, -1, -1]
        rows.append(row)
        if not isinstance(part, tuple):
            return
        test, no, yes = part
        row[0] = test.feature
        if isinstance(test, AtMost):
            row[1] = int(test.cut)
        else:
            assert isinstance(test, IsIn), "bins are ordered, or sets are asked for"
            bits = np.zeros(64 * words, np.uint8)
            bits[list(test.codes)] = 1
            row[3] = len(sets)
            sets.append(np.packbits(bits, bitorder="little").view(np.uint64))
        append(no)
        row[2] = len(rows)
        append(yes)

    append(tree)
    feature, cut, yes, place = np.array(rows, np.int32).T.copy()
    return feature, cut, yes, place, np.array(sets, np.uint64).reshape(len(sets), words)


def words_of(sizes: Sequence[int]) -> int:
    """Words that a set of the bins of any feature takes."""
    return -(-max(sizes) // 64)
