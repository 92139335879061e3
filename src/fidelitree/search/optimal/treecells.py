"""A tree as a function over the cells that its tests make: all that another tree would have to tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fidelitree.exact.cells import Cells
from fidelitree.search.optimal.affordable import CELLS, SETS
from fidelitree.search.optimal.lattice import Axis, Cell, Codes
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Tree


def cells_of(tree: Tree, space: ProductSpace) -> tuple[list[Axis], Codes] | None:
    """The features that a tree tests, and its label codes over their cells, one axis each; None where they are many.

    Cells that are never drawn are left out.
    """
    inner = np.zeros((1, len(space)), space.dtype)
    axes: list[Axis] = []
    columns: list[tuple[int, Sequence[float]]] = []
    for i, feature in enumerate(space):
        tests = [tree.test(int(node)) for node in np.flatnonzero(tree.feature == i)]
        cells = _drawn(Cells.of_tests(i, feature, None, tests)) if tests else []
        if len(cells) > 1:
            if feature.kind == "categorical" and len(cells) > SETS:
                return None
            axes.append(Axis(i, feature.kind, cells))
            columns.append((i, [cell.values[-1] for cell in cells]))
        elif cells:
            inner[0, i] = cells[0].values[-1]
    shape = [len(values) for _, values in columns]
    if math.prod(shape) > CELLS:
        return None
    inner = np.repeat(inner, math.prod(shape), axis=0)
    for (i, values), places in zip(columns, np.indices(shape).reshape(len(shape), math.prod(shape)), strict=True):
        inner[:, i] = np.array(values)[places]
    codes = np.searchsorted(tree.labels, tree.predict_inner(inner))
    return axes, codes.reshape(shape)


def _drawn(cells: Cells) -> list[Cell]:
    """Cells with a probability, in order; the last of a cell's values is one that it holds."""
    found = zip(cells.parts, cells.shares.tolist(), strict=True)
    drawn = [(part, share) for part, share in found if share > 0]
    if cells.kind == "categorical":
        return [Cell(tuple(map(float, sorted(part))), share) for part, share in drawn]
    drawn.sort()
    if cells.kind == "boolean":
        return [Cell((float(part),), share) for part, share in drawn]
    return [
        Cell((low, high if math.isfinite(high) else math.nextafter(low, high)), share) for (low, high), share in drawn
    ]
