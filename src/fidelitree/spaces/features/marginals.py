"""Marginals of a number: a set of observed values, or even between edges.

Both answer for intervals ``(low, high]``: which probability they have, and numbers drawn inside, without rejection.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fidelitree.errors import ParameterError
from fidelitree.spaces.features.feature import Floats, pick, uniforms

Interval = tuple[float, float]
MOST_COPIES = 1 << 20


def midway(low: float, high: float) -> float:
    """A cut that separates two neighbours: at least the one, below the other, halfway where floats allow it."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


@dataclass(frozen=True, eq=False)
class Observed:
    """Different values, increasing, each with a positive weight."""

    values: Floats
    weights: Floats

    @property
    def points(self) -> int:
        """How many values there are."""
        return len(self.values)

    @cached_property
    def _ends(self) -> Floats:
        """Weight of all values before each; whole weights add up without rounding."""
        return np.concatenate([[0.0], np.cumsum(self.weights)])

    @cached_property
    def _copies(self) -> Floats | None:
        """Each value as often as its weight says, where weights are whole: one look-up then draws a value."""
        if self._ends[-1] > MOST_COPIES or (self.weights != np.floor(self.weights)).any():
            return None
        return np.repeat(self.values, self.weights.astype(np.intp))

    def _span(self, interval: Interval) -> tuple[int, int]:
        first, end = np.searchsorted(self.values, interval, side="right").tolist()
        return first, max(first, end)

    def mass(self, interval: Interval) -> float:
        """Share of the weight inside."""
        first, end = self._span(interval)
        return float((self._ends[end] - self._ends[first]) / self._ends[-1])

    def places(self, interval: Interval) -> tuple[Floats, Floats | None]:
        """The values inside with their weights; or each as often as its weight says, which need none."""
        first, end = self._span(interval)
        if first == end:
            raise ParameterError(f"nothing can be drawn in ({interval[0]}, {interval[1]}]: no value was observed there")
        if self._copies is None:
            return self.values[first:end], self.weights[first:end]
        return self._copies[int(self._ends[first]) : int(self._ends[end])], None

    def draw(self, bits: np.random.BitGenerator, rows: int, interval: Interval) -> Floats:
        """Observed values, as often as they were observed."""
        values, weights = self.places(interval)
        if weights is not None:
            return values[pick(uniforms(bits, rows), weights)]
        # Rounding may carry a product to the very end.
        return np.asarray(values[np.minimum(uniforms(bits, rows) * len(values), len(values) - 1).astype(np.intp)])

    def listed(self, interval: Interval) -> tuple[Floats, Floats]:
        """The values inside with their shares."""
        first, end = self._span(interval)
        weights = self.weights[first:end]
        return self.values[first:end], weights / max(weights.sum(), math.ulp(0.0))

    def cuts(self, interval: Interval) -> Floats:
        """Cuts midway between neighbouring values inside."""
        first, end = self._span(interval)
        inside = self.values[first:end]
        return np.array([midway(low, high) for low, high in itertools.pairwise(inside.tolist())])

    def describe(self) -> dict[str, Any]:
        """The bytes of all values and weights in hexadecimal: there may be a million of them."""
        return {"values": _bytes(self.values), "weights": _bytes(self.weights)}


@dataclass(frozen=True, eq=False)
class Pieces:
    """Even between neighbouring edges, each piece with its own share; two equal edges are one value."""

    edges: Floats
    shares: Floats

    points = None

    def inside(self, interval: Interval) -> tuple[Floats, Floats, Floats]:
        """Ends of every piece cut to the interval, and the probability of that part."""
        low, high = np.clip(self.edges[:-1], *interval), np.clip(self.edges[1:], *interval)
        widths = np.diff(self.edges)
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = np.where(widths > 0, (high - low) / widths, 0.0)
        parts[(widths == 0) & (interval[0] < self.edges[1:]) & (self.edges[1:] <= interval[1])] = 1.0
        return low, high, self.shares * parts

    def mass(self, interval: Interval) -> float:
        """Probability of the interval."""
        return math.fsum(self.inside(interval)[2])

    @cached_property
    def _whole(self) -> tuple[Floats, ...]:
        return self._laid((-math.inf, math.inf))

    def _laid(self, interval: Interval) -> tuple[Floats, ...]:
        """Of the pieces that have a part in the interval that part's end and width, its least number and its share."""
        low, high, parts = self.inside(interval)
        some = np.flatnonzero(parts)
        low, high = low[some], high[some]
        return high, high - low, np.where(low < high, np.nextafter(low, np.inf), high), parts[some]

    def draw(self, bits: np.random.BitGenerator, rows: int, interval: Interval) -> Floats:
        """One random number chooses a piece where there are several, one a place in it."""
        # Most draws are from everywhere, and with hundreds of features this takes longer than the drawing.
        end, width, least, parts = self._whole if interval == (-math.inf, math.inf) else self._laid(interval)
        if not len(parts):
            raise ParameterError(f"nothing can be drawn in ({interval[0]}, {interval[1]}]: it has probability 0")
        if len(parts) > 1:
            chosen = pick(uniforms(bits, rows), parts)
            end, width, least = end[chosen], width[chosen], least[chosen]
        # Counted from the upper end, because an interval contains that end and not the lower one.
        return np.maximum(end - width * uniforms(bits, rows), least)

    def listed(self, interval: Interval) -> tuple[Floats, Floats]:
        """An error: there is no end to the values."""
        raise ParameterError(f"the values between {self.edges[0]:g} and {self.edges[-1]:g} cannot be listed")

    def cuts(self, interval: Interval) -> None:
        """None: any number may be a cut."""

    def describe(self) -> dict[str, Any]:
        """Edges and shares in hexadecimal."""
        return {"edges": [v.hex() for v in self.edges.tolist()], "shares": [v.hex() for v in self.shares.tolist()]}


def _bytes(array: Floats) -> str:
    return array.astype("<f8").tobytes().hex()
