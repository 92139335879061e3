"""Targets that list their answers: circuits and truth tables, whose trees' errors are known without a label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fidelitree.asking.limits import BudgetSpent
from fidelitree.errors import NoDiagramError
from fidelitree.exact.diagram import DiagramSubfunction
from fidelitree.exact.engine import all_answers_of, error_inside
from fidelitree.runs import economics
from fidelitree.runs.outcome import Outcome
from fidelitree.search.optimal.affordable import LISTED
from fidelitree.search.optimal.substitutes import Prunings
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.table import TruthTable

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.certificates.attempts import Attempt, Attempts
    from fidelitree.exact.subfunction import Subfunction
    from fidelitree.trees.tree import Tree


def lists_its_answers(counted: Counted) -> bool:
    """Whether the target's error can be known without asking it."""
    return counted.deterministic and isinstance(counted.target, (Circuit, TruthTable))


_KNOWN: WeakKeyDictionary[Counted, Subfunction | None] = WeakKeyDictionary()
"""All answers of a run's target, as one function; None where they are too many. A diagram takes seconds to build."""


def exact_error(tree: Tree, counted: Counted) -> float | None:
    """The error of a tree; None where the circuit is too large for it, or the time is over before it is known."""
    root = _answers_of(counted)
    return None if root is None else error_inside(tree, root, counted.space)


def _answers_of(counted: Counted) -> Subfunction | None:
    """All answers of a run's target; None where they are too many, or the time is over before they are known."""

    def watch() -> None:
        if counted.over():
            raise BudgetSpent(counted.budget.time_over)

    if counted not in _KNOWN:
        try:
            _KNOWN[counted] = all_answers_of(counted.target, counted.space, watch)
        except BudgetSpent:
            return None
        except NoDiagramError:
            _KNOWN[counted] = None
    return _KNOWN[counted]


@dataclass
class KnownErrors:
    """Ends a run with the first tree under test that is good enough, pruned as far as it stays so.

    The paths of a diagram are a tree as well, a large one, which takes no label: where many were asked, and more than
    it has leaves, it ends the run.
    """

    counted: Counted
    refuted: set[int] = field(default_factory=set)
    """Numbers of attempts whose trees are known to err too often: no luck certifies them."""
    _judged: int = field(default=0)
    _paths: dict[float, tuple[Tree, float] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, counted: Counted) -> KnownErrors | None:
        """Return what is known of a target's trees; nothing of a target that must be asked."""
        return cls(counted) if lists_its_answers(counted) else None

    def judged(self, attempts: Attempts) -> bool:
        """Return whether every tree under test was looked at."""
        return self._judged == len(attempts.all)

    def done(self, attempts: Attempts) -> Outcome | None:
        """Return what the run comes to, as soon as a new tree is good enough."""
        while self._judged < len(attempts.all):
            attempt = attempts.all[self._judged]
            self._judged += 1
            error = exact_error(attempt.tree, self.counted)
            if error is not None and error <= attempts.epsilon:
                return self._smallest(attempt, error, attempts.epsilon)
            if error is not None:
                self.refuted.add(attempt.number)
        asked = self.counted.asked
        return self.unfolded(attempts, asked) if asked >= economics.SOONEST else None

    def unfolded(self, attempts: Attempts, most: float) -> Outcome | None:
        """The tree of a diagram's paths, if it has no more leaves than so many, and than there may be."""
        epsilon, limit = attempts.epsilon, self.counted.budget.max_leaves or LISTED
        if epsilon not in self._paths:
            root, space = _answers_of(self.counted), self.counted.space
            diagram = root if isinstance(root, DiagramSubfunction) else None
            self._paths[epsilon] = None if diagram is None else diagram.unfolded(space, epsilon, min(limit, LISTED))
        tree, error = self._paths[epsilon] or (None, 0.0)
        return None if tree is None or tree.size > most else Outcome(tree, attempts.open(tree), 0.0, error=error)

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
