"""``strategy="smallest"`` where only some answers are known: from a certified tree to smaller ones.

A tree that was tested and seldom erred stands for the target: trees that disagree with it little enough are put to the
test themselves, each with its own share of delta. Meanwhile its own bound falls, and leaves more room for others.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from fidelitree.asking.limits import BudgetSpent
from fidelitree.exact.paths import disagreement
from fidelitree.runs.outcome import Outcome
from fidelitree.search.optimal.affordable import SearchEnded
from fidelitree.search.optimal.substitutes import nearby
from fidelitree.search.questions import Steps, Tests
from fidelitree.trees.nested import build, simplest

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt
    from fidelitree.runs.session import Session
    from fidelitree.trees.curve import Curve
    from fidelitree.trees.tree import Tree

SPENT = 20_000
"""Queries that may be spent unasked."""
_AIMS = (0.98, 0.9, 0.8, 0.65, 0.5)  # in epsilons: how far a tree that is put to the test may be from the tested one
_BATCH, _LOOK = 200, 200
_MORE = 1.5  # times what was asked before, where that is more than should be spent
_ROUNDS = 3


def shrunk(outcome: Outcome, session: Session, epsilon: float) -> Outcome:
    """A smaller tree than the outcome's, if answers can certify one."""
    if outcome.error is not None or outcome.error_bound > epsilon:
        return outcome
    best, stood = outcome, None
    for _ in range(_ROUNDS):
        # Of all trees under test the one with the fewest errors is closest to the target; tests may change which.
        model = min(session.attempts.all, key=lambda attempt: (attempt.error_bound, attempt.tree.size))
        if model is stood or best.tree.size < 3:
            break
        stood, surrogate = model, _Surrogate(model.tree, session.counted)
        found = [tree for aim in _AIMS for tree in surrogate.smallest(aim * epsilon) if tree.size < best.tree.size]
        for tree in sorted(found, key=lambda tree: tree.size):
            session.attempts.open(tree)
        spent = False
        try:
            session.run(_count(session, best.tree.size, epsilon))
        except (BudgetSpent, KeyboardInterrupt):
            spent = True
        best = _best(best, session, epsilon)
        best = _beside(best, model, surrogate, epsilon)
        if spent:
            break
    return best


def _best(best: Outcome, session: Session, epsilon: float) -> Outcome:
    """The smallest tree that passed a test of its own."""
    for attempt in session.attempts.all:
        if attempt.tree.size < best.tree.size and attempt.certifies(epsilon):
            best = Outcome(attempt.tree, attempt, 0.0)
    return best


def _beside(best: Outcome, model: Attempt, surrogate: _Surrogate, epsilon: float) -> Outcome:
    """A smaller tree that differs from a tested one by no more than its bound leaves."""
    room = epsilon - model.error_bound
    for tree in surrogate.smallest(room):
        apart = disagreement(tree, model.tree, surrogate.space)
        if tree.size < best.tree.size and apart <= room:
            best = Outcome(tree, model, apart)
    return best


def _count(session: Session, size: int, epsilon: float) -> Steps[None]:
    """Count answers until the smallest tree under test is certified, none that is smaller has a chance, or enough."""
    counted = session.counted
    limit = counted.budget.max_queries or max(SPENT, int(_MORE * counted.asked))
    while counted.asked < limit:
        certified = [one.tree.size for one in session.attempts.all if one.certifies(epsilon)]
        least, left = min([size, *certified]), limit - counted.asked
        smaller = [one for one in session.attempts.all if one.tree.size < least]
        fair = [one for one in smaller if not one.unlucky(epsilon)]
        hopeful = [one for one in fair if one.samples < _LOOK or one.likely(epsilon, left)]
        if not hopeful:
            return
        needed = min(one.needed_for(epsilon) for one in hopeful)
        yield Tests(max(1, min(needed, _BATCH, left)))


class _Surrogate:
    """A tested tree in the place of the target: small trees that disagree with it little."""

    def __init__(self, tested: Tree, counted: Counted) -> None:
        self._tested, self.space = tested, counted.space
        self._curves: list[Curve] = []
        with suppress(SearchEnded):
            self._curves.extend(nearby(tested, self.space, counted))

    def smallest(self, room: float) -> list[Tree]:
        """The smallest that was found, if any."""
        options = [(curve.first_within(room), number) for number, curve in enumerate(self._curves)]
        least, number = min(((leaves, number) for leaves, number in options if leaves), default=(0, 0))
        if not least or room < 0:
            return []
        return [build(self.space, simplest(self._curves[number].build(least)), self._tested.labels.tolist())]
