"""The paper's tree with its promise kept, grown on a certified tree instead of the target.

If the error of a tree T is at most b, every score of the target is close to the same score of T. A pair of inputs has
different labels in one and not in the other only where one of its inputs is in error, so the influences of a feature
differ by at most 2b. The score of a bit is its influence; any other score is what is left of an influence when the
influences on both sides of the test are taken away, and differs by at most 4b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fidelitree.asking.limits import Watch, go_on
from fidelitree.exact.paths import PathSubfunction
from fidelitree.runs import economics
from fidelitree.runs.epsilon_goal import AskAll, EpsilonGoal
from fidelitree.runs.loop import Focus
from fidelitree.runs.outcome import Outcome
from fidelitree.search.exact_growth import as_grown

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.economics import Price
    from fidelitree.runs.loop import Candidate, Loop
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


class InfluenceGoal(EpsilonGoal):
    """The paper's tree: Algorithm 1 on the tested tree, with the promise that every split is within kappa.

    So a test has to certify what the plan for its tree needs, which is less than epsilon; and it is the tree with the
    fewest errors that is worth a test.
    """

    def __init__(self, epsilon: float, price: Price, counted: Counted) -> None:
        super().__init__(epsilon, price)
        self._counted = counted
        self._plans: dict[Tree, _GreedyPlan] = {}

    def aim(self, tree: Tree) -> float:
        """Return the error that is to be certified for a tree."""
        return self._plan(tree).bound(self.epsilon)

    def proposals(self, loop: Loop[Outcome | AskAll]) -> list[Candidate]:
        """Return the tree with the fewest errors, if it has no attempt."""
        best = min(loop.proposals, key=lambda one: (one.evidence.rate, one.size), default=None)
        return [] if best is None or loop.attempts.of(best.tree) is not None else [best]

    def search(self, loop: Loop[Outcome | AskAll]) -> Focus:
        """Return the size of the tree with the fewest errors."""
        best = min(loop.candidates.values(), key=lambda one: (one.evidence.rate, one.size), default=None)
        return Focus([] if best is None else [best.size], economics.NEAR_STEPS)

    def done(self, loop: Loop[Outcome | AskAll]) -> Outcome | AskAll | None:
        """Return the paper's tree as soon as a plan holds."""
        if self.better_to_know_all(loop):
            return AskAll()
        for attempt in loop.attempts.all:
            for leaves, differs, closeness in self._plan(attempt.tree).trees:
                if attempt.certifies(_bound(differs, closeness, self.epsilon)):
                    return self._outcome(attempt, leaves, differs)
        return None

    def _outcome(self, attempt: Attempt, leaves: int, differs: float) -> Outcome:
        """The paper's tree with this many leaves."""
        grown = as_grown(attempt.tree, self._counted.space, most=leaves)
        return Outcome(grown.tree, attempt, differs, grown.splits)

    def _plan(self, tree: Tree) -> _GreedyPlan:
        if tree not in self._plans:
            most, watch = self._counted.budget.max_leaves, self._counted.watch
            self._plans[tree] = _GreedyPlan.of(tree, self._counted.space, self.epsilon, most, watch)
        return self._plans[tree]
