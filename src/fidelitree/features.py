"""Kinds of feature: how its value is drawn, how a test splits it.

A feature knows its marginal and what it means to be restricted; nothing above this file looks at a value.
A restriction is opaque to the rest of the library: for a bit it is the one value that is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.checks import check_probability
from fidelitree.errors import ParameterError

Restriction = int
Column = NDArray[np.uint8]

_UNIFORM_BITS = 53
_LOW_BITS = _UNIFORM_BITS - 8


class Test(Protocol):
    """A question about one feature, answered yes or no; what an inner node of a tree holds."""

    @property
    def feature(self) -> int:
        """Position of the feature in its space."""

    def text(self, name: str, yes: bool) -> str:
        """The condition that inputs on this side meet."""


class Feature(Protocol):
    """One independent coordinate of a space."""

    @property
    def name(self) -> str:
        """Unique within its space."""

    @property
    def kind(self) -> str:
        """What stored trees call this kind of feature."""

    def mass(self, restriction: Restriction | None) -> float:
        """Probability that a drawn value meets the restriction (None: no restriction)."""

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: Restriction | None) -> Column:
        """Values from the marginal given the restriction."""

    def split(self, test: Test, restriction: Restriction | None) -> tuple[Restriction, Restriction]:
        """What is left of the feature where the test says no, and where it says yes."""

    def restriction(self, wanted: Any) -> Restriction:
        """The restriction that a user's value stands for."""

    def describe(self) -> dict[str, Any]:
        """The marginal as plain data, floats exact."""


@dataclass(frozen=True)
class IsOne:
    """The test ``x = 1`` of a bit."""

    feature: int

    def text(self, name: str, yes: bool) -> str:
        """``x3 = 1`` on the yes side."""
        return f"{name} = {int(yes)}"


@dataclass(frozen=True)
class Boolean:
    """A bit that is 1 with probability ``p``."""

    name: str
    p: float = 0.5

    kind = "boolean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", check_probability(f"p of feature {self.name!r}", self.p))

    def mass(self, restriction: Restriction | None) -> float:
        """p or 1 - p; exactly 1 without a restriction."""
        if restriction is None:
            return 1.0
        return self.p if restriction else 1.0 - self.p

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: Restriction | None) -> Column:
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

    def split(self, test: Test, restriction: Restriction | None) -> tuple[Restriction, Restriction]:
        """A bit is used up by its first split."""
        if restriction is not None:
            raise ParameterError(f"feature {self.name!r} is already fixed to {restriction} here; it cannot split again")
        return 0, 1

    def restriction(self, wanted: Any) -> Restriction:
        """0, 1, False or True."""
        if not isinstance(wanted, (bool, int, np.bool_, np.integer)) or wanted not in (0, 1):
            raise ParameterError(f"given[{self.name!r}] must be 0 or 1; got {wanted!r}")
        return int(wanted)

    def describe(self) -> dict[str, Any]:
        """Kind, name and p in hexadecimal."""
        return {"kind": self.kind, "name": self.name, "p": self.p.hex()}
