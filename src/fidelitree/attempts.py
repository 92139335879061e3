"""Attempts to certify a tree while answers are still coming in (the prequential protocol).

An attempt is opened by writing down its number, its tree and its level. From then on it counts every input that is
drawn independently from the whole space, and nothing that was drawn before: whatever led to opening it is never
counted for it. Each attempt's e-value is a bet that cannot win on average while its tree is not good enough, so all
attempts together fail with probability at most the sum of their levels, which is below delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from fidelitree.sequential import accepts, error_bound, level_of_attempt
from fidelitree.tree import Tree

_FAR = 1 << 40


@dataclass
class Attempt:
    """A tree, what it may spend of delta, and how it has fared since the attempt was opened."""

    number: int
    tree: Tree
    level: float
    errors: int = 0
    samples: int = 0

    certified: float = 1.0
    """The smallest error certified at any time so far: what was once certified stays so."""

    def count(self, errors: int, samples: int) -> None:
        """Count answers drawn since the attempt was opened."""
        self.errors += errors
        self.samples += samples

    @property
    def error_bound(self) -> float:
        """The error certified for this tree so far."""
        self.certified = min(self.certified, error_bound(self.errors, self.samples, self.level))
        return self.certified

    def needed_for(self, epsilon: float) -> int:
        """Answers without an error that would still be needed to certify this error; 0 when it is certified."""
        if self.error_bound <= epsilon:
            return 0
        high = 1
        while not accepts(self.errors, self.samples + high, epsilon, self.level):
            high *= 2
            if high > _FAR:
                return high
        low = high // 2
        while high - low > 1:
            middle = (low + high) // 2
            if accepts(self.errors, self.samples + middle, epsilon, self.level):
                high = middle
            else:
                low = middle
        return high


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

    def count(self, batch: NDArray[Any], labels: NDArray[Any]) -> Attempt | None:
        """Count answers to inputs drawn since; the attempt that is now certified, if any."""
        for attempt in self.all:
            attempt.count(int((attempt.tree.predict(batch) != labels).sum()), len(labels))
        done = [
            attempt for attempt in self.all if accepts(attempt.errors, attempt.samples, self.epsilon, attempt.level)
        ]
        return min(done, key=lambda attempt: attempt.tree.size) if done else None

    def needed(self) -> int | None:
        """Answers without an error that the leading attempt still needs; None without an attempt."""
        return min((attempt.needed_for(self.epsilon) for attempt in self.all), default=None)

    def best(self) -> Attempt | None:
        """The attempt with the smallest certified error so far."""
        return min(self.all, key=lambda attempt: attempt.error_bound, default=None)

    @property
    def error_bound(self) -> float:
        """The smallest error certified so far."""
        return min((attempt.error_bound for attempt in self.all), default=1.0)
