"""Attempts to certify a tree while answers are still coming in (the prequential protocol).

An attempt is opened by writing down its number, its tree and its level. From then on it counts every input that is
drawn independently from the whole space, and nothing that was drawn before: whatever led to opening it is never
counted for it. Each attempt's e-value is a bet that cannot win on average while its tree is not good enough, so all
attempts together fail with probability at most the sum of their levels, which is below delta.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from fidelitree.sequential import Bet, level_of_attempt
from fidelitree.tree import Tree


class Attempt(Bet):
    """A tree, what it may spend of delta, and how it has fared since the attempt was opened."""

    def __init__(self, number: int, tree: Tree, level: float) -> None:
        super().__init__(level)
        self.number, self.tree = number, tree


class Attempts:
    """All attempts of a run; they read one stream of answers."""

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.all: list[Attempt] = []

    def open(self, tree: Tree) -> None:
        """Begin to count for a tree; a tree that has an attempt already gets no second one."""
        if all(attempt.tree != tree for attempt in self.all):
            number = len(self.all) + 1
            self.all.append(Attempt(number, tree, level_of_attempt(number, self.delta)))

    def count(self, batch: NDArray[Any], labels: NDArray[Any]) -> None:
        """Count answers to inputs drawn since."""
        for attempt in self.all:
            attempt.count(int((attempt.tree.predict(batch) != labels).sum()), len(labels))

    def best(self) -> Attempt | None:
        """The attempt with the smallest certified error so far."""
        return min(self.all, key=lambda attempt: attempt.error_bound, default=None)

    @property
    def error_bound(self) -> float:
        """The smallest error certified so far."""
        return min((attempt.error_bound for attempt in self.all), default=1.0)
