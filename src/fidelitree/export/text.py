"""A tree as indented text."""

from __future__ import annotations

from fidelitree.trees.tree import Tree, check_tree


def to_text(tree: Tree) -> str:
    """What ``str(tree)`` shows: a line for each side of each test, the label where a path ends.

    Names, categories and labels are quoted where they would mislead, so that a line stays a line.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> print(to_text(Tree.build(ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])), end="")
    x0 = 0: no
    x0 = 1: yes
    """
    check_tree(tree)
    return f"{tree}\n"
