"""Sums of floats without rounding error, under addition and subtraction (Shewchuk, 1997)."""

from __future__ import annotations

import math


class ExactSum:
    """Holds a sum as partials that do not overlap, so that what was added can be taken away again exactly.

    >>> total = ExactSum()
    >>> for term in (0.1, 1e16, -1e16):
    ...     total.add(term)
    >>> total.value
    0.1
    """

    def __init__(self) -> None:
        self._partials: list[float] = []

    def add(self, term: float) -> None:
        """Add a term; a negative one takes away."""
        kept = []
        for partial in self._partials:
            large, small = (term, partial) if abs(term) >= abs(partial) else (partial, term)
            total = large + small
            lost = small - (total - large)
            if lost:
                kept.append(lost)
            term = total
        self._partials = [*kept, term]

    @property
    def value(self) -> float:
        """The sum, rounded once."""
        return math.fsum(self._partials)
