"""Certified precision and recall of what a tree flags as changed (THEORY 4(m)).

An attempt is a tree that is fixed, with two bets. Precision is judged by inputs of what it flags; recall by changed
inputs: of those, as they come from the whole space, each is flagged or missed independently of the others. Only inputs
that were drawn after the attempt was opened count. Of delta a third is for "how much changed", one for precision, one
for recall. Of its third each attempt takes half of what is left; those that are opened together share all that is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.runs.agree.difference import SAME
from fidelitree.theory.sequential import AUDIT, LEDGERS, Bet, least_error

if TYPE_CHECKING:
    from fidelitree.runs.agree.diff_growing import ChangeExplorer
    from fidelitree.trees.tree import Tree


def level_of(number: int, delta: float) -> float:
    """What one attempt may spend on precision, and as much on recall."""
    return delta / 3 * 0.5**number


def level_together(opened: int, together: int, delta: float) -> float:
    """The same for each of those that are opened ``together``, after others were opened one by one."""
    return delta / 3 * 0.5**opened / together


class Changed(Bet):
    """How often the two differ, by all inputs that were drawn from the whole space: an audit of "they are the same"."""

    def __init__(self, delta: float) -> None:
        super().__init__(LEDGERS[AUDIT] * delta / 3)

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends, true at all times together with probability 1 - delta/3."""
        return least_error(self.errors, self.samples, AUDIT, self.level), self.error_bound


class DiffAttempt:
    """A tree under test."""

    def __init__(self, tree: Tree, level: float) -> None:
        self.tree = tree
        self.false_alarms, self.misses = Bet(level), Bet(level)

    def flags(self, explorer: ChangeExplorer, inner: NDArray[Any], old: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which inputs the tree takes to be changed."""
        return np.asarray(self.tree.predict_inner(explorer.extend(inner, old)) != SAME)

    def count(self, flagged: NDArray[np.bool_], changed: NDArray[np.bool_]) -> None:
        """Inputs of the whole space: those that it flags judge its precision, those that changed its recall."""
        self.false_alarms.count(int((flagged & ~changed).sum()), int(flagged.sum()))
        self.misses.count(int((changed & ~flagged).sum()), int(changed.sum()))

    @property
    def precision(self) -> float:
        """At least so much of what it flags has changed."""
        return 1 - self.false_alarms.error_bound

    @property
    def recall(self) -> float:
        """At least so much of what has changed it flags."""
        return 1 - self.misses.error_bound

    def holds(self, precision: float, recall: float) -> bool:
        """Whether both are certified; what was once certified stays so."""
        return self.false_alarms.certifies(1 - precision) and self.misses.certifies(1 - recall)
