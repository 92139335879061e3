"""Whether epsilon is in reach: what the labels at hand say about trees from many more of them.

Held-out errors fall as labels grow, about as a power of their number, so the last portions say what the next ones can
bring. Where a tree may have few leaves, another share tells earlier: it errs less on the labels that it was fitted to
than it will on others, so where even that is clearly above epsilon, no tree of that size will do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

LEAVES = 512  # of a tree that is small: beyond, nobody reads it
LEAST = 8_000  # labels by which a search that fails has failed: some trees show themselves late
A_LEAF = 250  # labels for each leaf: where few are allowed, that is enough to say so
NO_DOUBT = 6  # standard deviations
_BACK = (1.9, 7)  # times fewer labels: how far to look back for the fall of held-out errors
_HOPE = 2.0  # times the steepest such fall: a search may be about to find its way


@dataclass
class Reach:
    """Portion by portion, whether ``most`` labels may bring trees of at most ``leaves`` to an error of epsilon."""

    epsilon: float
    leaves: int
    most: int
    rows: float = math.inf
    """How many inputs there are to learn from."""
    promised: float = 0.0
    """Held-out errors that are to be hoped for from all labels still to come."""
    hopeless: bool = False
    """Whether the last portion left no hope."""
    _seen: list[tuple[int, float]] = field(default_factory=list)

    def see(self, labels: int, fitted: float, held: float) -> None:
        """After a search: shares of errors on the labels that it used, and the smallest one on those held out."""
        spread = (self.epsilon * (1 - self.epsilon) / labels) ** 0.5
        beyond = fitted > self.epsilon + NO_DOUBT * spread and labels >= min(A_LEAF * self.leaves, self.rows)
        self.promised = self._extrapolated(labels, fitted, held)
        self.hopeless = (beyond or labels >= LEAST) and self.promised > self.epsilon
        self._seen.append((labels, held))

    def _extrapolated(self, labels: int, fitted: float, held: float) -> float:
        before = [(labels / count, share) for count, share in self._seen if _BACK[0] <= labels / count <= _BACK[1]]
        if not before:  # held-out errors may fall as far below the others as they are above them now
            return max(0.0, 2 * fitted - held)
        falls = [math.log(share / held) / math.log(times) for times, share in before if 0 < held < share]
        return float(held * min(1.0, labels / self.most) ** (_HOPE * max(falls, default=0.0)))
