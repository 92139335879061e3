"""A tree as indented text, as rules, and as JSON: the file that `Tree.save` writes and `Tree.load` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.trees.tree import Tree, check_tree

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.trees.answers import Answers
    from fidelitree.trees.rules import Rules


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


def to_rules(tree: Tree, space: World | None = None, answers: Answers | None = None) -> Rules:
    """The rules of a tree, in the order of its leaves: `Tree.rules`.

    ``space`` (a result's ``space``) adds how often each rule holds; ``answers`` (a result's ``answers``) how often the
    target agreed where it did.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> tree = Tree.build(ProductSpace.bernoulli(2, 0.1), [(0, 1, 2), 0, (1, 3, 4), 0, 1], ["no", "yes"])
    >>> print(to_rules(tree, ProductSpace.bernoulli(2, 0.1)))
    If x0 = 0 then no (reached by 90% of inputs).
    If x0 = 1 and x1 = 0 then no (reached by 9% of inputs).
    If x0 = 1 and x1 = 1 then yes (reached by 1% of inputs).
    """
    check_tree(tree)
    return tree.rules(space, answers)
