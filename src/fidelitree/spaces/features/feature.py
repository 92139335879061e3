"""The contract of features: one independent coordinate of a space.

A feature knows its marginal and what it means to be restricted. Above this package a value is an *inner* number: a bit
is 0 or 1, a category its position among the feature's values, a number itself.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.spaces.features.tests import Test

Floats = NDArray[np.float64]
Column = NDArray[Any]
"""Inner values of a feature: bytes of a bit, floats of anything else."""
Restriction = Any
"""What is left of a feature, known to its own kind only: of a bit one value (int), of a number an interval open on the
left ``(low, high]`` (a pair of floats), of a category some codes (a frozenset)."""


class Feature(Protocol):
    """One independent coordinate of a space."""

    @property
    def name(self) -> str:
        """Unique within its space."""

    @property
    def kind(self) -> str:
        """What stored trees call this kind of feature."""

    @property
    def values(self) -> tuple[Any, ...] | None:
        """The categories that codes stand for; None where inner values mean themselves."""

    @property
    def points(self) -> int | None:
        """How many different values there are; None where there are infinitely many."""

    def mass(self, restriction: Restriction | None) -> float:
        """Probability that a drawn value meets the restriction (None: no restriction)."""

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: Restriction | None) -> Column:
        """Inner values from the marginal given the restriction."""

    def parts(self, test: Test, restriction: Restriction | None) -> tuple[Restriction | None, Restriction | None]:
        """What is left where the test says no, and where it says yes; None where nothing is left."""

    def split(self, test: Test, restriction: Restriction | None) -> tuple[Restriction, Restriction]:
        """The same for a test that must leave something on both sides."""

    def listed(self, restriction: Restriction | None) -> tuple[Floats, Floats]:
        """The inner values that are left, increasing, with their probabilities given the restriction."""

    def restriction(self, wanted: Any) -> Restriction:
        """The restriction that a user's value stands for."""

    def text(self, restriction: Restriction) -> str:
        """The restriction as a condition."""

    def column(self, inner: Floats) -> NDArray[Any]:
        """What a target receives for inner values."""

    def describe(self) -> dict[str, Any]:
        """The marginal as plain data, floats exact."""


def uniforms(bits: np.random.BitGenerator, rows: int) -> Floats:
    """Random numbers of 53 bits, at least 0 and below 1."""
    return np.asarray((bits.random_raw(rows) >> 11) * 2.0**-53)
