"""How many answers come at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fidelitree.runs import economics


class Portions(Protocol):
    """Says how large the next portion is."""

    def rows(self, known: int, needed: float, lucky: float = 0.0) -> float:
        """Return the answers to draw next, of those that are ``needed`` for the next decision.

        ``lucky`` are the answers between two mistakes of the best tree under test.
        """


@dataclass(frozen=True)
class Growing:
    """A share of what is known."""

    first: int
    least: int
    share: float

    def rows(self, known: int, needed: float, lucky: float = 0.0) -> float:
        """Return a share of what is known, or of the time to the next mistake, unless less is needed."""
        usual = max(self.least, self.share * known) if known else self.first
        return min(max(usual, economics.PART_OF_TEST * lucky), needed)


DOUBLING = Growing(first=economics.FIRST, least=economics.FIRST, share=1.0)
"""Where every size learns."""
FEW = Growing(first=economics.FIRST_FEW, least=economics.LEAST_FEW, share=economics.PART)
"""Where labels are dear."""
