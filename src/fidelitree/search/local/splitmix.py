"""Random numbers for a search, the same in Python and in C: Splitmix64 (Steele, Lea, Flood 2014)."""

from __future__ import annotations

_WORD = (1 << 64) - 1


class Splitmix:
    """A counter, and a hash of it for each draw; the counter is all there is to keep.

    >>> Splitmix(0).draw() == 0xE220A8397B1DCDAF
    True
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & _WORD

    def draw(self) -> int:
        """64 bits."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        word = ((self.state ^ self.state >> 30) * 0xBF58476D1CE4E5B9) & _WORD
        word = ((word ^ word >> 27) * 0x94D049BB133111EB) & _WORD
        return word ^ word >> 31

    def below(self, count: int) -> int:
        """A number from 0 to count - 1, for counts that are small beside 2^32."""
        return (self.draw() >> 32) * count >> 32
