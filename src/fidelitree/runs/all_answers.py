"""Runs that end by knowing the answer to every input: all can be asked, or a circuit lists them.

Their error is exact. Under ``strategy="smallest"`` searches that ask nothing look for the smallest tree
(`search.optimal`). A time limit, or Ctrl-C, ends them with the smallest tree so far. For a frontier,
the least error of every size is computed where that is affordable, and searched for elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted, tabulate
from fidelitree.asking.events import TreeJudged, nobody
from fidelitree.asking.guarded import GuardedTarget
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.errors import NoDiagramError, ParameterError
from fidelitree.exact.engine import ENUMERATE_UNASKED, error_inside, exact_subfunction, free_of_charge, labels_inside
from fidelitree.runs import economics
from fidelitree.runs.goal import Goal, exact_certificate, greedy_result
from fidelitree.runs.learning import EFFORTS
from fidelitree.runs.result import Distillation
from fidelitree.search.archive import MOST_WORK
from fidelitree.search.exact_growth import as_grown, grow_exactly
from fidelitree.search.labelled import Binning
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.optimal.affordable import LISTED, NUMBERS, SearchEnded
from fidelitree.search.optimal.solve import KnownFunction
from fidelitree.search.optimal.substitutes import SmallestSubstitutes
from fidelitree.search.trace import SplitRecord
from fidelitree.theory.sequential import FRONTIER
from fidelitree.trees import nested
from fidelitree.trees.answers import LeafLabels, tally
from fidelitree.trees.nested import Nested, size
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.search.local.by_leaves import Point
    from fidelitree.search.local.coded import Coded
    from fidelitree.trees.tree import Tree

Trace = tuple[SplitRecord | TreeJudged, ...]
_ALL_KNOWN = "every answer is known"


@contextmanager
def no_error_allowed(counted: Counted) -> Iterator[None]:
    """Refuse a run that must ask about every input where it cannot."""
    if not counted.deterministic:
        raise ParameterError("epsilon must be above 0 with deterministic=False: no error of a noisy target is 0; got 0")
    limit, points = counted.budget.max_queries, counted.space.points
    allowed = ENUMERATE_UNASKED if limit is None else limit
    if not free_of_charge(counted) and (points is None or points > allowed):
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: {counted.space.extent} are more than "
            f"{allowed:,}; got 0 - raise max_queries, or ask for a small epsilon"
        )
    try:
        yield
    except BudgetSpent as stop:
        raise ParameterError(
            f"epsilon must be above 0 where not every input can be asked: {stop} ended the run; got 0"
        ) from None


def distil_exactly(counted: Counted, goal: Goal) -> Distillation:
    """All answers; then Algorithm 1, or the smallest tree found that is good enough."""
    epsilon, most = goal.epsilon, counted.budget.max_leaves
    if not (goal.split_quality or counted.space.all_bits or isinstance(counted.target, Tree)):
        return _smallest_of_all(counted, goal)
    root = exact_subfunction(counted, counted.space.whole, counted.space.points or 0)
    if root is None:
        raise ParameterError(f"the target must be a tree, or have fewer inputs to be known; got {counted.space.extent}")
    if goal.split_quality:
        grown = grow_exactly(counted, root, epsilon, Budget(max_leaves=most), nobody)
        return greedy_result(counted, grown, epsilon).knowing(labels_inside(grown.tree, root, counted.space))
    return _smallest_substitute(counted, root, goal)


def _result(counted: Counted, goal: Goal, found: tuple[Tree, float], trace: Trace, labels: LeafLabels) -> Distillation:
    (tree, error), most = found, counted.budget.max_leaves
    certificate = exact_certificate(counted, tree.digest, error, goal.epsilon)
    enough = error <= goal.epsilon
    reason = "certified" if enough else f"max_leaves = {most}" if most else counted.budget.time_over
    return Distillation(tree, certificate, counted.queries, trace, counted.space, reason).knowing(labels)


def _smallest_substitute(counted: Counted, root: Subfunction, goal: Goal) -> Distillation:
    """A tree without error by Algorithm 1, then the smallest substitute for it."""
    epsilon = goal.epsilon
    counted.reserve = None  # nothing is left to be tested
    perfect = grow_exactly(counted, root, 0.0, Budget(), lambda event: counted.watch())
    if perfect.error > 0:  # the time was over
        labels = labels_inside(perfect.tree, root, counted.space)
        return _result(counted, goal, (perfect.tree, perfect.error), perfect.splits, labels)
    paper = as_grown(perfect.tree, counted.space, counted.watch).tree
    found = SmallestSubstitutes(perfect.tree, counted.space, [paper], NUMBERS, counted.watch)
    leaves = int(np.argmax(found.disagreements <= epsilon)) + 1
    leaves = min(leaves, counted.budget.max_leaves or leaves)
    tree, error = found.with_leaves(leaves), float(found.disagreements[leaves - 1])
    return _result(counted, goal, (tree, error), perfect.splits, labels_inside(tree, root, counted.space))


def _smallest_of_all(counted: Counted, goal: Goal) -> Distillation:
    """A search over all inputs, weighed by their probabilities."""
    epsilon, seed = goal.epsilon, goal.seed
    space, whole = counted.space, counted.space.whole
    codes = tabulate(counted, whole).astype(np.intp)
    inner = whole.inputs(0, len(codes))
    chances = space.chances(inner)
    # An error of 0 is one of no input, however rare it is; of whole numbers all sums are exact.
    weights = np.rint(chances / sys.float_info.epsilon) if epsilon else (chances > 0).astype(np.float64)
    binning, some = Binning.of(space, inner), weights > 0
    refiner = Refiner(binning.coded(codes[some], some, weights[some]), seed)
    judged = _Judged(refiner, binning.coded(codes, weights=chances), counted.budget)
    work = economics.STEPS * inner.size * len(counted.book.seen)
    _search(refiner, epsilon, 1 if epsilon else len(counted.book.seen), MOST_WORK / work, counted)
    sketch = judged.smallest(epsilon)
    if sketch is None:
        refiner.improve(0.0, 1)  # goes on to trees without an error, however large
        sketch = judged.smallest(epsilon)
    if sketch is None:
        sketch = judged.most_faithful()
    tree = binning.tree(sketch, counted.book.ranks(), counted.book.sorted())
    error = judged.error(sketch)
    shares = tally(tree, inner, counted.labels(codes), counted.book.sorted(), chances)
    labels = LeafLabels(tuple(counted.book.sorted()), shares)
    return _result(counted, goal, (tree, error), (TreeJudged(counted.asked, tree.size, error, error),), labels)


def _search(refiner: Refiner, epsilon: float, least: int, most: float, counted: Counted) -> None:
    """Go on until as many rounds again have brought nothing; there are ``most`` at most, after the first."""
    leaves, rounds, useful = size(refiner.smallest(epsilon)), 0, 1
    while leaves > least and rounds < min(2 * useful, 1 + most) and not counted.over():
        refiner.improve(epsilon, economics.STEPS)
        rounds += 1
        if size(refiner.smallest(epsilon)) < leaves:
            leaves, useful = size(refiner.smallest(epsilon)), rounds


@dataclass(frozen=True)
class _Judged:
    """What a search has found, judged by the probabilities themselves, whatever weights it worked with."""

    refiner: Refiner
    rows: Coded
    budget: Budget

    def smallest(self, epsilon: float) -> Nested | None:
        """The first tree that is good enough."""
        return next((point.tree for point in self._allowed() if self.error(point.tree) <= epsilon), None)

    def most_faithful(self) -> Nested:
        """The tree with the smallest error."""
        return min((point.tree for point in self._allowed()), key=self.error)

    def error(self, sketch: Nested) -> float:
        """The probability of the inputs that a tree gets wrong."""
        return self.rows.errors(sketch) / self.rows.total

    def _allowed(self) -> list[Point]:
        return [point for point in self.refiner.points() if self.budget.allows(point.leaves)]


def distil_known(counted: Counted, goal: Goal) -> Distillation | None:
    """The smallest tree found where every answer is known; None where that takes too many queries, or too long."""
    limit = counted.budget.max_queries
    unasked = EFFORTS["leaves"].most if goal.epsilon else ENUMERATE_UNASKED  # labels to learn from would be as many
    try:
        root = _known(counted, unasked if limit is None else limit)
    except BudgetSpent:
        return None
    if root is None:
        return None
    best, error = _smallest(counted, root, goal.epsilon) or (None, 0.0)
    if best is None or not counted.budget.allows(best.size):
        return distil_exactly(counted, goal)
    certificate = exact_certificate(counted, best.digest, error, goal.epsilon)
    reason = "certified" if certificate.holds else f"max_seconds = {counted.budget.max_seconds}"
    made = Distillation(best, certificate, counted.queries, (), counted.space, reason)
    return made.knowing(labels_inside(best, root, counted.space))


def _known(counted: Counted, most: int) -> Subfunction | None:
    """The target with all its answers; None where more than ``most`` would have to be asked, or it is noisy."""
    points = counted.space.points
    if not counted.deterministic or (not free_of_charge(counted) and (points is None or points > most)):
        return None
    try:
        return exact_subfunction(counted, counted.space.whole, points or 0)
    except NoDiagramError:
        return None


def _smallest(counted: Counted, root: Subfunction, epsilon: float) -> tuple[Tree, float] | None:
    """The smallest tree that was found in time, and its error; where there was no time, the paper's tree so far."""
    best: tuple[Tree, float] | None = None
    space = counted.space
    with suppress(BudgetSpent, SearchEnded, KeyboardInterrupt):
        for found in known_function(counted, root).improving(epsilon):
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


