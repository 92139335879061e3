"""Numbers: uniform on an interval, as observed, or between quantiles; some may be missing.

A missing number is a value of its own, NaN, which is in no interval. It is independent of the marginal of the numbers
that are there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree.display.wording import percent
from fidelitree.errors import ParameterError, check_array, check_list, check_number, check_probability, check_text, show
from fidelitree.spaces.features.feature import AtMost, Floats, Test, short, uniforms
from fidelitree.spaces.features.marginals import Observed, Pieces
from fidelitree.spaces.inputs import MOST, is_missing, object_numbers

Left = tuple[float, float] | tuple[float, float, bool]
"""Numbers in an interval; a third entry, True, where missing numbers are left too."""
EVERYTHING = (-math.inf, math.inf, True)
MISSING = (math.inf, math.inf, True)


def left_of(restriction: Left | None) -> tuple[float, float, bool]:
    """Both ends, and whether missing numbers are left."""
    low, high, *missing = restriction or EVERYTHING
    return low, high, bool(missing)


def part_of(low: float, high: float, missing: bool) -> Left | None:
    """What is left, in one form; None where nothing is."""
    if low >= high:
        return MISSING if missing else None
    return (low, high, True) if missing else (low, high)


class Numeric:
    """A number that is uniform between two ends. `from_values` makes one of numbers that were observed.

    ``integer`` numbers reach the target as integers; only observed ones can be.

    Args:
        name: What the feature is called.
        low: The smallest number.
        high: The largest number.
        missing: The probability that there is no number.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> age = Numeric("age", 18, 90)
        >>> age.mass(age.restriction((18, 36)))
        0.25
    """

    kind = "numeric"
    values = None

    def __init__(self, name: str, low: float, high: float, missing: float = 0.0) -> None:
        check_text("name of a feature", name)
        ends = check_number(f"low of feature {name!r}", low), check_number(f"high of feature {name!r}", high)
        if not ends[0] < ends[1] or not math.isfinite(ends[1] - ends[0]):
            raise ParameterError(
                f"low and high of feature {name!r} must be finite, low below high; got {low} and {high}"
            )
        self._fill(name, Pieces(np.array(ends) + 0.0, np.ones(1)), False, missing)

    @classmethod
    def from_values(cls, name: str, values: ArrayLike, weights: ArrayLike | None = None) -> Numeric:
        """A number as it was observed: draws give these values, as often as they occur here.

        Cuts lie midway between neighbouring values. Integers stay integers.

        Args:
            name: What the feature is called.
            values: The numbers; None and NaN are missing ones.
            weights: How often each of them occurs; once where it is left out.

        Returns:
            The feature.

        Raises:
            ParameterError: An argument breaks its rule.

        Examples:
            >>> age = Numeric.from_values("age", [18, 18, 20, 40, None])
            >>> age.cuts(None).tolist(), age.mass(age.restriction(18)), age.missing
            ([19.0, 30.0], 0.4, 0.2)
        """
        check_text("name of a feature", name)
        found = check_array(f"values of feature {name!r}", values, what="a list of at least one number")
        whole = found.dtype.kind in "biu"
        if found.dtype.kind == "O" and found.ndim == 1:
            found, whole = object_numbers(found)
        if found.ndim != 1 or not found.size or found.dtype.kind not in "biuf":
            raise ParameterError(
                f"values of feature {name!r} must be a list of at least one number; got {found.dtype} of shape "
                f"{found.shape}"
            )
        numbers = _check_finite(name, found, whole)
        different, inverse = np.unique(numbers, return_inverse=True)
        counts = np.bincount(inverse, None if weights is None else _check_weights(name, weights, len(numbers)))
        known = np.flatnonzero((counts > 0) & ~np.isnan(different))
        if not len(known):
            raise ParameterError(
                f"values of feature {name!r} must hold a number that can be drawn; all {len(numbers)} are missing - "
                f"leave the feature out"
            )
        gone = counts[-1] / counts.sum() if np.isnan(different[-1]) else 0.0
        return cls._of(name, Observed(different[known] + 0.0, counts[known].astype(np.float64)), whole, float(gone))

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
        return cls._of(name, Pieces(np.array(edges) + 0.0, np.diff(levels)))

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
        return cls._of(name, Pieces(ends + 0.0, parts))

    def with_missing(self, share: float) -> Numeric:
        """The same number, missing with this probability.

        >>> Numeric.from_quantiles("income", [0, 20, 200]).with_missing(0.1)
        <Numeric 'income': 3 quantiles from 0 to 200, 10% missing>
        """
        return self._of(self.name, self.marginal, self.integer, share)

    @classmethod
    def _of(cls, name: str, marginal: Observed | Pieces, integer: bool = False, missing: float = 0.0) -> Numeric:
        made = cls.__new__(cls)
        made._fill(name, marginal, integer, missing)
        return made

    def _fill(self, name: str, marginal: Observed | Pieces, integer: bool, missing: float) -> None:
        self.name, self.marginal, self.integer = name, marginal, integer
        self.missing = check_probability(f"missing of feature {name!r}", missing)
        if self.missing == 1:
            raise ParameterError(f"missing of feature {name!r} must be below 1; got {missing} - leave the feature out")

    @property
    def points(self) -> int | None:
        """How many values there are, a missing one included; None in an interval."""
        return None if self.marginal.points is None else self.marginal.points + (self.missing > 0)

    def mass(self, restriction: Left | None) -> float:
        """Probability of what is left."""
        return 1.0 if restriction is None else sum(self.chances(restriction))

    def chances(self, restriction: Left | None) -> tuple[float, float]:
        """Probability of the numbers that are left, and of missing ones as far as they are."""
        low, high, missing = left_of(restriction)
        known = self.marginal.mass((low, high)) if low < high else 0.0
        return ((1 - self.missing) * known, self.missing * missing) if self.missing else (known, 0.0)

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: Left | None) -> Floats:
        """Numbers from the marginal inside the interval that is left, some of them missing where that is left too."""
        low, high, _ = left_of(restriction)
        known, gone = self.chances(restriction) if self.missing else (1.0, 0.0)
        if not gone:
            return self.marginal.draw(bits, rows, (low, high))
        if not known:
            return np.full(rows, np.nan)
        missing = uniforms(bits, rows) * (known + gone) < gone
        return np.where(missing, np.nan, self.marginal.draw(bits, rows, (low, high)))

    def parts(self, test: Test, restriction: Left | None) -> tuple[Left | None, Left | None]:
        """The interval above the cut, and the one up to it; missing numbers are on one of the sides.

        A test that says nothing about them is asked where there are none.
        """
        if not isinstance(test, AtMost):
            raise ParameterError(f"feature {self.name!r} is numeric, which only x <= t tests; got {test!r}")
        low, high, missing = left_of(restriction)
        if restriction is None and not self.missing:
            missing = test.missing is not None
        no = part_of(max(low, test.cut), high, missing and not test.missing)
        return no, part_of(low, min(high, test.cut), missing and bool(test.missing))

    def split(self, test: Test, restriction: Left | None) -> tuple[Left, Left]:
        """A cut inside the interval."""
        no, yes = self.parts(test, restriction)
        if no is None or yes is None:
            left = self.text(restriction or EVERYTHING)
            raise ParameterError(
                f"the test {test.text(self.name, True)} splits nothing of feature {self.name!r} here, where {left}"
            )
        return no, yes

    def listed(self, restriction: Left | None) -> tuple[Floats, Floats]:
        """The observed values that are left, a missing one last; an error in an interval."""
        low, high, _ = left_of(restriction)
        values, shares = self.marginal.listed((low, high))
        known, gone = self.chances(restriction) if self.missing else (1.0, 0.0)
        if not gone:
            return values, shares
        return np.append(values, np.nan), np.append(shares * known, gone) / (known + gone)

    def cuts(self, restriction: Left | None) -> Floats | None:
        """The cuts that part observed values, increasing; None where any number may be one."""
        return self.marginal.cuts(left_of(restriction)[:2])

    def restriction(self, wanted: Any) -> Left:
        """A number, or a pair of ends that both belong to it, where None is no end; None or NaN alone is missing."""
        if is_missing(wanted) and self.missing:
            return MISSING
        pair = wanted if isinstance(wanted, (tuple, list)) and len(wanted) == 2 else (wanted, wanted)
        if wanted is None or not all(end is None or _is_number(end) for end in pair):
            also = ", or None for missing numbers" * (self.missing > 0)
            raise ParameterError(
                f"given[{self.name!r}] must be a number or a pair (low, high){also}; got {show(wanted)}"
            )
        low = -math.inf if pair[0] is None else math.nextafter(pair[0], -math.inf)
        high = math.inf if pair[1] is None else float(pair[1])
        if not low < high:
            raise ParameterError(f"given[{self.name!r}] must have its low end first; got {wanted!r}")
        return low, high

    def text(self, restriction: Left) -> str:
        """``18 < age <= 30``, ``age > 18``; or ``18 <= age <= 30`` where the low end is just below 18."""
        low, high, missing = left_of(restriction)
        if low == math.inf:
            return f"{self.name} is missing"
        first = math.nextafter(low, math.inf)
        included = len(short(first)) < len(short(low))
        also = " or missing" * (missing and self.missing > 0)
        if high == math.inf > low > -math.inf:
            return f"{self.name} {f'>= {short(first)}' if included else f'> {short(low)}'}{also}"
        before = f"{short(first)} <= " if included else f"{short(low)} < "
        after = f" <= {short(high)}"
        if low == -math.inf and high == math.inf:
            return f"{self.name} is {'any number' if also or not self.missing else 'not missing'}{also}"
        return f"{before if low > -math.inf else ''}{self.name}{after if high < math.inf else ''}{also}"

    def column(self, inner: Floats) -> NDArray[Any]:
        """The numbers themselves, as int64 where they are integers and none is missing."""
        return inner.astype(np.int64) if self.integer and not self.missing else inner.copy()

    def describe(self) -> dict[str, Any]:
        """Kind, name and the marginal in hexadecimal."""
        gone = {"missing": self.missing.hex()} if self.missing else {}
        return {"kind": self.kind, "name": self.name, "integer": self.integer, **gone, **self.marginal.describe()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numeric) and (self is other or self.describe() == other.describe())

    def __hash__(self) -> int:
        return hash((self.name, self.integer, self.points))

    def __repr__(self) -> str:
        gone = f", {percent(self.missing)} missing" if self.missing else ""
        if isinstance(self.marginal, Observed):
            return f"<Numeric {self.name!r}: {self.marginal.points} observed values{gone}>"
        edges = self.marginal.edges.tolist()
        if len(edges) == 2:
            also = f", missing={self.missing:g}" if self.missing else ""
            return f"Numeric({self.name!r}, {edges[0]:g}, {edges[1]:g}{also})"
        return f"<Numeric {self.name!r}: {len(edges)} quantiles from {edges[0]:g} to {edges[-1]:g}{gone}>"


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and not math.isnan(value)
    )


def _check_finite(name: str, found: NDArray[Any], whole: bool) -> Floats:
    numbers = found.astype(np.float64)
    if np.isinf(numbers).any():
        count = int(np.isinf(numbers).sum())
        raise ParameterError(f"values of feature {name!r} must be finite numbers; {count} of {len(found)} are not")
    if whole and np.abs(numbers[~np.isnan(numbers)]).max(initial=0) >= MOST:
        raise ParameterError(
            f"integers of feature {name!r} must be below 2^53 in size; got {numbers[np.nanargmax(np.abs(numbers))]:.0f}"
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
