"""Trees while they are searched: each node keeps its rows, so a change is judged where it happens.

Nodes are never changed: a new subtree means new nodes on the path to the root and nowhere else, so a tree that was
good once can be kept for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from fidelitree.search.local.coded import Floats
from fidelitree.search.local.grouped import Rows
from fidelitree.spaces.features import Test
from fidelitree.trees.nested import Nested


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """Rows that get one label."""

    rows: Rows
    counts: Floats
    errors: float
    leaves: int = 1

    @property
    def code(self) -> int:
        """The label: the heaviest, the first among equals."""
        return int(self.counts.argmax())


@dataclass(frozen=True, eq=False, slots=True)
class Split:
    """Rows divided by a test."""

    rows: Rows
    counts: Floats
    errors: float
    leaves: int
    test: Test
    no: Node
    yes: Node


Node = Leaf | Split
Shape = Node | int | tuple[Test, "Shape", "Shape"]
"""A tree with its rows, without them, or a test above such trees."""


def leaf(rows: Rows, counts: Floats) -> Leaf:
    """A leaf for these rows."""
    return Leaf(rows, counts, float(counts.sum() - counts.max()))


def split(rows: Rows, counts: Floats, test: Test, sides: tuple[Node, Node]) -> Split:
    """A node with these sides."""
    no, yes = sides
    return Split(rows, counts, no.errors + yes.errors, no.leaves + yes.leaves, test, no, yes)


def nested(node: Node) -> Nested:
    """The tree without its rows."""
    return node.code if isinstance(node, Leaf) else (node.test, nested(node.no), nested(node.yes))


def below(tree: Shape) -> tuple[Test, Shape, Shape] | int:
    """Test and both sides of a tree with or without rows; the code of a leaf."""
    if isinstance(tree, Split):
        return tree.test, tree.no, tree.yes
    return tree.code if isinstance(tree, Leaf) else tree


def replace(node: Node, path: list[bool], new: Node) -> Node:
    """The tree with another subtree at the end of a path (True is yes)."""
    if not path:
        return new
    assert isinstance(node, Split)
    no, yes = node.no, node.yes
    sides = (no, replace(yes, path[1:], new)) if path[0] else (replace(no, path[1:], new), yes)
    return split(node.rows, node.counts, node.test, sides)


def inner(node: Node, number: int) -> tuple[list[bool], Split]:
    """The path to an inner node, numbered from 0 in preorder, and the node."""
    path: list[bool] = []
    while True:
        assert isinstance(node, Split)
        if number == 0:
            return path, node
        number -= 1
        here = node.no.leaves - 1
        path.append(number >= here)
        node, number = (node.yes, number - here) if number >= here else (node.no, number)
