"""Tests: questions about one feature, answered yes or no; what an inner node of a tree holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.wording import shown


class Test(Protocol):
    """A question about one feature."""

    @property
    def feature(self) -> int:
        """Position of the feature in its space."""

    @property
    def kind(self) -> str:
        """The kind of feature that it asks about."""

    def answers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Which inner values of the feature are on the yes side."""

    def text(self, name: str, yes: bool, values: Sequence[Any] | None = None) -> str:
        """The condition that inputs on this side meet; ``values`` are the feature's categories, if it has any."""


@dataclass(frozen=True)
class IsOne:
    """The test ``x = 1`` of a bit."""

    feature: int

    kind = "boolean"

    def answers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(column != 0)

    def text(self, name: str, yes: bool, values: Sequence[Any] | None = None) -> str:
        """``x3 = 1`` on the yes side."""
        return f"{shown(name)} = {int(yes)}"


@dataclass(frozen=True)
class AtMost:
    """The test ``x <= cut`` of a number."""

    feature: int
    cut: float

    kind = "numeric"

    def answers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(column <= self.cut)

    def text(self, name: str, yes: bool, values: Sequence[Any] | None = None) -> str:
        """``age <= 32.5`` on the yes side."""
        return f"{shown(name)} {'<=' if yes else '>'} {short(self.cut)}"


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
        """``job in {clerk, nurse}`` on the yes side, ``job = pilot`` where A has one value."""
        members = [shown(code if values is None else values[code]) for code in sorted(self.codes)]
        if len(members) == 1:
            return f"{shown(name)} {'=' if yes else '!='} {members[0]}"
        return f"{shown(name)} {'' if yes else 'not '}in {{{', '.join(members)}}}"


def short(cut: float) -> str:
    """A number with as few digits as tell it apart, whole ones without ``.0``."""
    return str(int(cut)) if cut.is_integer() and abs(cut) < 1e15 else repr(float(cut))
