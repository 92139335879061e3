"""The contract of features, and the tests that split them.

A feature is one independent coordinate of a space. It knows its marginal and what it means to be restricted. Above
this package a value is an *inner* number: a bit is 0 or 1, a category its position among the feature's values, a number
itself. A test is a question about one feature, answered yes or no: what an inner node of a tree holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.wording import category, shown

Floats = NDArray[np.float64]
Column = NDArray[Any]
"""Inner values of a feature: bytes of a bit, floats of anything else."""
Restriction = Any
"""What is left of a feature, known to its own kind only: of a bit one value (int), of a number an interval open on the
left ``(low, high]`` (a pair of floats, and a third entry True where missing numbers are left too), of a category some
codes (a frozenset)."""


@dataclass(frozen=True)
class IsOne:
    """The test ``x = 1`` of a bit; ``feature`` is its position in its space."""

    feature: int

    kind = "boolean"

    def answers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Which inner values of the feature are on the yes side."""
        return np.asarray(column != 0)

    def text(self, name: str, yes: bool, values: Sequence[Any] | None = None) -> str:
        """The condition that inputs on this side meet: ``x3 = 1``; ``values`` are the feature's categories."""
        return f"{shown(name)} = {int(yes)}"


@dataclass(frozen=True)
class AtMost:
    """The test ``x <= cut`` of a number.

    ``missing`` says whether missing numbers (NaN) are on the yes side; None where none can come here. An infinite cut
    asks whether a number is there at all: ``x is missing`` is its no side.
    """

    feature: int
    cut: float
    missing: bool | None = None

    kind = "numeric"

    def answers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(~(column > self.cut) if self.missing else column <= self.cut)

    def text(self, name: str, yes: bool, values: Sequence[Any] | None = None) -> str:
        """``age <= 32.5`` on the yes side."""
        if self.cut == math.inf:
            return f"{shown(name)} is {'not ' * yes}missing"
        return f"{shown(name)} {'<=' if yes else '>'} {short(self.cut)}{' or missing' * (self.missing is yes)}"

    def __repr__(self) -> str:
        side = "" if self.missing is None else f", missing={self.missing}"
        return f"AtMost(feature={self.feature}, cut={self.cut!r}{side})"


@dataclass(frozen=True)
class IsIn:
    """The test ``x in A`` of a category; ``codes`` are the positions of A's values among the feature's values."""

    feature: int
    codes: frozenset[int]

    kind = "categorical"

    def answers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """A value that the feature does not have, code -1, is outside every set."""
        inside = np.zeros(max(self.codes, default=-1) + 2, np.bool_)
        inside[list(self.codes)] = True
        return np.asarray(inside[np.minimum(column, len(inside) - 1).astype(np.intp)])

    def text(self, name: str, yes: bool, values: Sequence[Any] | None = None) -> str:
        """``job in {clerk, nurse}`` on the yes side, ``job = pilot`` where A has one value.

        On the no side the values that are left are named where they are fewer: ``job = pilot`` again.
        """
        members = [code if values is None else values[code] for code in sorted(self.codes)]
        fewer = not yes and values is not None and len(values) < 2 * len(members)
        left = [value for code, value in enumerate(values or ()) if code not in self.codes] if fewer else []
        return among(name, members, yes, left)


def among(name: str, members: Sequence[Any], inside: bool, others: Sequence[Any] = ()) -> str:
    """That a category is one of some, or none of them; where the ``others`` are known and fewer, one of those.

    >>> among("job", ["clerk", "nurse"], False), among("job", ["clerk", "nurse"], False, ["pilot"])
    ('job not in {clerk, nurse}', 'job = pilot')
    """
    if not inside and 0 < len(others) < len(members):
        members, inside = others, True
    if len(members) == 1:
        return f"{shown(name)} {'=' if inside else '!='} {category(members[0])}"
    return f"{shown(name)} {'' if inside else 'not '}in {{{', '.join(map(category, members))}}}"


Test: TypeAlias = IsOne | AtMost | IsIn
"""A question about one feature."""


def short(cut: float) -> str:
    """A number with as few digits as tell it apart, whole ones without ``.0``."""
    return str(int(cut)) if cut.is_integer() and abs(cut) < 1e15 else repr(float(cut))


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


def pick(uniform: Floats, shares: Floats) -> NDArray[np.intp]:
    """The position that each uniform number falls on when positions get these shares; never one with share 0."""
    ends = np.cumsum(shares)
    places = np.searchsorted(ends, uniform * ends[-1], side="right")
    last = np.flatnonzero(shares)[-1]  # rounding may carry a product to the very end
    return np.asarray(np.minimum(places, last))


def pick_each(uniform: Floats, shares: Floats) -> NDArray[np.intp]:
    """The same where each uniform number has shares of its own, a row of these."""
    ends = np.cumsum(shares, axis=1)
    places = (uniform[:, None] * ends[:, -1:] >= ends).sum(axis=1)
    return np.asarray(np.minimum(places, (ends < ends[:, -1:]).sum(axis=1)))


def json_value(value: Any) -> Any:
    """A value as JSON can hold it, different for different values: floats in hexadecimal, foreign kinds by repr."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    return {"repr": repr(value)}
