"""Whether counts go to the end of what was answered: at the luckiest moment a bound is lower than in the end.

A run asks about inputs batch by batch, and counts each batch whole. Its last one may have been cut off, by the clock or
by an interrupt, and then none of it counts. Of six batches with 50 answers each, 300 answers count, or 250.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Asked = tuple[str, int, int]
"""Why an input was asked first, in which batch, and how many answers there were before."""


@dataclass(frozen=True)
class Endings:
    """How many inputs may count: all that were asked, or those ``before`` the ``last`` batch, which was cut off."""

    all: int
    before: int
    last: int

    @classmethod
    def of(cls, keys: Iterable[bytes], asked: Mapping[bytes, Asked], purpose: str, paid: float) -> Endings:
        """Those of a stream; of a journal that another run extended, only the ``paid`` answers of this run matter."""
        first: dict[bytes, int] = {}
        for place, key in enumerate(keys, 1):
            first.setdefault(key, place)
        places: dict[int, list[int]] = {}
        for key, place in first.items():
            why, batch, earlier = asked.get(key, ("", 0, 0))
            if why == purpose and earlier < paid:
                places.setdefault(batch, []).append(place)
        last = places.pop(max(places, default=0), [0])
        return cls(max(last), max([0, *(place for some in places.values() for place in some)]), min(last))

    def allow(self, count: int) -> bool:
        """Whether this many inputs from the beginning of the stream may be all that count."""
        return count >= self.all or self.before <= count < self.last
