"""A tree in the language of Graphviz, and as a drawing that needs no other program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fidelitree.display.wording import shown
from fidelitree.trees.rules import node_shares
from fidelitree.trees.tree import Tree, check_tree

if TYPE_CHECKING:
    from fidelitree.spaces.world import World


def to_dot(tree: Tree) -> str:
    """A directed graph: boxes ask, rounded boxes answer, edges say yes or no.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> print(to_dot(Tree.build(ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])), end="")
    digraph tree {
        graph [ordering="out"];
        node [shape="box", fontname="sans-serif"];
        edge [fontname="sans-serif"];
        n0 [label="x0 = 1"];
        n1 [label="no", style="rounded"];
        n2 [label="yes", style="rounded"];
        n0 -> n1 [label="no"];
        n0 -> n2 [label="yes"];
    }
    """
    check_tree(tree)
    font = 'fontname="sans-serif"'
    lines = ["digraph tree {", '    graph [ordering="out"];', f'    node [shape="box", {font}];', f"    edge [{font}];"]
    _, no, yes, _ = tree.as_lists
    for node, child in enumerate(no):
        text, style = (tree.condition(node), "") if child >= 0 else (shown(tree.label(node)), ', style="rounded"')
        lines.append(f"    n{node} [label={_quoted(text)}{style}];")
    for node, child in enumerate(no):
        if child >= 0:
            lines += [f'    n{node} -> n{child} [label="no"];', f'    n{node} -> n{yes[node]} [label="yes"];']
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A quoted string; a backslash would begin one of Graphviz's own escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def to_svg(tree: Tree, space: World | None = None) -> str:
    """The tree from left to right, yes above no; with a ``space``, thicker lines carry more inputs.

    Long conditions are cut short, and shown in full by the pointer. The text is an element that HTML can hold as it is,
    and a file of its own.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> tree = Tree.build(ProductSpace.bernoulli(1), [(0, 1, 2), 0, 1], ["no", "yes"])
    >>> to_svg(tree).splitlines()[1]
    '<title>Decision tree of 2 leaves</title>'
    """
    check_tree(tree)
    return tree.to_svg(None if space is None else node_shares(tree, space))
