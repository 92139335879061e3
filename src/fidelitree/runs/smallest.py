"""``strategy="smallest"`` where every answer is known: all inputs can be asked, or a circuit lists them.

Then the error of every tree is known. The optimum is computed if it can be, by a dynamic program over all restrictions
(`exact.optimum`, `exact.frontier`) or, for circuits of more inputs, by branch and bound (`exact.branching`); else a
search goes on from the paper's tree (`descent`), and what it returns is never larger. A time limit, or Ctrl-C, ends
all of this with the smallest tree so far. Where only some answers are known, see `shrinking`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.asking.door import Door
from fidelitree.asking.events import nobody
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.asking.tabulate import tabulate
from fidelitree.exact.branching import Branching
from fidelitree.exact.diagram import DiagramSubfunction, NoDiagramError
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction, free_of_charge
from fidelitree.exact.error import error_inside, labels_inside
from fidelitree.exact.frontier import Frontier, entries
from fidelitree.exact.functions import Functions
from fidelitree.exact.lattice import Lattice, axes_of
from fidelitree.exact.optimum import Optimum
from fidelitree.exact.subfunction import Subfunction
from fidelitree.runs.everything import distil_exactly
from fidelitree.runs.issue import Goal, exact_certificate
from fidelitree.runs.paper import grow_exactly
from fidelitree.runs.result import Distillation
from fidelitree.search.descent import Answer, Descent, Enough
from fidelitree.spaces.region import Region
from fidelitree.trees.nested import build, simplest
from fidelitree.trees.tree import Tree

ASKED = 1 << 15
"""Queries that may be spent unasked on knowing every input, where an error is allowed: 15 bits."""
BRANCHES = 100_000
"""Functions that branch and bound looks into where no time is given: ten seconds or less."""
_RESTRICTIONS, _ENTRIES = 3**14, 2e7  # for which the optimum is computed at once
_LISTED = 1 << 16  # inputs that are laid out as a grid
_MOST_LEAVES = 1 << 12  # of trees that are searched for
_FUNCTIONS = 1 << 20  # that branch and bound may hold: about 500 MB
_BITS, _HOPELESS = 64, 1_000  # bits, and leaves of the first tree: with more it is not begun
_FIRST = 16
_ROUNDING = 1e-12


def distil_known(counted: Counted, goal: Goal) -> Distillation | None:
    """The smallest tree found where every answer is known; None where that takes too many queries, or too long."""
    try:
        root = _known(counted, goal)
    except BudgetSpent:
        return None
    if root is None:
        return None
    space, known = counted.space, _Known(counted, root, goal.epsilon or 0.0)
    found = _smallest(known)
    if found is None or not counted.budget.allows(found[0].size):
        return distil_exactly(counted, goal)
    best, error = found
    certificate = exact_certificate(counted, best, error, goal.epsilon)
    reason = "certified" if certificate.holds else f"max_seconds = {counted.budget.max_seconds}"
    made = Distillation(best, certificate, counted.queries, (), space, reason)
    return made.knowing(labels_inside(best, root, space))


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


@dataclass(frozen=True)
class _Known:
    """A target whose answers are all known, and the error that is allowed."""

    counted: Counted
    root: Subfunction
    epsilon: float

    def codes(self) -> NDArray[np.intp]:
        """All answers as places among the labels, in truth-table order."""
        answers = self.counted.labels(tabulate(self.counted, Region.whole(self.counted.space)))
        return np.searchsorted(np.array(self.root.labels), answers)

    def watch(self) -> None:
        """Ends a search when the time is up."""
        if self.counted.over():
            raise Enough


def _smallest(known: _Known) -> tuple[Tree, float] | None:
    """The smallest tree that was found in time, and its error; where there was no time, the paper's tree so far."""
    best: tuple[Tree, float] | None = None
    bits = known.counted.space.all_bits
    with suppress(BudgetSpent, Enough, KeyboardInterrupt):
        for tree in _found(known, bits):
            error = error_inside(tree, known.root, known.counted.space)
            if error <= known.epsilon and (best is None or tree.size < best[0].size):
                best = tree, error
    if best is not None:
        return best
    if not bits:
        return None
    paper = grow_exactly(known.counted, known.root, known.epsilon, _a_moment(known.counted.budget), nobody)
    return paper.tree, paper.certificate.error_bound


def _a_moment(budget: Budget) -> Budget:
    """A second more than there was, where there was a limit."""
    if budget.max_seconds is None:
        return Budget()
    return replace(budget, max_queries=None, max_leaves=None, max_seconds=budget.max_seconds + 1)


