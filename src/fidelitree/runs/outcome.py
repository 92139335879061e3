"""What a run comes to: a tree with the attempt that certifies it, and the best of them where a run is ended early."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.runs.economics import SHOWN
from fidelitree.search.optimal.substitutes import Prunings

if TYPE_CHECKING:
    from fidelitree.certificates.attempts import Attempt, Attempts
    from fidelitree.search.trace import SplitRecord
    from fidelitree.spaces.world import Weighed
    from fidelitree.trees.tree import Tree


@dataclass(frozen=True)
class Outcome:
    """A tree, the attempt that certifies it, and how often it differs from the tree that was tested.

    ``error`` is its error where that is known exactly.
    """

    tree: Tree
    attempt: Attempt
    differs: float
    splits: tuple[SplitRecord, ...] = ()
    """How the tree was grown, where that is part of the promise."""
    error: float | None = None

    @property
    def error_bound(self) -> float:
        """The error certified for the tree."""
        if self.error is not None:
            return self.error
        return min(1.0, self.attempt.error_bound + self.differs)

    @property
    def tested(self) -> Tree | None:
        """The tree that was tested, where another one is returned and its error is not known."""
        return None if self.error is not None or self.tree == self.attempt.tree else self.attempt.tree


def best_so_far(attempts: Attempts, space: Weighed | None, max_leaves: int | None) -> Outcome:
    """What a run that is ended early has to show: the smallest tree that is good enough, else the best certified.

    Of trees that are about as good as the best, by a standard error of it, it is the smallest. Without a space, masses
    are not known, and trees stay as they were tested. Where nothing is good enough, a tree that does not clearly err
    less often than a constant gives way to it. A standard error is long after few answers: half of the agreement that
    is certified stays.
    """
    whole = [within(one, space, max_leaves) for one in attempts.live]
    best = min(whole, key=_doubt)
    enough = best.error_bound <= attempts.epsilon
    near = min(best.error_bound + _variance(best.attempt) ** 0.5, 1 - SHOWN * (1 - best.error_bound))
    good = attempts.epsilon if enough else near
    options = [_smallest(one.attempt, space, good) for one in whole if one.error_bound <= good]
    chosen = min(options, key=lambda found: (found.tree.size, found.attempt.ledger, found.error_bound))
    return chosen if enough else _or_constant(chosen, attempts)


def _or_constant(outcome: Outcome, attempts: Attempts) -> Outcome:
    """The best constant, where a tree does not err less often by more than a standard error of the difference."""
    tested = outcome.attempt

    def beaten(constant: Attempt) -> bool:
        error: float = (_variance(tested) + _variance(constant)) ** 0.5  # how often two trees differ is exact
        return tested.rate + outcome.differs + error < constant.rate

    if outcome.tree.size == 1:
        return outcome
    constants = [one for one in attempts.standing.constants if one.samples and not beaten(one)]
    return min((Outcome(one.tree, one, 0.0) for one in constants), key=_doubt, default=outcome)


def _variance(attempt: Attempt) -> float:
    """Of the share of errors that an attempt has counted; without any, one may be on its way."""
    samples = max(1, attempt.samples)
    return (attempt.rate + 1 / samples) / samples


def _doubt(outcome: Outcome) -> tuple[float, int]:
    return outcome.error_bound, outcome.tree.size


def within(attempt: Attempt, space: Weighed | None, max_leaves: int | None) -> Outcome:
    """Return the tree of an attempt, or what comes closest to it with as many leaves as may be."""
    if max_leaves is None or attempt.tree.size <= max_leaves:
        return Outcome(attempt.tree, attempt, 0.0)
    found = _substitutes(attempt.tree, space)
    return Outcome(found.with_leaves(max_leaves), attempt, float(found.disagreements[max_leaves - 1]))


def _smallest(attempt: Attempt, space: Weighed | None, good: float) -> Outcome:
    """The fewest leaves that the bound of an attempt leaves room for."""
    found = _substitutes(attempt.tree, space)
    place = int(np.argmax(attempt.error_bound + found.disagreements <= good))
    return Outcome(found.with_leaves(place + 1), attempt, float(found.disagreements[place]))


def _substitutes(tree: Tree, space: Weighed | None) -> Prunings | AsItIs:
    return AsItIs(tree) if space is None else Prunings(tree, space)


class AsItIs:
    """A tree that cannot be pruned for want of masses: any smaller one may disagree with it everywhere."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.disagreements = np.array([1.0] * (tree.size - 1) + [0.0])

    def with_leaves(self, leaves: int) -> Tree:
        return self.tree
