"""Algorithm 1 of the paper: grow from true probabilities and influences, which an exact engine knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fidelitree.asking.counted import Counted
from fidelitree.asking.events import Finished, Observer
from fidelitree.asking.limits import Budget, BudgetSpent
from fidelitree.exact.subfunction import Subfunction
from fidelitree.exact.sums import ExactSum
from fidelitree.search.grow import grow
from fidelitree.search.probes.evidence import Evidence
from fidelitree.search.probes.truth import ExactProbe
from fidelitree.search.trace import SplitRecord, Trace
from fidelitree.trees.bare import BareTree, Leaf
from fidelitree.trees.tree import Tree


@dataclass(frozen=True)
class Grown:
    """A tree with its exact error, how it came about, and why it grew no further."""

    tree: Tree
    error: float
    splits: tuple[SplitRecord, ...]
    reason: str


def grow_exactly(counted: Counted, root: Subfunction, epsilon: float, limits: Budget, observer: Observer) -> Grown:
    """Algorithm 1 on a target whose answers are all known."""
    bare, trace = BareTree(counted.space), Trace(counted, observer)
    judge = _ExactJudge(epsilon, limits, trace)
    try:
        reason = grow(bare, ExactProbe(root), judge, trace, limits)
    except (BudgetSpent, KeyboardInterrupt) as stop:
        if not judge.known:
            raise
        reason = str(stop) or "interrupted"
    leaves = {number: judge.known[number] for number in bare.cut(judge.known)}
    tree = bare.complete({number: what.best for number, what in leaves.items()}, root.labels)
    error = math.fsum(what.error for what in leaves.values())
    trace.close(tree.size, error, error)
    observer(Finished(counted.asked, tree.size, error, reason))
    return Grown(tree, error, tuple(trace.records), reason)


class _ExactJudge:
    """Compares the exact error with epsilon after every split.

    An interrupt may come between any two steps. So new leaves are known before their parent is forgotten, and what
    is certified in the end is summed up from the leaves of the tree that is returned.
    """

    def __init__(self, epsilon: float, budget: Budget, trace: Trace) -> None:
        self.known: dict[int, Evidence] = {}
        self._error, self._cost = ExactSum(), ExactSum()
        self._epsilon, self._budget, self._trace = epsilon, budget, trace
        self._parent: int | None = None

    def hear(self, bare: BareTree, made: Sequence[Leaf]) -> None:
        self._parent = made[0].parent
        if self._parent is not None:
            self._budget.check(0)

    def enough(self, bare: BareTree, evidence: Mapping[int, Evidence]) -> bool:
        self.known.update(evidence)
        if self._parent is not None:
            self._count(self.known.pop(self._parent), -1)
        for what in evidence.values():
            self._count(what, 1)
        self._trace.judged(bare.size, self._cost.value, self._error.value, self._error.value)
        return self._error.value <= self._epsilon

    def _count(self, evidence: Evidence, sign: int) -> None:
        self._error.add(sign * evidence.error)
        self._cost.add(sign * evidence.cost)
