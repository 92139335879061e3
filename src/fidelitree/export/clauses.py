"""A tree as a list of guard clauses: what the languages with ``if`` and ``CASE`` have in common.

At every test the smaller side is indented and ends in an answer; the larger side follows at the same depth, because
whoever gets there was not on the smaller one. So a chain of a thousand tests is a flat list of a thousand clauses, and
no tree of n leaves is nested deeper than log2 n: parsers, compilers and databases have limits for that, and none for
the length of a list.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.trees.answers import upwards

if TYPE_CHECKING:
    from fidelitree.spaces.features import AtMost
    from fidelitree.trees.tree import Tree

_LONGEST = 40


@dataclass(frozen=True)
class Clause:
    """One line: the test of a node and the side of it that the indented lines are about, or the answer of a leaf.

    ``yes`` is None at a leaf, which ends its block. ``first`` says that the clause begins a block.
    """

    depth: int
    node: int
    yes: bool | None
    first: bool


def clauses(tree: Tree) -> Iterator[Clause]:
    """The clauses in the order in which they are written.

    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace.bernoulli(2)
    >>> for c in clauses(Tree.build(space, [(0, 1, 2), 0, (1, 3, 4), 1, 0], [0, 1])):
    ...     print("    " * c.depth + (f"answer of {c.node}" if c.yes is None else f"test of {c.node}: {c.yes}"))
    test of 0: False
        answer of 1
    test of 2: True
        answer of 4
    answer of 3
    """
    _, no, yes, _ = tree.as_lists
    size: list[int] = upwards(tree, np.ones(tree.size, np.intp)).tolist()
    waiting = [(0, 0, True)]
    while waiting:
        node, depth, first = waiting.pop()
        if no[node] < 0:
            yield Clause(depth, node, None, first)
            continue
        side = size[yes[node]] <= size[no[node]]
        small, large = (yes[node], no[node]) if side else (no[node], yes[node])
        yield Clause(depth, node, side, first)
        waiting += [(large, depth, False), (small, depth + 1, True)]


def threshold(test: AtMost, yes: bool, name: str, number: Callable[[float], str], negation: str) -> str:
    """One side of a threshold, where NaN stands for a missing number: no comparison with it is true.

    >>> from fidelitree.spaces.features import AtMost
    >>> threshold(AtMost(0, 32.5, missing=True), True, "age", repr, "not ")
    'not (age > 32.5)'
    """
    if test.cut == math.inf:
        return f"{name} {'==' if yes else '!='} {name}"
    if test.missing is yes:
        return f"{negation}({name} {'>' if yes else '<='} {number(float(test.cut))})"
    return f"{name} {'<=' if yes else '>'} {number(float(test.cut))}"


def identifiers(names: Sequence[str], taken: Collection[str]) -> list[str]:
    """A different identifier for each name, in ASCII, none of them ``taken``.

    >>> identifiers(["age", "marital status", "class", "3rd", "marital-status", "年齢"], {"class"})
    ['age', 'marital_status', 'class_2', 'x_3rd', 'marital_status_2', 'x5']
    """
    used, found = set(taken), []
    for place, name in enumerate(names):
        stem = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", name))[:_LONGEST].strip("_")
        if not stem:
            stem = f"x{place}"
        elif not stem[0].isalpha():
            stem = f"x_{stem}"
        mine, turn = stem, 2
        while mine in used:
            mine, turn = f"{stem}_{turn}", turn + 1
        used.add(mine)
        found.append(mine)
    return found


def is_identifier(name: object) -> bool:
    """Whether a name can be a function's as it is."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
