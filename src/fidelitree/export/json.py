"""A tree as JSON: the file that `Tree.save` writes and `Tree.load` reads."""

from __future__ import annotations

from fidelitree.trees.tree import Tree, check_tree


def to_json(tree: Tree) -> str:
    """Plain data under a versioned schema, cuts as exact hexadecimal floats; `Tree.load` reads the file.

    >>> import json
    >>> from fidelitree.spaces.product import ProductSpace
    >>> tree = Tree.build(ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])
    >>> json.loads(to_json(tree))["nodes"]
    [{'test': {'feature': 0, 'is': 1}, 'no': 1, 'yes': 2}, {'label': 0}, {'label': 1}]
    """
    check_tree(tree)
    return tree.to_json()
