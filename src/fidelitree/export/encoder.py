"""The columns of numbers that a tree of thresholds reads: what scikit-learn and ONNX have in common.

A bit and a number are a column each. Categories have no order, and a library that knows thresholds only cannot ask
``job in {clerk, nurse}``. Of one column for each category it would ask once for each, with a copy of all that follows
every time; of codes once for each gap between them. So every *set* that the tree asks for is a column, 1 inside and 0
outside: the tree keeps its shape, its size and its depth, and a column says what it means.

scikit-learn rounds inputs to 32 bits before it compares them, so 0.1 and its neighbour are the same number to it. The
largest 32-bit float up to a cut takes the cut's place, and a number that rounding would carry to the other side becomes
the nearest one that stays on its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError
from fidelitree.spaces.features import AtMost, IsIn, short
from fidelitree.trees.tree import Tree, check_tree

Codes = frozenset[int]
Singles = NDArray[np.float32]
_MOST = float(np.finfo(np.float32).max)


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
        nodes = [
            -1 if i < 0 else place[i, getattr(tree.tests.get(v), "codes", None)] for v, i in enumerate(tree.as_lists[0])
        ]
        return cls(tuple(columns), np.array(nodes, np.int64))


@dataclass(frozen=True)
class _Cuts:
    """The cuts of one feature, increasing, and the 32-bit floats in their places."""

    exact: NDArray[np.float64]
    single: Singles

    def snap(self, numbers: NDArray[np.float64]) -> Singles:
        """The nearest 32-bit float on the same side of every cut."""
        nearest = np.clip(numbers, -_MOST, _MOST).astype(np.float32)
        above = np.nextafter(self.single, np.float32(np.inf))
        lows = np.concatenate([[np.float32(-_MOST)], above])
        highs = np.concatenate([self.single, [np.float32(_MOST)]])
        between = np.searchsorted(self.exact, numbers, side="left").clip(max=len(self.exact))
        return np.asarray(np.clip(nearest, lows[between], highs[between]))  # a missing number stays one


class Encoder:
    """Turns inputs of any form that `Tree.predict` takes into the columns of `to_sklearn`'s tree.

    ``names`` says what each column is: a feature, or a set of its categories, which is 1 inside and 0 outside.

    >>> from fidelitree.spaces.features import Categorical, Numeric
    >>> from fidelitree.spaces.product import ProductSpace
    >>> space = ProductSpace([Categorical("job", ["clerk", "nurse", "pilot"]), Numeric("age", 18, 90)])
    >>> nodes = [(IsIn(0, frozenset({0, 1})), 1, 2), 0, (AtMost(1, 30.0), 3, 4), 0, 1]
    >>> encoder = Encoder(Tree.build(space, nodes, [0, 1]))
    >>> encoder.names, encoder.transform({"job": ["pilot", "nurse"], "age": [20, 64]}).tolist()
    (('job in {clerk, nurse}', 'age'), [[0.0, 20.0], [1.0, 64.0]])
    """

    def __init__(self, tree: Tree) -> None:
        self._tree, self._columns = tree, MatrixColumns.of(tree)
        self.names: tuple[str, ...] = tuple(column.name for column in self._columns.columns)
        self._cuts: Mapping[int, _Cuts] = _all_cuts(tree)

    def transform(self, inputs: Any) -> Singles:
        """Rows by columns."""
        return self.transform_inner(self._tree.encode(inputs))

    def transform_inner(self, inner: NDArray[Any]) -> Singles:
        """The same for inner values, as a space draws and encodes them."""
        out = np.empty((len(inner), len(self.names)), np.float32)
        for place, column in enumerate(self._columns.columns):
            given = inner[:, column.feature]
            if column.codes is not None:
                out[:, place] = IsIn(column.feature, column.codes).answers(given)
            elif column.feature in self._cuts:
                out[:, place] = self._cuts[column.feature].snap(given)
            else:
                out[:, place] = np.clip(given, -_MOST, _MOST)
        return out

    def thresholds(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """For each node its column and threshold; -1 and 0 at a leaf."""
        found = np.where(self._columns.of_node < 0, 0.0, 0.5)
        for node, test in self._tree.tests.items():
            if isinstance(test, AtMost) and test.cut == math.inf:
                found[node] = math.inf  # scikit-learn's own way to ask whether a number is missing
            elif isinstance(test, AtMost):
                cuts = self._cuts[test.feature]
                found[node] = cuts.single[np.searchsorted(cuts.exact, test.cut)]
        return self._columns.of_node, found


def _all_cuts(tree: Tree) -> dict[int, _Cuts]:
    found: dict[int, set[float]] = {}
    for test in tree.tests.values():
        if isinstance(test, AtMost) and test.cut < math.inf:
            found.setdefault(test.feature, set()).add(float(test.cut))
    return {feature: _in_singles(tree.names[feature], sorted(cuts)) for feature, cuts in found.items()}


def _in_singles(name: str, cuts: list[float]) -> _Cuts:
    exact = np.array(cuts)
    if not (cuts[0] >= -_MOST and cuts[-1] < _MOST):
        wrong = cuts[0] if cuts[0] < -_MOST else cuts[-1]
        raise ParameterError(
            f"cuts of feature {name!r} must be 32-bit floats for scikit-learn; got {short(wrong)} - other formats keep "
            f"64 bits"
        )
    single = exact.astype(np.float32)
    single = np.where(single > exact, np.nextafter(single, np.float32(-np.inf)), single)
    same = np.flatnonzero(single[1:] == single[:-1])
    if len(same):
        one, two = cuts[same[0]], cuts[same[0] + 1]
        raise ParameterError(
            f"cuts of feature {name!r} must differ in 32 bits for scikit-learn; got {short(one)} and {short(two)}, and "
            f"no 32-bit float between them - other formats keep 64 bits"
        )
    return _Cuts(exact, single)
