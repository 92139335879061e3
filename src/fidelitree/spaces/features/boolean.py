"""Bits: how they are drawn, restricted and split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, check_probability, check_text, show
from fidelitree.spaces.features.feature import Column, Floats, IsOne, Test

_UNIFORM_BITS = 53
_LOW_BITS = _UNIFORM_BITS - 8


@dataclass(frozen=True)
class Boolean:
    """A bit.

    Args:
        name: What the feature is called.
        p: The probability of 1.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> Boolean("owner", 0.3).mass(1)
        0.3
    """

    name: str
    p: float = 0.5

    kind = "boolean"
    values = None
    points = 2

    def __post_init__(self) -> None:
        check_text("name of a feature", self.name)
        object.__setattr__(self, "p", check_probability(f"p of feature {self.name!r}", self.p))

    def mass(self, restriction: int | None) -> float:
        """p or 1 - p; exactly 1 without a restriction."""
        if restriction is None:
            return 1.0
        return self.p if restriction else 1.0 - self.p

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: int | None) -> Column:
        """Compare 53-bit uniforms with p, reading only their first byte where that decides.

        One draw in 256 ties on its first byte and reads the other 45 bits, so a bit costs one random byte
        instead of eight and has exactly the distribution of ``uniform < p``.
        """
        if restriction is not None:
            return np.full(rows, restriction, np.uint8)
        limit = int(np.ceil(self.p * 2.0**_UNIFORM_BITS))
        first, rest = divmod(limit, 1 << _LOW_BITS)
        octets = bits.random_raw(-(-rows // 8)).astype("<u8", copy=False).view(np.uint8)[:rows]
        column = (octets < first).view(np.uint8) if first < 256 else np.ones(rows, np.uint8)
        if rest:
            tied = np.flatnonzero(octets == first)
            column[tied] = bits.random_raw(tied.size) >> (64 - _LOW_BITS) < rest
        return column

    def parts(self, test: Test, restriction: int | None) -> tuple[int | None, int | None]:
        """0 and 1, as far as they are left."""
        if not isinstance(test, IsOne):
            raise ParameterError(f"feature {self.name!r} is a bit, which only x = 1 tests; got {test!r}")
        return (None if restriction == 1 else 0), (None if restriction == 0 else 1)

    def split(self, test: Test, restriction: int | None) -> tuple[int, int]:
        """A bit is used up by its first split."""
        no, yes = self.parts(test, restriction)
        if no is None or yes is None:
            raise ParameterError(f"feature {self.name!r} is already fixed to {restriction} here; it cannot split again")
        return no, yes

    def listed(self, restriction: int | None) -> tuple[Floats, Floats]:
        """0 and 1, or the one value that is left."""
        if restriction is not None:
            return np.array([float(restriction)]), np.ones(1)
        return np.array([0.0, 1.0]), np.array([1.0 - self.p, self.p])

    def restriction(self, wanted: Any) -> int:
        """0, 1, False or True."""
        if not isinstance(wanted, (bool, int, np.bool_, np.integer)) or wanted not in (0, 1):
            raise ParameterError(f"given[{self.name!r}] must be 0 or 1; got {show(wanted)}")
        return int(wanted)

    def text(self, restriction: int) -> str:
        """``owner = 1``."""
        return f"{self.name} = {restriction}"

    def column(self, inner: Floats) -> NDArray[np.uint8]:
        """Bytes 0 and 1."""
        return inner.astype(np.uint8)

    def describe(self) -> dict[str, Any]:
        """Kind, name and p in hexadecimal."""
        return {"kind": self.kind, "name": self.name, "p": self.p.hex()}
