"""The columns of numbers that a tree of thresholds reads: what scikit-learn and ONNX have in common.

A bit and a number are a column each. Categories have no order, and a library that knows thresholds only cannot ask
``job in {clerk, nurse}``. Of one column for each category it would ask once for each, with a copy of all that follows
every time; of codes once for each gap between them. So every *set* that the tree asks for is a column, 1 inside and 0
outside: the tree keeps its shape, its size and its depth, and a column says what it means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features import IsIn
from fidelitree.trees.tree import Tree, check_tree

Codes = frozenset[int]


@dataclass(frozen=True)
class Column:
    """A feature's inner value, or whether it is one of ``codes``."""

    feature: int
    codes: Codes | None
    name: str


@dataclass(frozen=True)
class MatrixColumns:
    """The columns in the order of their features, and for each node the one that it looks at (-1 at a leaf)."""

    columns: tuple[Column, ...]
    of_node: NDArray[np.int64]

    @classmethod
    def of(cls, tree: Tree) -> MatrixColumns:
        """Every feature has a column, also one that the tree does not ask about."""
        check_tree(tree)
        asked: dict[int, dict[Codes, int]] = {}
        for node, test in sorted(tree.tests.items()):
            if isinstance(test, IsIn):
                asked.setdefault(test.feature, {}).setdefault(test.codes, node)
        columns: list[Column] = []
        for feature, name in enumerate(tree.names):
            sets = asked.get(feature)
            columns += [Column(feature, None, name)] if sets is None else []
            columns += [Column(feature, codes, tree.condition(node)) for codes, node in (sets or {}).items()]
        place = {(column.feature, column.codes): k for k, column in enumerate(columns)}
        nodes = [-1 if i < 0 else place[i, _codes(tree.tests.get(v))] for v, i in enumerate(tree.as_lists[0])]
        return cls(tuple(columns), np.array(nodes, np.int64))


def _codes(test: Any) -> Codes | None:
    return test.codes if isinstance(test, IsIn) else None
