"""``strategy="smallest"`` where every answer is known: all inputs can be asked, or a circuit lists them.

Then the error of every tree is known, and searches that ask nothing look for the smallest (`search.optimal`). A time
limit, or Ctrl-C, ends them with the smallest tree so far. Where only some answers are known, see `shrinking`.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted, tabulate
from fidelitree.asking.door import Door
from fidelitree.asking.events import nobody
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.exact.diagram import NoDiagramError
from fidelitree.exact.engine import ENUMERATE_UNASKED, error_inside, exact_subfunction, free_of_charge, labels_inside
from fidelitree.exact.subfunction import Subfunction
from fidelitree.runs.everything import distil_exactly
from fidelitree.runs.issue import Goal, exact_certificate
from fidelitree.runs.result import Distillation
from fidelitree.search.exact_growth import grow_exactly
from fidelitree.search.optimal.affordable import Enough
from fidelitree.search.optimal.solve import KnownFunction
from fidelitree.spaces.region import Region
from fidelitree.trees import nested
from fidelitree.trees.tree import Tree

ASKED = 1 << 15
"""Queries that may be spent unasked on knowing every input, where an error is allowed: 15 bits."""


def distil_known(counted: Counted, goal: Goal) -> Distillation | None:
    """The smallest tree found where every answer is known; None where that takes too many queries, or too long."""
    try:
        root = _known(counted, goal)
    except BudgetSpent:
        return None
    if root is None:
        return None
    best, error = _smallest(counted, root, goal.epsilon or 0.0) or (None, 0.0)
    if best is None or not counted.budget.allows(best.size):
        return distil_exactly(counted, goal)
    certificate = exact_certificate(counted, best, error, goal.epsilon)
    reason = "certified" if certificate.holds else f"max_seconds = {counted.budget.max_seconds}"
    made = Distillation(best, certificate, counted.queries, (), counted.space, reason)
    return made.knowing(labels_inside(best, root, counted.space))


def _known(counted: Counted, goal: Goal) -> Subfunction | None:
    points, limit = counted.space.points, counted.budget.max_queries
    unasked = ENUMERATE_UNASKED if goal.epsilon == 0 else ASKED
    if not counted.deterministic or goal.epsilon is None:
        return None
    if not free_of_charge(counted) and (points is None or points > (unasked if limit is None else limit)):
        return None
    try:
        return exact_subfunction(counted, Region.whole(counted.space), points or 0)
    except NoDiagramError:
        return None


def _smallest(counted: Counted, root: Subfunction, epsilon: float) -> tuple[Tree, float] | None:
    """The smallest tree that was found in time, and its error; where there was no time, the paper's tree so far."""
    best: tuple[Tree, float] | None = None
    space = counted.space
    with suppress(BudgetSpent, Enough, KeyboardInterrupt):
        for found in _function(counted, root).smaller_and_smaller(epsilon):
            tree = nested.build(space, found, root.labels)
            error = error_inside(tree, root, space)
            if error <= epsilon and (best is None or tree.size < best[0].size):
                best = tree, error
    if best is not None or not space.all_bits:
        return best
    paper = grow_exactly(counted, root, epsilon, _a_moment(counted.budget), nobody)
    return paper.tree, paper.error


def _a_moment(budget: Budget) -> Budget:
    """A second more than there was, where there was a limit."""
    if budget.max_seconds is None:
        return Budget()
    return replace(budget, max_queries=None, max_leaves=None, max_seconds=budget.max_seconds + 1)


def _function(counted: Counted, root: Subfunction) -> KnownFunction:
    """What is known already, or free, as places among the labels."""
    labels, free, door = np.array(root.labels), free_of_charge(counted), Door(counted.target, counted.space)

    def answer(inputs: NDArray[np.uint8]) -> NDArray[np.intp]:
        if free:  # a circuit, a table or a tree is read, not asked
            return np.searchsorted(labels, door(inputs))
        return np.searchsorted(labels, counted.labels(counted.complete(inputs, "enumerate")))

    def table() -> NDArray[np.intp]:
        return np.searchsorted(labels, counted.labels(tabulate(counted, Region.whole(counted.space))))

    return KnownFunction(counted.space, root, answer, table, counted)
