"""A tree as a drawing that needs no other program."""

from __future__ import annotations

from fidelitree.export.rules import reach
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import Rows
from fidelitree.trees.tree import Tree, check_tree


def to_svg(tree: Tree, space: ProductSpace | Rows | None = None) -> str:
    """The tree from left to right, yes above no; with a ``space``, lines are as thick as inputs take them often.

    Long conditions are cut short, and shown in full by the pointer. The text is an element that HTML can hold as it is,
    and a file of its own.

    >>> tree = Tree.build(ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])
    >>> to_svg(tree).splitlines()[1]
    '<title>Decision tree of 2 leaves</title>'
    """
    check_tree(tree)
    return tree.to_svg(None if space is None else reach(tree, space))