def _found(known: _Known, bits: bool) -> Iterator[Tree]:
    """Smaller and smaller trees."""
    searched = _searched(known) if bits else iter(())
    if known.counted.budget.max_seconds is not None:
        yield from _there(islice(searched, 1))  # something to show when the time is up
    best = _optimum(known)
    if best is not None:
        yield best
    else:
        yield from _there(searched)


def _there(trees: Iterable[Tree | None]) -> Iterator[Tree]:
    return (tree for tree in trees if tree is not None)


def _optimum(known: _Known) -> Tree | None:
    """The smallest tree of all; None where it would take too long."""
    space, labels = known.counted.space, known.root.labels
    if space.points is None or space.points > _LISTED:
        return None
    axes, grid = axes_of(space, known.codes())
    if Lattice(axes).restrictions > _RESTRICTIONS:
        return None
    if known.epsilon == 0:
        return Optimum(axes, grid, watch=known.watch).tree(space, labels)
    most = _FIRST
    while entries(axes, most) <= _ENTRIES:
        frontier = Frontier(axes, grid, most, watch=known.watch)
        good = np.flatnonzero(frontier.errors <= known.epsilon + _ROUNDING)
        if len(good):
            return frontier.tree(space, labels, int(good[0]) + 1)
        most *= 2
    return None


def _searched(known: _Known) -> Iterator[Tree | None]:
    """What each search from the paper's tree down finds; after the first the optimum, if branch and bound gets there.

    None where a search found nothing smaller.
    """
    space, labels, exact = known.counted.space, known.root.labels, known.epsilon == 0
    search = Descent(space, _answer(known.counted, known.root), _MOST_LEAVES, exact, known.counted.budget)
    search.over = known.counted.over
    branches, least = _Branches(known), 1 << 62
    for curve in search.curves(known.root, known.epsilon):
        leaves = curve.first_within(known.epsilon)
        if leaves is not None and leaves < least:
            least = leaves
            yield build(space, simplest(curve.build(leaves)), labels)
        else:
            yield None
        if least <= (len(labels) if exact else 1):
            return
        if exact and not branches.begun:
            yield from branches.trees(least)
        if branches.done:
            return


class _Branches:
    """Branch and bound for as long as it may take: half of the time that is left, or a number of steps."""

    def __init__(self, known: _Known) -> None:
        self._known, self._steps, self._until = known, 0, 0.0
        self._functions: Functions | None = None
        self.begun = self.done = False

    def trees(self, least: int) -> Iterator[Tree]:
        """The best tree that has fewer leaves, if one is found; ``done`` says whether none can be smaller."""
        root, space = self._known.root, self._known.counted.space
        self.begun = True
        if least > _HOPELESS:
            return
        if isinstance(root, DiagramSubfunction):
            functions, number = Functions.of_diagram(root)
        elif space.points is not None and space.points <= _LISTED:
            functions, number = Functions.of_table(self._known.codes(), len(root.labels))
        else:
            return
        for level, bias in enumerate(space.biases[functions.order].tolist()):
            if bias in (0, 1):  # the other value is never drawn
                number = functions.fixed(number, level, int(bias))
        if functions.support[number].bit_count() > _BITS:
            return
        self._functions, self._until = functions, (1 + self._known.counted.budget.gone) / 2
        branching = Branching(functions, self._watch)
        with suppress(Enough):
            branching.search(number, least)
            self.done = True
        nested = branching.nested(number)
        if nested is not None:
            yield build(space, simplest(nested), root.labels)

    def _watch(self) -> None:
        budget, self._steps = self._known.counted.budget, self._steps + 1
        counted = self._known.counted
        late = self._steps > BRANCHES if budget.max_seconds is None else counted.over(self._until)
        if late or len(self._functions or ()) > _FUNCTIONS:
            raise Enough


def _answer(counted: Counted, root: Subfunction) -> Answer:
    """Answers that are known already, or free, as places among the labels."""
    labels, free, door = np.array(root.labels), free_of_charge(counted), Door(counted.target, counted.space)

    def answer(inputs: NDArray[np.uint8]) -> NDArray[np.intp]:
        if free:  # a circuit, a table or a tree is read, not asked
            return np.searchsorted(labels, door(inputs))
        return np.searchsorted(labels, counted.labels(counted.complete(inputs, "enumerate")))

    return answer
