"""The time that is kept for tests: once learning is over, what there is gets a bound that means something.

Of a limited time 70 % goes into learning (`budget.LEARNING`); unless something is certified by then, the rest is spent
here. The tree that there is gets an attempt, and answers are counted for all that are open, those that stand included,
until the error asked for is certified, or the bound is so near to the error that more answers would say little more.
"""

from __future__ import annotations

from typing import Protocol

from fidelitree.asking.counted import Counted
from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs.auto import Outcome
from fidelitree.runs.finishes import best_so_far
from fidelitree.runs.supply import Inner, Source
from fidelitree.search.prune import Prunings
from fidelitree.trees.tree import Tree

CERTIFIED = "certified"
GROWTH = 4  # a batch holds as many answers as a quarter of those counted so far
NEAR, BEYOND = 1.1, 0.01  # a bound of so many times the error, and so much more, is near enough


class Learnt(Protocol):
    """A run whose learning is over."""

    @property
    def counted(self) -> Counted:
        """What was asked."""

    @property
    def source(self) -> Source:
        """Where inputs come from."""

    @property
    def attempts(self) -> Attempts:
        """What was opened."""

    def tree(self) -> Tree:
        """The best tree so far."""

    def fresh(self, rows: int) -> Inner:
        """The next inputs for tests; BudgetSpent where there are none."""


def use_reserve(run: Learnt, reason: str) -> str:
    """Count answers in the time that is left; why the run ended: by this, or for the ``reason`` that it has already."""
    counted, attempts = run.counted, run.attempts
    counted.reserve = None
    if counted.budget.max_seconds is None or not counted.book.seen or counted.over():
        return reason
    tree, before = _allowed(run), attempts.certified
    attempts.open(tree)
    counts = next(one for one in attempts.all if one.tree == tree)
    try:
        while not settled(attempts, best_so_far(attempts, run.source.masses, counted.budget.max_leaves)):
            _stand(run)
            rows, left = max(1, counts.samples // GROWTH), counted.left
            inner = run.fresh(rows if left is None else max(1, min(rows, left)))
            attempts.count(inner, counted.labels(counted.ask(inner, "certify")))
    except BudgetSpent:
        return reason
    except KeyboardInterrupt:
        return f"{reason}, then interrupted"
    return CERTIFIED if attempts.certified and not before else reason


def _stand(run: Learnt) -> None:
    """The constant that is best by now has an attempt, too."""
    labels, usual = run.counted.book.sorted(), run.attempts.standing.usual()
    if usual is not None:
        run.attempts.standing.open(0, [Tree.build(run.source.product, [labels.index(usual)], labels)])


def _allowed(run: Learnt) -> Tree:
    """The run's tree, cut back where it has too many leaves and masses say how."""
    tree, most, space = run.tree(), run.counted.budget.max_leaves, run.source.masses
    return tree if space is None or most is None or tree.size <= most else Prunings(tree, space).with_leaves(most)


def settled(attempts: Attempts, best: Outcome) -> bool:
    """Whether more answers would change little: the error is certified, or it is clear what it is instead."""
    if attempts.open_ended:
        return False
    error = best.attempt.rate + best.differs
    near = best.error_bound < 1 and error > attempts.epsilon and best.error_bound <= NEAR * error + BEYOND
    return near or best.error_bound <= attempts.epsilon
