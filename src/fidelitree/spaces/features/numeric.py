"""Numbers: uniform on an interval, as observed, or between quantiles.

A marginal is a set of observed values, or even between edges. Both answer for intervals ``(low, high]``: which
probability they have, and numbers drawn inside, without rejection.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.errors import ParameterError, check_array, check_list, check_number, check_probability, check_text
from fidelitree.spaces.features.feature import AtMost, Floats, Test, pick, short, uniforms
from fidelitree.spaces.inputs import MOST

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)
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

    def draw(self, bits: np.random.BitGenerator, rows: int, interval: Interval) -> Floats:
        """Observed values, as often as they were observed."""
        first, end = self._span(interval)
        if first == end:
            raise ParameterError(f"nothing can be drawn in ({interval[0]}, {interval[1]}]: no value was observed there")
        if self._copies is None:
            return self.values[first + pick(uniforms(bits, rows), self.weights[first:end])]
        start, count = self._ends[first], self._ends[end] - self._ends[first]
        # Rounding may carry a product to the very end.
        places = np.minimum(uniforms(bits, rows) * count, count - 1).astype(np.intp)
        return np.asarray(self._copies[int(start) + places])

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

    def _inside(self, interval: Interval) -> tuple[Floats, Floats, Floats]:
        """Ends of every piece cut to the interval, and the probability of that part."""
        low, high = np.clip(self.edges[:-1], *interval), np.clip(self.edges[1:], *interval)
        widths = np.diff(self.edges)
        with np.errstate(invalid="ignore", divide="ignore"):
            parts = np.where(widths > 0, (high - low) / widths, 0.0)
        parts[(widths == 0) & (interval[0] < self.edges[1:]) & (self.edges[1:] <= interval[1])] = 1.0
        return low, high, self.shares * parts

    def mass(self, interval: Interval) -> float:
        """Probability of the interval."""
        return math.fsum(self._inside(interval)[2])

    def draw(self, bits: np.random.BitGenerator, rows: int, interval: Interval) -> Floats:
        """One random number chooses a piece where there are several, one a place in it."""
        low, high, parts = self._inside(interval)
        if not parts.any():
            raise ParameterError(f"nothing can be drawn in ({interval[0]}, {interval[1]}]: it has probability 0")
        chosen = np.flatnonzero(parts)
        if len(chosen) > 1:
            chosen = pick(uniforms(bits, rows), parts)
        start, end = low[chosen], high[chosen]
        # Counted from the upper end, because an interval contains that end and not the lower one.
        drawn = end - (end - start) * uniforms(bits, rows)
        return np.maximum(drawn, np.where(start < end, np.nextafter(start, np.inf), end))

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


class Numeric:
    """A number that is uniform between ``low`` and ``high``.

    ``integer`` numbers reach the target as integers; only observed ones can be.

    >>> age = Numeric("age", 18, 90)
    >>> age.mass(age.restriction((18, 36)))
    0.25
    """

    kind = "numeric"
    values = None

    def __init__(self, name: str, low: float, high: float) -> None:
        check_text("name of a feature", name)
        ends = check_number(f"low of feature {name!r}", low), check_number(f"high of feature {name!r}", high)
        if not ends[0] < ends[1] or not math.isfinite(ends[1] - ends[0]):
            raise ParameterError(
                f"low and high of feature {name!r} must be finite, low below high; got {low} and {high}"
            )
        self._fill(name, Pieces(np.array(ends) + 0.0, np.ones(1)), False)

    @classmethod
    def from_values(cls, name: str, values: ArrayLike, weights: ArrayLike | None = None) -> Numeric:
        """A number as it was observed: draws give these values, as often as they occur here.

        Cuts lie midway between neighbouring values. Integers stay integers.

        >>> age = Numeric.from_values("age", [18, 18, 20, 40])
        >>> age.cuts(None).tolist(), age.mass(age.restriction(18))
        ([19.0, 30.0], 0.5)
        """
        check_text("name of a feature", name)
        found = check_array(f"values of feature {name!r}", values, what="a list of at least one number")
        if found.ndim != 1 or not found.size or found.dtype.kind not in "biuf":
            raise ParameterError(
                f"values of feature {name!r} must be a list of at least one number; got {found.dtype} of shape "
                f"{found.shape}"
            )
        numbers = _check_finite(name, found)
        different, inverse = np.unique(numbers, return_inverse=True)
        counts = np.bincount(inverse, None if weights is None else _check_weights(name, weights, len(numbers)))
        kept = counts > 0
        return cls._of(
            name, Observed(different[kept] + 0.0, counts[kept].astype(np.float64)), found.dtype.kind in "biu"
        )

    @classmethod
    def from_quantiles(cls, name: str, quantiles: Sequence[float] | Mapping[float, float]) -> Numeric:
        """A number of which some quantiles are known, uniform between neighbouring ones.

        ``quantiles`` lists them at even levels from the smallest value to the largest, or maps levels from 0 to 1 to
        values. Equal neighbours are a single value with the whole probability between their levels.

        >>> income = Numeric.from_quantiles("income", {0: 0, 0.5: 20, 0.9: 60, 1: 200})
        >>> income.mass(income.restriction((0, 40)))
        0.7
        """
        check_text("name of a feature", name)
        if not isinstance(quantiles, Mapping):
            points = check_list(f"quantiles of feature {name!r}", quantiles, "numbers")
            quantiles = {k / max(1, len(points) - 1): value for k, value in enumerate(points)}
        levels = [check_probability(f"level of a quantile of feature {name!r}", level) for level in quantiles]
        edges = [check_number(f"quantile of feature {name!r}", value) for value in quantiles.values()]
        whole = len(levels) > 1 and levels[0] == 0 and levels[-1] == 1 and math.isfinite(edges[-1] - edges[0])
        if not whole or sorted(set(levels)) != levels or sorted(edges) != edges:
            raise ParameterError(
                f"quantiles of feature {name!r} must rise from level 0 to level 1, with finite values that never fall; "
                f"got {dict(quantiles)!r:.200}"
            )
        return cls._of(name, Pieces(np.array(edges) + 0.0, np.diff(levels)), False)

    @classmethod
    def from_pieces(cls, name: str, edges: ArrayLike, shares: ArrayLike) -> Numeric:
        """A number that is uniform between neighbouring edges, with a probability for each of these pieces.

        >>> age = Numeric.from_pieces("age", [18, 30, 90], [0.5, 0.5])
        >>> age.mass(age.restriction((18, 30)))
        0.5
        """
        check_text("name of a feature", name)
        ends = check_array(f"edges of feature {name!r}", edges, np.float64)
        parts = check_array(f"shares of feature {name!r}", shares, np.float64)
        shaped = ends.ndim == parts.ndim == 1 and len(ends) == len(parts) + 1 >= 2
        if not shaped or not np.isfinite(ends[-1] - ends[0]) or (np.diff(ends) < 0).any():
            raise ParameterError(
                f"edges of feature {name!r} must be finite, never fall, and be one more than the shares"
            )
        if not (parts >= 0).all() or abs(parts.sum() - 1) > 1e-9:
            raise ParameterError(
                f"shares of feature {name!r} must be at least 0 and add up to 1; got {parts.sum():.12g}"
            )
        return cls._of(name, Pieces(ends + 0.0, parts), False)

    @classmethod
    def _of(cls, name: str, marginal: Observed | Pieces, integer: bool) -> Numeric:
        made = cls.__new__(cls)
        made._fill(name, marginal, integer)
        return made

    def _fill(self, name: str, marginal: Observed | Pieces, integer: bool) -> None:
        self.name, self.marginal, self.integer = name, marginal, integer

    @property
    def points(self) -> int | None:
        """How many values there are; None in an interval."""
        return self.marginal.points

    def mass(self, restriction: Interval | None) -> float:
        """Probability of the interval that is left."""
        return 1.0 if restriction is None else self.marginal.mass(restriction)

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: Interval | None) -> Floats:
        """Numbers from the marginal inside the interval that is left."""
        return self.marginal.draw(bits, rows, restriction or EVERYTHING)

    def parts(self, test: Test, restriction: Interval | None) -> tuple[Interval | None, Interval | None]:
        """The interval above the cut, and the one up to it."""
        if not isinstance(test, AtMost):
            raise ParameterError(f"feature {self.name!r} is numeric, which only x <= t tests; got {test!r}")
        low, high = restriction or EVERYTHING
        above, below = (max(low, test.cut), high), (low, min(high, test.cut))
        return (above if above[0] < high else None), (below if low < below[1] else None)

    def split(self, test: Test, restriction: Interval | None) -> tuple[Interval, Interval]:
        """A cut inside the interval."""
        no, yes = self.parts(test, restriction)
        if no is None or yes is None:
            left = self.text(restriction or EVERYTHING)
            raise ParameterError(
                f"the test {test.text(self.name, True)} splits nothing of feature {self.name!r} here, where {left}"
            )
        return no, yes

    def listed(self, restriction: Interval | None) -> tuple[Floats, Floats]:
        """The observed values that are left; an error in an interval."""
        return self.marginal.listed(restriction or EVERYTHING)

    def cuts(self, restriction: Interval | None) -> Floats | None:
        """The cuts that part observed values, increasing; None where any number may be one."""
        return self.marginal.cuts(restriction or EVERYTHING)

    def restriction(self, wanted: Any) -> Interval:
        """A number, or a pair of ends that both belong to it; None is no end."""
        pair = wanted if isinstance(wanted, (tuple, list)) and len(wanted) == 2 else (wanted, wanted)
        if wanted is None or not all(end is None or _is_number(end) for end in pair):
            raise ParameterError(f"given[{self.name!r}] must be a number or a pair (low, high); got {wanted!r}")
        low = -math.inf if pair[0] is None else math.nextafter(pair[0], -math.inf)
        high = math.inf if pair[1] is None else float(pair[1])
        if not low < high:
            raise ParameterError(f"given[{self.name!r}] must have its low end first; got {wanted!r}")
        return low, high

    def text(self, restriction: Interval) -> str:
        """``18 < age <= 30``, or ``18 <= age <= 30`` where the low end is just below 18."""
        low, high = restriction
        first = math.nextafter(low, math.inf)
        included = len(short(first)) < len(short(low))
        before = f"{short(first)} <= " if included else f"{short(low)} < "
        after = f" <= {short(high)}"
        if low == -math.inf and high == math.inf:
            return f"{self.name} is any number"
        return f"{before if low > -math.inf else ''}{self.name}{after if high < math.inf else ''}"

    def column(self, inner: Floats) -> NDArray[Any]:
        """The numbers themselves, as int64 where they are integers."""
        return inner.astype(np.int64) if self.integer else inner.copy()

    def describe(self) -> dict[str, Any]:
        """Kind, name and the marginal in hexadecimal."""
        return {"kind": self.kind, "name": self.name, "integer": self.integer, **self.marginal.describe()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numeric) and (self is other or self.describe() == other.describe())

    def __hash__(self) -> int:
        return hash((self.name, self.integer, self.points))

    def __repr__(self) -> str:
        if isinstance(self.marginal, Observed):
            return f"<Numeric {self.name!r}: {self.points} observed values>"
        edges = self.marginal.edges.tolist()
        if len(edges) == 2:
            return f"Numeric({self.name!r}, {edges[0]:g}, {edges[1]:g})"
        return f"<Numeric {self.name!r}: {len(edges)} quantiles from {edges[0]:g} to {edges[-1]:g}>"


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and not math.isnan(value)
    )


def _check_finite(name: str, found: NDArray[Any]) -> Floats:
    numbers = found.astype(np.float64)
    if not np.isfinite(numbers).all():
        count = int((~np.isfinite(numbers)).sum())
        raise ParameterError(f"values of feature {name!r} must be finite numbers; {count} of {len(found)} are not")
    if found.dtype.kind in "iu" and np.abs(numbers).max() >= MOST:
        raise ParameterError(
            f"integers of feature {name!r} must be below 2^53 in size; got {found[np.abs(numbers).argmax()]}"
        )
    return numbers


def _check_weights(name: str, weights: ArrayLike, count: int) -> Floats:
    found = check_array(f"weights of feature {name!r}", weights, np.float64)
    if found.shape != (count,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise ParameterError(
            f"weights of feature {name!r} must be one finite number for each of the {count} values, at least 0 and not "
            f"all 0; got shape {found.shape}"
        )
    return found
