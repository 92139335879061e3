"""A tree while it grows: tests without labels (the paper's bare tree T°)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fidelitree.trees.bits import Columns, Words, everyone
from fidelitree.trees.predict import preorder, route
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.spaces.features import Test
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.region import Region


@dataclass(frozen=True)
class GrowingLeaf:
    """A leaf of a growing tree; ``number`` says when it was made and never changes."""

    number: int
    region: Region
    parent: int | None = None


class GrowingTree:
    """Starts as one leaf; every split replaces a leaf by a test and two new leaves.

    >>> from fidelitree.spaces.features import IsOne
    >>> bare = GrowingTree(ProductSpace.bernoulli(2))
    >>> no, yes = bare.split(0, IsOne(1))
    >>> print(no.region, yes.region, bare.size)
    -0 -1 2
    """

    def __init__(self, space: ProductSpace) -> None:
        self.space = space
        self.leaves: dict[int, GrowingLeaf] = {0: GrowingLeaf(0, space.whole)}
        self._nodes: list[tuple[Test, int, int] | int] = [0]

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @property
    def nodes(self) -> Sequence[tuple[Test, int, int] | int]:
        """Every node by its number: a test with its no and its yes side, or the number of a leaf."""
        return self._nodes

    def split(self, number: int, test: Test) -> tuple[GrowingLeaf, GrowingLeaf]:
        """Replace a leaf by a test; the new leaves are numbered in order, no before yes."""
        regions = self.leaves[number].region.split(test)
        del self.leaves[number]
        made = len(self._nodes)
        no, yes = (GrowingLeaf(made + side, region, number) for side, region in enumerate(regions))
        self.leaves[no.number], self.leaves[yes.number] = no, yes
        self._nodes += [no.number, yes.number]
        self._nodes[number] = test, no.number, yes.number
        return no, yes

    def test(self, number: int) -> Test:
        """The test that replaced a leaf."""
        inside = self._nodes[number]
        assert isinstance(inside, tuple), "a leaf asks nothing"
        return inside[0]

    def cut(self, known: Container[int]) -> list[int]:
        """The nodes at which the tree ends when every path ends at its first known node.

        A split that was interrupted, or that nobody has judged yet, is cut off in this way.
        """
        nodes = [node if node in known else inside for node, inside in enumerate(self._nodes)]
        return [node for node in preorder(nodes) if not isinstance(nodes[node], tuple)]

    def route(self, columns: Columns[Words], rows: int) -> Iterator[tuple[int, Words]]:
        """Each leaf's number with the set of rows that reach it, where all features are bits."""
        return route(0, self._nodes.__getitem__, columns, everyone(rows))

    def complete(self, codes: Mapping[int, int], labels: Sequence[Any]) -> Tree:
        """The tree with these labels: ``codes`` gives each leaf's position in ``labels``; what has a code is a leaf."""
        return Tree.build(self.space, [codes.get(node, inside) for node, inside in enumerate(self._nodes)], labels)
