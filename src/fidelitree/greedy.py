"""The paper's tree with its promise kept, grown on a certified tree instead of the target.

If the error of a tree T is at most b, every score of the target differs from the same score of T by at most 2b, because
a pair of inputs changes label in one and not in the other only where one of its inputs is in error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fidelitree.attempts import Attempt, Attempts
from fidelitree.auto import Outcome
from fidelitree.budget import Budget
from fidelitree.events import nobody
from fidelitree.exact.paths import PathSubfunction
from fidelitree.paper import grow_exactly
from fidelitree.region import Region
from fidelitree.result import Distillation, SplitRecord
from fidelitree.space import ProductSpace
from fidelitree.targets.counting import Counted
from fidelitree.tree import Tree

KAPPA = 0.25


@dataclass(frozen=True)
class _Plan:
    """Algorithm 1 run on a tested tree: after each split, how much they differ, and the smallest score so far."""

    trees: list[tuple[int, float, float]]

    @classmethod
    def of(cls, tree: Tree, space: ProductSpace, epsilon: float) -> _Plan:
        counted = Counted(tree, space)
        root = PathSubfunction(tree, Region.whole(space))
        grown = grow_exactly(counted, root, 0.0, Budget(), nobody)
        alone = 1 - float(root.label_probabilities().max())
        plan, smallest = [(1, alone, 1.0)], 1.0
        for record in grown.trace:
            assert isinstance(record, SplitRecord), "Algorithm 1 records splits"
            smallest = min(smallest, record.score)
            plan.append((record.size, record.error, smallest))
        return cls([entry for entry in plan if entry[1] < epsilon])

    def bound(self, epsilon: float) -> float:
        """The largest error of the tested tree at which some size keeps both promises."""
        return max(min(epsilon - differs, _closeness(score)) for _, differs, score in self.trees)


def _closeness(score: float) -> float:
    """Error of the tested tree up to which a split with this score is within kappa of the best.

    The best score of the target is at most score + 2b, and this one is at least score - 2b.
    """
    return (1 - KAPPA) / (2 + 2 * KAPPA) * score


@dataclass
class Greedy:
    """The paper's tree: Algorithm 1 on the tested tree, with the promise that every split is within kappa."""

    counted: Counted
    _plans: dict[int, _Plan] = field(default_factory=dict)

    def needed(self, attempts: Attempts) -> int:
        """For the attempt that is closest to a plan that holds."""
        return min(
            attempt.needed_for(self._plan(attempt, attempts).bound(attempts.epsilon)) for attempt in attempts.all
        )

    def to_spend(self) -> int:
        """Nothing: its tree is the paper's, no more and no less."""
        return 0

    def done(self, attempts: Attempts) -> Outcome | None:
        """As soon as a plan holds."""
        for attempt in attempts.all:
            for leaves, differs, score in self._plan(attempt, attempts).trees:
                if attempt.certifies(min(attempts.epsilon - differs, _closeness(score))):
                    grown = self._grow(attempt.tree, leaves)
                    splits = tuple(record for record in grown.trace if isinstance(record, SplitRecord))
                    return Outcome(grown.tree, attempt, differs, splits)
        return None

    def _plan(self, attempt: Attempt, attempts: Attempts) -> _Plan:
        if attempt.number not in self._plans:
            self._plans[attempt.number] = _Plan.of(attempt.tree, self.counted.space, attempts.epsilon)
        return self._plans[attempt.number]

    def _grow(self, tree: Tree, leaves: int) -> Distillation:
        space = self.counted.space
        root = PathSubfunction(tree, Region.whole(space))
        return grow_exactly(Counted(tree, space), root, 0.0, Budget(max_leaves=leaves), nobody)
