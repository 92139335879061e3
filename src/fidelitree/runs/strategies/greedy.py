"""The paper's tree with its promise kept, grown on a certified tree instead of the target.

If the error of a tree T is at most b, every score of the target is close to the same score of T. A pair of inputs has
different labels in one and not in the other only where one of its inputs is in error, so the influences of a feature
differ by at most 2b. The score of a bit is its influence; any other score is what is left of an influence when the
influences on both sides of the test are taken away, and differs by at most 4b.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fidelitree.asking.limits import Watch, go_on
from fidelitree.exact.paths import PathSubfunction
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.stopping import Stopping
from fidelitree.search.exact_growth import as_grown

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt, Attempts
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.trees.tree import Tree

KAPPA = 0.25


@dataclass(frozen=True)
class _GreedyPlan:
    """Algorithm 1 run on a tested tree, split by split."""

    trees: list[tuple[int, float, float]]
    """Leaves, how much they differ, and up to which error of the tested tree all splits are as good as promised."""

    @classmethod
    def of(cls, tree: Tree, space: ProductSpace, epsilon: float, most: int | None, watch: Watch = go_on) -> _GreedyPlan:
        """``watch`` is called at every split, and may end it by raising."""
        alone = 1 - float(PathSubfunction(tree, space.whole).label_probabilities().max())
        plan, smallest = [(1, alone, 1.0)], 1.0
        for record in as_grown(tree, space, watch).splits:
            smallest = min(smallest, record.score)
            plan.append((record.size, record.error, smallest))
        found = [(size, apart, _closeness(score, space)) for size, apart, score in plan if most is None or size <= most]
        return cls([one for one in found if one[1] < epsilon] or found[-1:])

    def bound(self, epsilon: float) -> float:
        """The largest error of the tested tree at which some size keeps both promises."""
        return max(_bound(differs, closeness, epsilon) for _, differs, closeness in self.trees)


def _bound(differs: float, closeness: float, epsilon: float) -> float:
    """The same for one size; where ``max_leaves`` forbids what epsilon takes, splits are all that is promised."""
    return min(epsilon - differs, closeness) if differs < epsilon else closeness


def _closeness(score: float, space: ProductSpace) -> float:
    """Error b of the tested tree up to which a split with this score is within kappa of the best.

    The best score of the target is at most score + 2b, and this one is at least score - 2b; 4b where not all features
    are bits.
    """
    moves = 2 if space.all_bits else 4
    return (1 - KAPPA) / (1 + KAPPA) * score / moves


@dataclass
class Greedy(Stopping):
    """The paper's tree: Algorithm 1 on the tested tree, with the promise that every split is within kappa."""

    counted: Counted
    _plans: dict[int, _GreedyPlan] = field(default_factory=dict)

    def needed(self, attempts: Attempts) -> int:
        """For the attempt that is closest to a plan that holds."""
        return min(
            attempt.needed_for(self._plan(attempt, attempts).bound(attempts.epsilon)) for attempt in attempts.all
        )

    def done(self, attempts: Attempts) -> Outcome | None:
        """As soon as a plan holds."""
        for attempt in attempts.all:
            for leaves, differs, closeness in self._plan(attempt, attempts).trees:
                if attempt.certifies(_bound(differs, closeness, attempts.epsilon)):
                    return self._outcome(attempt, leaves, differs)
        return None

    def _outcome(self, attempt: Attempt, leaves: int, differs: float) -> Outcome:
        """The paper's tree with so many leaves."""
        grown = as_grown(attempt.tree, self.counted.space, most=leaves)
        return Outcome(grown.tree, attempt, differs, grown.splits)

    def _plan(self, attempt: Attempt, attempts: Attempts) -> _GreedyPlan:
        if attempt.number not in self._plans:
            most, watch = self.counted.budget.max_leaves, self.counted.watch
            self._plans[attempt.number] = _GreedyPlan.of(
                attempt.tree, self.counted.space, attempts.epsilon, most, watch
            )
        return self._plans[attempt.number]
