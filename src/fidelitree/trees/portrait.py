"""A tree as a drawing needs it, and one input as a batch: what stands between a tree and its users."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.drawing import Sketch, draw_tree
from fidelitree.display.wording import leaves, shown
from fidelitree.errors import ParameterError
from fidelitree.spaces.features import AtMost

if TYPE_CHECKING:
    from fidelitree.trees.tree import Tree

_NAMED = 12  # features in the description of a drawing
_MOST_DRAWN = 300  # leaves of a tree that a notebook shows without being asked


def sketched(tree: Tree, share: Sequence[float] | None = None, wrong: Sequence[float] | None = None) -> Sketch:
    """What to draw; cuts have six digits, and all of them where the pointer is."""
    _, no, yes, code = tree.as_lists
    text = [tree.condition(node) if no[node] >= 0 else shown(tree.label(node)) for node in range(len(no))]
    brief = {
        node: f"{shown(tree.names[test.feature])} <= {test.cut:.6g}{' or missing' * bool(test.missing)}"
        for node, test in tree.tests.items()
        if isinstance(test, AtMost) and test.cut < math.inf
    }
    return Sketch(no, yes, text, code, brief, share, wrong)


def drawn(tree: Tree, share: Sequence[float] | None, wrong: Sequence[float] | None) -> str:
    """As SVG, with words for those who do not see it."""
    used = [shown(tree.names[i]) for i in sorted(set(tree.as_lists[0]) - {-1})]
    asked = ", ".join(used[:_NAMED]) + (", ..." if len(used) > _NAMED else "")
    about = f"{f'It asks about {asked}' if asked else 'It asks nothing'}, at most {tree.depth} tests deep"
    told = f"{about}. Upper branches are yes, lower ones no."
    return draw_tree(sketched(tree, share, wrong), f"Decision tree of {leaves(tree.size)}", told)


def in_notebook(tree: Tree) -> str:
    """A drawing; text where it would be very long."""
    if tree.size > _MOST_DRAWN:
        return f"<pre>{escape(repr(tree))}: export.to_svg draws it, export.to_text writes it</pre>"
    return f'<div style="overflow:auto;max-height:40em">{tree.to_svg()}</div>'


def one_row(row: Any) -> Any:
    """A batch of one input; a table stays as it is.

    >>> one_row({"age": 30, "job": "nurse"}), one_row([1, 0])
    ({'age': [30], 'job': ['nurse']}, array([[1, 0]]))
    """
    if getattr(row, "ndim", None) == 1 and callable(getattr(row, "to_dict", None)):  # a row of a pandas table
        row = row.to_dict()
    if isinstance(row, Mapping):
        return {name: [value] if np.ndim(value) == 0 else value for name, value in row.items()}
    flat = isinstance(row, (Sequence, np.ndarray)) and np.ndim(np.asarray(row, object)) == 1
    return np.asarray(row)[None] if flat else row


def only(leaves_reached: NDArray[np.intp]) -> int:
    """The leaf of the only row; more than one is refused."""
    if len(leaves_reached) != 1:
        raise ParameterError(f"row must be a single input; got {len(leaves_reached)} - predict takes many")
    return int(leaves_reached[0])


def lines_of(tree: Tree) -> Iterator[str]:
    """A tree as text, a line for each node but the first."""
    if tree.size == 1:
        yield shown(tree.label(0))
        return
    waiting = [(side, 0) for side in _sides(tree, 0)]
    while waiting:
        (child, condition), depth = waiting.pop()
        leaf = tree.feature[child] < 0
        yield "    " * depth + condition + (f": {shown(tree.label(child))}" if leaf else "")
        if not leaf:
            waiting += [(side, depth + 1) for side in _sides(tree, child)]


def _sides(tree: Tree, node: int) -> list[tuple[int, str]]:
    # Taken from the end: 0 before 1, but "at most" before "above" and "in" before "not in".
    sides = [(tree.yes, True), (tree.no, False)]
    if node in tree.tests:
        sides.reverse()
    return [(int(child[node]), tree.condition(node, yes)) for child, yes in sides]