def known_function(counted: Counted, root: Subfunction) -> KnownFunction:
    """What is known already, or free, as places among the labels."""
    labels, free, target = np.array(root.labels), free_of_charge(counted), GuardedTarget(counted.target, counted.space)

    def answer(inputs: NDArray[np.uint8]) -> NDArray[np.intp]:
        if free:  # a circuit, a table or a tree is read, not asked
            return np.searchsorted(labels, target(inputs))
        return np.searchsorted(labels, counted.labels(counted.complete(inputs, "enumerate")))

    def table() -> NDArray[np.intp]:
        return np.searchsorted(labels, counted.labels(tabulate(counted, counted.space.whole)))

    return KnownFunction(counted.space, root, answer, table, counted)


def known_points(counted: Counted, sizes: Sequence[int], seed: int) -> list[Distillation] | None:
    """A point for each size, with its exact error; None where not every answer can be known, or in time."""
    points, most = counted.space.points, LISTED
    if not free_of_charge(counted):
        unasked = EFFORTS["queries"].most  # labels to learn from would be as many
        most = min(unasked, counted.budget.max_queries or unasked)
    if not counted.deterministic or points is None or points > most:
        return None
    counted.reserve = None  # nothing is left to be tested
    try:
        root = _known(counted, most)
    except BudgetSpent:
        return None
    if root is None:
        return None
    best: dict[int, tuple[float, Tree]] = {}
    with suppress(BudgetSpent, SearchEnded, KeyboardInterrupt):
        for size, tree in _candidates(counted, root, sizes, seed):
            error = error_inside(tree, root, counted.space)
            if size not in best or error < best[size][0]:
                best[size] = error, tree
    return [_known_point(counted, root, tree, error) for error, tree in best.values()] or None


def _candidates(counted: Counted, root: Subfunction, sizes: Sequence[int], seed: int) -> Iterator[tuple[int, Tree]]:
    """Trees of each size: what a search finds first, so that there is something; then the optimum where it fits."""
    space, known = counted.space, known_function(counted, root)
    codes = known.table()
    inner = space.whole.inputs(0, len(codes))
    chances = space.chances(inner)
    binning, some = Binning.of(space, inner), chances > 0
    refiner = Refiner(binning.coded(codes[some], some, chances[some]), seed, counted.watch)
    ranks = range(len(root.labels))
    yield from ((size, binning.tree(refiner.with_leaves(size).tree, ranks, root.labels)) for size in sizes)
    curve = known.curve(sizes[-1])
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
            refiner.improve_at(size, EFFORTS["queries"].steps)
        yield size, binning.tree(refiner.with_leaves(size).tree, ranks, root.labels)


def _known_point(counted: Counted, root: Subfunction, tree: Tree, error: float) -> Distillation:
    certificate = replace(exact_certificate(counted, tree.digest, error, None), ledger=FRONTIER)
    made = Distillation(tree, certificate, counted.queries, (), counted.space, _ALL_KNOWN)
    return made.knowing(labels_inside(tree, root, counted.space))
