"""The last test of trees that are not good enough: a bound that is close to their error.

Where epsilon is out of reach, or ``max_leaves`` forbids the tree that would reach it, the best tree there is still gets
a certificate that means something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fidelitree.asking.limits import BudgetSpent
from fidelitree.certificates.attempts import Attempt
from fidelitree.runs.auto import Outcome
from fidelitree.runs.sealing import Tested
from fidelitree.trees.tree import Tree

TIGHT, SLACK = 1.1, 0.01  # a bound is close that is below TIGHT x error + SLACK
_BATCH, _PART = 50, 8  # answers between two looks: one in so many of those counted


class OutOfReach(BudgetSpent):
    """Raised where more labels would not help; the run ends with what it has. ``more`` follows the numbers."""

    def __init__(self, trouble: str, more: str = "") -> None:
        super().__init__(trouble)
        self.more = more


def tried(run: Tested, trees: Sequence[Tree]) -> Attempt:
    """Count answers for trees until the bound of the best of them is close, or good enough, or no input is left."""
    for tree in trees:
        run.attempts.open(tree)
    under_test = [attempt for attempt in run.attempts.all if attempt.tree in trees]
    while True:
        best = min(under_test, key=lambda attempt: (attempt.error_bound, attempt.tree.size))
        fair = min(attempt.samples for attempt in under_test) >= best.samples / 2  # some may be older than others
        if (fair and _close(best, run.attempts.epsilon)) or not run.source.tests_left:
            return best
        rows, left = max(_BATCH, best.samples // _PART), run.counted.left
        inner = run.source.test(rows if left is None else max(1, min(rows, left)))
        run.attempts.count(inner, run.counted.labels(run.counted.ask(inner, "certify")))


def _close(attempt: Attempt, epsilon: float) -> bool:
    """A small epsilon asks for a finer look."""
    share = attempt.errors / max(1, attempt.samples)
    return attempt.certifies(epsilon) or attempt.error_bound <= TIGHT * share + min(SLACK, epsilon)


def put_to_test(outcome: Outcome, run: Tested) -> Outcome:
    """The same tree with a bound of its own, where that is lower: what it has from a larger tree is not close."""
    try:
        attempt = tried(run, [outcome.tree])
    except BudgetSpent:
        attempt = next(attempt for attempt in run.attempts.all if attempt.tree == outcome.tree)
    own = replace(outcome, attempt=attempt, differs=0.0)
    return own if own.error_bound < outcome.error_bound else outcome


def shortfall(trouble: OutOfReach, outcome: Outcome, asked: int) -> str:
    """Why a run ends without what was asked for, in numbers."""
    tree, attempt = outcome.tree, outcome.attempt
    leaves = "1 leaf" if tree.size == 1 else f"{tree.size} leaves"
    share = outcome.error if outcome.error is not None else attempt.errors / max(1, attempt.samples) + outcome.differs
    return (
        f"{trouble}: after {asked:,} labels the best tree, with {leaves}, still disagrees with the target on about "
        f"{share:.2g} of inputs{trouble.more}"
    )
