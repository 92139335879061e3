"""Bare trees: the tree while it grows, tests without labels (the paper's T°)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fidelitree.bits import Columns, Words, everyone, route
from fidelitree.features import Test
from fidelitree.region import Region
from fidelitree.space import ProductSpace
from fidelitree.tree import Tree


@dataclass(frozen=True)
class Leaf:
    """A leaf of a bare tree; ``number`` says when it was made and never changes."""

    number: int
    region: Region
    parent: int | None = None


class BareTree:
    """Starts as one leaf; every split replaces a leaf by a test and two new leaves.

    >>> from fidelitree.features import IsOne
    >>> bare = BareTree(ProductSpace.bernoulli(2))
    >>> no, yes = bare.split(0, IsOne(1))
    >>> print(no.region, yes.region, bare.size)
    -0 -1 2
    """

    def __init__(self, space: ProductSpace) -> None:
        self.space = space
        self.leaves: dict[int, Leaf] = {0: Leaf(0, Region.whole(space))}
        self._feature, self._no, self._yes = [-1], [-1], [-1]
        self._replaced: list[Leaf] = []

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    def split(self, number: int, test: Test) -> tuple[Leaf, Leaf]:
        """Replace a leaf by a test; the new leaves are numbered in order, no before yes."""
        regions = self.leaves[number].region.split(test)
        self._replaced.append(self.leaves.pop(number))
        made = len(self._feature)
        no, yes = (Leaf(made + side, region, number) for side, region in enumerate(regions))
        self.leaves[no.number], self.leaves[yes.number] = no, yes
        self._feature[number], self._no[number], self._yes[number] = test.feature, no.number, yes.number
        for column in (self._feature, self._no, self._yes):
            column += [-1, -1]
        return no, yes

    def undo(self) -> None:
        """Take the last split back."""
        leaf = self._replaced.pop()
        for child in (self._no[leaf.number], self._yes[leaf.number]):
            del self.leaves[child]
        self.leaves[leaf.number] = leaf
        for column in (self._feature, self._no, self._yes):
            column[leaf.number] = -1
            del column[-2:]

    def route(self, columns: Columns, rows: int) -> Iterator[tuple[int, Words]]:
        """Each leaf's number with the set of rows that reach it."""
        return route((self._feature, self._no, self._yes), columns, everyone(rows))

    def complete(self, codes: Mapping[int, int], labels: Sequence[Any]) -> Tree:
        """The tree with these labels: ``codes`` gives each leaf's position in ``labels``."""
        nodes = [
            codes[node] if feature < 0 else (feature, self._no[node], self._yes[node])
            for node, feature in enumerate(self._feature)
        ]
        return Tree.build(self.space, nodes, labels)
