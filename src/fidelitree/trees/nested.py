"""Trees in the making: the one form that every search and learner makes, and the way from it to a `Tree`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import Test
from fidelitree.trees.predict import M, Places, leaf_values, route
from fidelitree.trees.tree import Labels, Node, Tree

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.bits import Columns

Nested = int | tuple[Test, "Nested", "Nested"]
"""The code of a label, or (test, no, yes). What is below a node is the node itself."""


def itself(nested: Nested) -> Nested:
    """What is below a node, for `predict`."""
    return nested


def leaf_codes(nested: Nested, passes: Callable[[Test, Places], NDArray[np.bool_]], rows: int) -> Places:
    """The code that each row gets; ``passes`` says which of some rows are on the yes side of a test."""
    return leaf_values(nested, itself, passes, rows)


def leaf_sets(nested: Nested, columns: Columns[M], rows: M) -> Iterator[tuple[int, M]]:
    """The code of each leaf of a tree of bits, with the set of rows that reach it."""
    return route(nested, itself, columns, rows)


def size(nested: Nested) -> int:
    """Number of leaves."""
    leaves, waiting = 1, [nested]
    while waiting:
        node = waiting.pop()
        while isinstance(node, tuple):
            leaves += 1
            waiting.append(node[1])
            node = node[2]
    return leaves


def tested(nested: Nested) -> set[int]:
    """The features that a tree tests."""
    found, waiting = set[int](), [nested]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            found.add(node[0].feature)
            waiting += node[1:]
    return found


def build(
    space: ProductSpace, nested: Nested, labels: Labels | Sequence[Any], places: Sequence[int] | None = None
) -> Tree:
    """The tree; codes are places among the labels, or among ``places``, which are.

    >>> from fidelitree.spaces.features import IsOne
    >>> print(build(ProductSpace.bernoulli(2), (IsOne(1), 0, 1), ["no", "yes"]))
    x1 = 0: no
    x1 = 1: yes
    """
    nodes: list[Node] = []

    def append(part: Nested) -> int:
        place = len(nodes)
        nodes.append(0)
        if isinstance(part, tuple):
            no = append(part[1])
            nodes[place] = (part[0], no, append(part[2]))
        else:
            nodes[place] = int(part if places is None else places[part])
        return place

    append(nested)
    return Tree.build(space, nodes, labels)


def of(tree: Tree, leaf: Callable[[int], Nested] | None = None, node: int = 0) -> Nested:
    """The part of a tree below a node; ``leaf`` says what stands for a leaf, the no side first."""
    inside = tree.nodes[node]
    if not isinstance(inside, tuple):
        return inside if leaf is None else leaf(node)
    test, no, yes = inside
    return test, of(tree, leaf, no), of(tree, leaf, yes)


def mapped(nested: Nested, change: Callable[[Test, Nested, Nested], Nested]) -> Nested:
    """The tree with every split changed, those below it first."""
    if not isinstance(nested, tuple):
        return nested
    return change(nested[0], mapped(nested[1], change), mapped(nested[2], change))


def simplest(nested: Nested) -> Nested:
    """The same tree without splits whose sides are leaves of one label."""
    return mapped(nested, lambda test, no, yes: no if not isinstance(no, tuple) and no == yes else (test, no, yes))
