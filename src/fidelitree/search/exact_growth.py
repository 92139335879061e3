"""Algorithm 1 of the paper: grow from true probabilities and influences, which an exact engine knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Finished, Observer
from fidelitree.asking.limits import Budget, BudgetSpent, Watch, go_on
from fidelitree.exact.paths import PathSubfunction
from fidelitree.search.grow import Evidence, grow
from fidelitree.search.trace import SplitRecord, Trace
from fidelitree.trees.growing import GrowingLeaf, GrowingTree

if TYPE_CHECKING:
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree


class ExactProbe:
    """Holds one subfunction for each leaf; a split replaces the parent's by the children's."""

    def __init__(self, root: Subfunction) -> None:
        self._root = root
        self._held: dict[int, Subfunction] = {}

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Only new leaves have new evidence."""
        if made[0].parent is None:
            self._held = {made[0].number: self._root}
        else:
            halves = self._held.pop(made[0].parent).split(bare.test(made[0].parent))
            self._held.update(zip((leaf.number for leaf in made), halves, strict=True))
        return {leaf.number: self._evidence(leaf) for leaf in made}

    def _evidence(self, leaf: GrowingLeaf) -> Evidence:
        function, mass = self._held[leaf.number], leaf.region.mass
        splits = function.splits()
        cost = mass * float(function.influences().sum()) if splits.tests else None
        return Evidence(mass * splits.drops, mass * function.label_probabilities(), splits.tests, cost)


@dataclass(frozen=True)
class ExactTree:
    """A tree with its exact error, how it came about, and why it grew no further."""

    tree: Tree
    error: float
    splits: tuple[SplitRecord, ...]
    reason: str


def grow_exactly(counted: Counted, root: Subfunction, epsilon: float, limits: Budget, observer: Observer) -> ExactTree:
    """Algorithm 1 on a target whose answers are all known."""
    bare, trace = GrowingTree(counted.space), Trace(counted, observer)
    judge = _ExactJudge(epsilon, limits, trace)
    try:
        reason = grow(bare, ExactProbe(root), judge, limits, trace.split)
    except (BudgetSpent, KeyboardInterrupt) as stop:
        if not judge.known:
            raise
        reason = str(stop) or "interrupted"
    leaves = {number: judge.known[number] for number in bare.cut(judge.known)}
    tree = bare.complete({number: what.best for number, what in leaves.items()}, root.labels)
    error = math.fsum(what.error for what in leaves.values())
    trace.close(tree.size, error, error)
    observer(Finished(counted.asked, tree.size, error, reason))
    return ExactTree(tree, error, tuple(trace.records), reason)


def as_grown(tree: Tree, space: ProductSpace, watch: Watch = go_on, most: int | None = None) -> ExactTree:
    """What Algorithm 1 grows for a tree, without an error; ``watch`` is called at every split, and may end it."""
    root = PathSubfunction(tree, space.whole)
    grown = grow_exactly(Counted(tree, space), root, 0.0, Budget(max_leaves=most), lambda event: watch())
    watch()  # it is ended with a tree that is cut short
    return grown


class _ExactJudge:
    """Compares the exact error with epsilon after every split.

    An interrupt may come between any two steps. So new leaves are known before their parent is forgotten, and what
    is certified in the end is summed up from the leaves of the tree that is returned.
    """

    def __init__(self, epsilon: float, budget: Budget, trace: Trace) -> None:
        self.known: dict[int, Evidence] = {}
        self._error = self._cost = Fraction(0)  # what was added can be taken away again exactly
        self._epsilon, self._budget, self._trace = epsilon, budget, trace
        self._parent: int | None = None

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        self._parent = made[0].parent
        if self._parent is not None:
            self._budget.check(0)

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        self.known.update(evidence)
        if self._parent is not None:
            self._count(self.known.pop(self._parent), -1)
        for what in evidence.values():
            self._count(what, 1)
        error = float(self._error)
        self._trace.judged(bare.size, float(self._cost), error, error)
        return error <= self._epsilon

    def _count(self, evidence: Evidence, sign: int) -> None:
        self._error += sign * Fraction(evidence.error)
        self._cost += sign * Fraction(evidence.cost)
