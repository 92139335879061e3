"""A frontier where every answer is known: all inputs can be asked, or a circuit, a table or a tree lists them.

Then nothing is tested, and errors are exact. The least error of every size is computed where that is affordable
(`search.optimal`), and searched for elsewhere.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.asking.counted import Counted, tabulate
from fidelitree.asking.limits import BudgetSpent
from fidelitree.exact.diagram import NoDiagramError
from fidelitree.exact.engine import error_inside, exact_subfunction, free_of_charge, labels_inside
from fidelitree.runs.all_answers import known_function
from fidelitree.runs.goal import exact_certificate
from fidelitree.runs.result import Distillation
from fidelitree.search.labelled import Binning
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.optimal.affordable import LISTED, SearchEnded
from fidelitree.targets.table import enumerate_inputs
from fidelitree.theory.sequential import FRONTIER
from fidelitree.trees import nested

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.trees.tree import Tree

ASKED = 1 << 13  # inputs that are asked without being told to: labels to learn from would be as many
_STEPS = 300
REASON = "every answer is known"


def known_points(counted: Counted, sizes: Sequence[int], seed: int) -> list[Distillation] | None:
    """A point for each size, with its exact error; None where not every answer can be known, or in time."""
    points, limit = counted.space.points, counted.budget.max_queries
    listed = points is not None and points <= (LISTED if free_of_charge(counted) else min(ASKED, limit or ASKED))
    if not (counted.deterministic and listed):
        return None
    counted.reserve = None  # nothing is left to be tested
    try:
        root = exact_subfunction(counted, counted.space.whole, points or 0)
    except (NoDiagramError, BudgetSpent):
        return None
    if root is None:
        return None
    best: dict[int, tuple[float, Tree]] = {}
    with suppress(BudgetSpent, SearchEnded, KeyboardInterrupt):
        for size, tree in _candidates(counted, root, sizes, seed):
            error = error_inside(tree, root, counted.space)
            if size not in best or error < best[size][0]:
                best[size] = error, tree
    return [_result(counted, root, tree, error) for error, tree in best.values()] or None


def _candidates(counted: Counted, root: Subfunction, sizes: Sequence[int], seed: int) -> Iterator[tuple[int, Tree]]:
    """Trees of each size: what a search finds first, so that there is something; then the optimum where it fits."""
    space, whole = counted.space, counted.space.whole
    labels = np.array(root.labels)
    if free_of_charge(counted):
        codes = known_function(counted, root).table()
    else:
        codes = np.searchsorted(labels, counted.labels(tabulate(counted, whole)))
    inner = enumerate_inputs(whole, 0, len(codes))
    chances = space.chances(inner)
    binning, some = Binning.of(space, inner), chances > 0
    refiner = Refiner(binning.coded(codes[some], some, chances[some]), None, seed, counted.watch)
    ranks = range(len(labels))
    yield from ((size, binning.tree(refiner.with_leaves(size).tree, ranks, root.labels)) for size in sizes)
    curve = known_function(counted, root).curve(sizes[-1])
    solved = 0
    if curve is not None:
        solved = len(curve.errors)
        for size in sizes:
            least = curve.first_within(float(curve.errors[min(size, solved) - 1]))
            yield size, nested.build(space, curve.build(least or size), root.labels)
        if curve.errors[-1] <= 0:
            return  # no size can do better
    for size in [size for size in sizes if size > solved and size > 1]:
        if refiner.with_leaves(size).errors > 0:
            refiner.improve_at(size, _STEPS)
        yield size, binning.tree(refiner.with_leaves(size).tree, ranks, root.labels)


def _result(counted: Counted, root: Subfunction, tree: Tree, error: float) -> Distillation:
    certificate = replace(exact_certificate(counted, tree, error, None), ledger=FRONTIER)
    made = Distillation(tree, certificate, counted.queries, (), counted.space, REASON)
    return made.knowing(labels_inside(tree, root, counted.space))
