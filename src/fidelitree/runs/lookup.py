"""Circuits and truth tables list their own answers: the error of a tree is looked up instead of estimated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fidelitree.exact.diagram import NoDiagramError
from fidelitree.exact.engine import tree_error
from fidelitree.runs.stopping import Outcome, Stopping
from fidelitree.search.prune import Prunings
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.table import TruthTable

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt, Attempts
    from fidelitree.trees.tree import Tree


def lists_its_answers(counted: Counted) -> bool:
    """Whether the target's error can be known without asking it."""
    return counted.deterministic and isinstance(counted.target, (Circuit, TruthTable))


def exact_error(tree: Tree, counted: Counted) -> float | None:
    """The error of a tree; None where the circuit is too large for it."""
    try:
        return tree_error(tree, counted.target, counted.space)
    except NoDiagramError:
        return None


@dataclass
class Known:
    """Ends a run with the first tree under test that is good enough, pruned as far as it stays so.

    Where an error cannot be known, ``otherwise`` decides.
    """

    otherwise: Stopping
    counted: Counted
    unsettled: bool = False
    _judged: int = field(default=0)

    def needed(self, attempts: Attempts) -> int:
        """One answer: a tree is judged when its attempt has been opened."""
        return self.otherwise.needed(attempts) if self._judged == len(attempts.all) else 1

    def to_spend(self) -> int:
        """Nothing of its own."""
        return self.otherwise.to_spend()

    def done(self, attempts: Attempts) -> Outcome | None:
        """As soon as a new tree is good enough."""
        while self._judged < len(attempts.all):
            attempt = attempts.all[self._judged]
            self._judged += 1
            error = exact_error(attempt.tree, self.counted)
            if error is not None and error <= attempts.epsilon:
                return self._smallest(attempt, error, attempts.epsilon)
        return self.otherwise.done(attempts)

    def _smallest(self, attempt: Attempt, error: float, epsilon: float) -> Outcome:
        prunings, most = Prunings(attempt.tree, self.counted.space), self.counted.budget.max_leaves
        for leaves, lost in enumerate(prunings.disagreements[:most].tolist(), start=1):
            if lost - error > epsilon:  # it cannot be better than that
                continue
            tree = prunings.with_leaves(leaves)
            own = exact_error(tree, self.counted)
            if own is not None and own <= epsilon:
                return Outcome(tree, attempt, lost, error=own)
        tree = prunings.with_leaves(most or attempt.tree.size)
        return Outcome(tree, attempt, 0.0, error=exact_error(tree, self.counted))
