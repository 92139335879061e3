"""``strategy="smallest"``: the fewest leaves that time and queries can vouch for.

Where all inputs can be asked, or a circuit lists its answers, the error of every tree is known: then the optimum is
computed if it can be (`exact.optimum`, `exact.frontier`), else a search goes on from the paper's tree (`descent`), and
what it returns is never larger. Elsewhere a run that prefers leaves certifies a tree first, and the same search looks
for a smaller one that disagrees with it no more than its certificate leaves room for. It may be stopped at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fidelitree.budget import Budget, BudgetSpent
from fidelitree.descent import WIDTHS, Answer, Curve, Descent, Enough
from fidelitree.events import nobody
from fidelitree.exact.diagram import NoDiagramError
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction, free_of_charge
from fidelitree.exact.error import error_inside, labels_inside
from fidelitree.exact.frontier import Frontier, entries
from fidelitree.exact.lattice import Lattice, axes_of
from fidelitree.exact.optimum import Optimum
from fidelitree.exact.paths import disagreement
from fidelitree.exact.subfunction import Subfunction
from fidelitree.learners.labelled import built
from fidelitree.paper import grow_exactly
from fidelitree.region import Region
from fidelitree.result import Distillation
from fidelitree.runs.allknown import distil_exactly
from fidelitree.runs.auto import Outcome
from fidelitree.runs.sealing import Tested, Wanted, exact_certificate
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted
from fidelitree.targets.table import tabulate
from fidelitree.tree import Tree

ASKED = 20_000
"""Queries that may be spent unasked on knowing every input, where an error is allowed."""
_RESTRICTIONS, _ENTRIES = 3**14, 2e7  # for which the optimum is computed at once
_LISTED = 1 << 16  # inputs that are laid out as a grid
_MOST_LEAVES = 1 << 12  # of trees that are searched for
_FIRST = 16
_AIMS = (0.98, 0.9, 0.8, 0.65, 0.5)  # in epsilons: how far a tree that is put to the test may be from the tested one
_BATCH = 200
_ROUNDING = 1e-12


def distil_known(counted: Counted, wanted: Wanted) -> Distillation | None:
    """The smallest tree found where every answer is known; None where that takes too many queries."""
    root = _known(counted, wanted)
    if root is None:
        return None
    epsilon, space = wanted.epsilon or 0.0, counted.space
    best = _optimum(counted, root, epsilon)
    if best is None and space.dtype == np.uint8:
        search = Descent(space, _answer(counted, root), _MOST_LEAVES, epsilon == 0, _end(counted))
        best = min(_descents(search, root, epsilon), key=lambda tree: tree.size, default=None)
        if best is None:  # no time for any search
            best = grow_exactly(counted, root, epsilon, Budget(), nobody).tree
    if best is None or not counted.budget.allows(best.size):
        return distil_exactly(counted, wanted)
    error = 0.0 if epsilon == 0 else error_inside(best, root, space)
    certificate = exact_certificate(counted, best, error, epsilon)
    labels = labels_inside(best, root, space)
    return Distillation(best, certificate, counted.queries, (), space, "certified", leaf_labels=labels)


def _known(counted: Counted, wanted: Wanted) -> Subfunction | None:
    points, limit = counted.space.points, counted.budget.max_queries
    unasked = ENUMERATE_UNASKED if wanted.epsilon == 0 else ASKED
    if not counted.deterministic or wanted.epsilon is None:
        return None
    if not free_of_charge(counted) and (points is None or points > (unasked if limit is None else limit)):
        return None
    try:
        return exact_subfunction(counted, Region.whole(counted.space), points or 0)
    except NoDiagramError:
        return None


def _optimum(counted: Counted, root: Subfunction, epsilon: float) -> Tree | None:
    """The smallest tree of all; None where it would take too long."""
    space = counted.space
    if space.points is None or space.points > _LISTED:
        return None
    answers = counted.labels(tabulate(counted, Region.whole(space)))
    axes, grid = axes_of(space, np.searchsorted(np.array(root.labels), answers))
    if Lattice(axes).restrictions > _RESTRICTIONS:
        return None
    if epsilon == 0:
        return Optimum(axes, grid).tree(space, root.labels)
    most = _FIRST
    while entries(axes, most) <= _ENTRIES:
        frontier = Frontier(axes, grid, most)
        good = np.flatnonzero(frontier.errors <= epsilon + _ROUNDING)
        if len(good):
            return frontier.tree(space, root.labels, int(good[0]) + 1)
        most *= 2
    return None


def _descents(search: Descent, root: Subfunction, epsilon: float) -> Iterator[Tree]:
    """Smaller and smaller trees, until the time is up."""
    least: float = np.inf
    for curve in _curves(search, root):
        good = np.flatnonzero(curve.errors <= epsilon + _ROUNDING)
        if len(good) and good[0] + 1 < least:
            least = int(good[0]) + 1
            yield built(search.space, curve.build(least), root.labels)
            if least <= (len(root.labels) if epsilon == 0 else 1):
                return


def _curves(search: Descent, root: Subfunction) -> Iterator[Curve]:
    """What each search finds that is done in time."""
    whole = Region.whole(search.space)
    with suppress(Enough):
        yield search.curve(root, whole, WIDTHS[0])
        search.look_deeper()
        for widths in WIDTHS:
            yield search.curve(root, whole, widths)


def _end(counted: Counted) -> float | None:
    budget = counted.budget
    return None if budget.max_seconds is None else budget.started + budget.max_seconds


def _answer(counted: Counted, root: Subfunction) -> Answer:
    """Answers that are known already, or free, as places among the labels."""
    labels, free = np.array(root.labels), free_of_charge(counted)

    def answer(inputs: NDArray[np.uint8]) -> NDArray[np.intp]:
        if free:  # a circuit, a table or a tree is read, not asked
            return np.searchsorted(labels, np.asarray(counted.target(counted.space.batch(inputs))))
        return np.searchsorted(labels, counted.labels(counted.complete(inputs, "enumerate")))

    return answer


def shrunk(outcome: Outcome, run: Tested, epsilon: float) -> Outcome:
    """A smaller tree than the outcome's, if answers can vouch for one.

    The tested tree stands for the target: trees that disagree with it little enough are put to the test themselves,
    each with its own share of delta. Meanwhile the tested tree's own bound falls, and leaves more room for others.
    """
    tested, space = outcome.attempt.tree, run.counted.space
    if outcome.error is not None or outcome.error_bound > epsilon or space.dtype != np.uint8 or outcome.tree.size < 3:
        return outcome
    search = _Stand(tested, space, _end(run.counted))
    found = [tree for aim in _AIMS for tree in search.smallest(aim * epsilon) if tree.size < outcome.tree.size]
    for tree in sorted(found, key=lambda tree: tree.size):
        run.attempts.open(tree)
    with suppress(BudgetSpent, KeyboardInterrupt):
        _count(run, outcome.tree.size, epsilon)
    best = outcome
    for attempt in run.attempts.all:
        if attempt.tree.size < best.tree.size and attempt.certifies(epsilon):
            best = Outcome(attempt.tree, attempt, 0.0)
    room = epsilon - outcome.attempt.error_bound
    for tree in search.smallest(room):
        apart = disagreement(tree, tested, space)
        if tree.size < best.tree.size and apart <= room:
            best = replace(outcome, tree=tree, differs=apart)
    return best


def _count(run: Tested, size: int, epsilon: float) -> None:
    """Count answers until the smallest tree under test is certified, none that is smaller has a chance, or enough."""
    counted = run.counted
    limit = counted.budget.max_queries or ASKED
    while counted.asked < limit:
        certified = [one.tree.size for one in run.attempts.all if one.certifies(epsilon)]
        least = min([size, *certified])
        hopeful = [one for one in run.attempts.all if one.tree.size < least and not one.unlucky(epsilon)]
        if not hopeful:
            return
        needed = min(one.needed_for(epsilon) for one in hopeful)
        inner = run.source.test(max(1, min(needed, _BATCH, limit - counted.asked)))
        run.attempts.count(inner, counted.labels(counted.ask(inner, "certify")))


class _Stand:
    """A tested tree in the place of the target: small trees that disagree with it little."""

    def __init__(self, tested: Tree, space: ProductSpace, end: float | None) -> None:
        self._tested, self._space = tested, space
        root = exact_subfunction(Counted(tested, space), Region.whole(space), 0)
        assert root is not None, "a tree is known"
        self._labels = root.labels
        self._curves = list(_curves(Descent(space, self._answer, tested.size, False, end), root))

    def smallest(self, room: float) -> list[Tree]:
        """The smallest that was found, if any."""
        sizes = [np.flatnonzero(curve.errors <= room + _ROUNDING) for curve in self._curves]
        options = [(int(good[0]) + 1, number) for number, good in enumerate(sizes) if len(good)]
        if not options or room < 0:
            return []
        leaves, number = min(options)
        return [built(self._space, self._curves[number].build(leaves), self._labels)]

    def _answer(self, inputs: NDArray[np.uint8]) -> NDArray[np.intp]:
        return np.searchsorted(self._tested.labels, self._tested.predict_inner(inputs))
