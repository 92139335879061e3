"""Certified precision and recall of what a tree flags as changed (THEORY 4(m)).

An attempt is a tree that is fixed, with two bets. Precision is judged by inputs of what it flags; recall by changed
inputs: of those, as they come from the whole space, each is flagged or missed independently of the others. Only inputs
that were drawn after the attempt was opened count. Of delta a third is for "how much changed", one for precision, one
for recall. Attempts one after the other share 7/8 of a third, each 2/5 of what is left after the first, which has 3/5;
those of a curve are opened together and share 1/8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.runs.agree.difference import SAME
from fidelitree.theory.sequential import Bet, error_bound, samples_needed

if TYPE_CHECKING:
    from fidelitree.runs.agree.diff_growing import ChangeExplorer
    from fidelitree.trees.tree import Tree

THIRD = 1 / 3
_ONE_BY_ONE, _FIRST, _NEXT = 7 / 8, 0.6, 0.4
CURVE = 9
"""Attempts that are opened together at most."""
_UPPER = 0.95  # of its part goes to the upper end of how much changed
_MANY = 1 << 40
_ROUND = 24  # draws inside flagged boxes at a time


def level_of(number: int, delta: float) -> float:
    """What one attempt may spend on precision, and as much on recall."""
    return THIRD * delta * _ONE_BY_ONE * _FIRST * _NEXT ** (number - 1)


def level_in_curve(delta: float) -> float:
    """The same for each that is opened together with others."""
    return THIRD * delta * (1 - _ONE_BY_ONE) / CURVE


@dataclass
class Changed:
    """How often the two differ, by all inputs that were drawn from the whole space."""

    delta: float
    counts: tuple[int, int] = (0, 0)
    """Changes and inputs; both change in one step, so that an interrupt finds them together."""

    @property
    def changes(self) -> int:
        """Inputs with another answer."""
        return self.counts[0]

    @property
    def inputs(self) -> int:
        """All that were drawn."""
        return self.counts[1]

    def count(self, old: NDArray[np.intp], new: NDArray[np.intp]) -> None:
        """Some more."""
        self.counts = self.changes + int(np.count_nonzero(old != new)), self.inputs + len(old)

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends, true at all times together with probability 1 - delta/3."""
        level = THIRD * self.delta
        low = 1 - error_bound(self.inputs - self.changes, self.inputs, (1 - _UPPER) * level) if self.inputs else 0.0
        return low, error_bound(self.changes, self.inputs, _UPPER * level)

    def needed(self, epsilon: float) -> int:
        """Inputs that would still be needed to certify that at most epsilon changed, if no other change comes."""
        return samples_needed(self.changes, epsilon, _UPPER * THIRD * self.delta) - self.inputs if epsilon else _MANY

    @property
    def share(self) -> float:
        """The share that was seen."""
        return self.changes / max(1, self.inputs)


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

    def inside(self, explorer: ChangeExplorer) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Draws in the boxes of flagged leaves, each as often as its mass asks, and the leaf that each is drawn for.

        An input counts where it reaches that very leaf: then it is drawn as the whole space would draw it there.
        """
        leaves = explorer.flagged_leaves(self.tree)
        inner, places = explorer.boxes.among([box for _, box in leaves], _ROUND)
        return inner, np.array([node for node, _ in leaves], np.intp)[places]
