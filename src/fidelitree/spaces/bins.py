"""Bins: the values of a feature in a few groups, each of them a restriction of the feature.

Bits and categories are bins as they are. Numbers are cut at quantiles; given its bin, a number has the distribution of
the feature's own values there, so restrictions may cut through a bin and masses stay exact. Missing numbers are one
more bin, the last.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError
from fidelitree.spaces.features import MISSING, left_of, part_of
from fidelitree.spaces.inputs import categories
from fidelitree.spaces.tables import columns_of, some_rows

if TYPE_CHECKING:
    from fidelitree.spaces.features import Column, Feature, Floats, Restriction
    from fidelitree.spaces.product import ProductSpace

Codes = NDArray[np.intp]
FEW_ROWS = ((100, 3), (400, 4))
"""Bins of a number in a table of fewer rows than that: eight of them ruin the fit to a hundred rows."""
MOST = 8
FEWEST = 2
"""Bins of a number, however many numbers there are."""
MOST_BINS = 6_000
"""Of all features together: their pairs are counted in one square table."""
_FEWER = "join rare values, or leave a column out"
_LOOKED_AT = 20  # rows that tell which columns have different values


def bins_for(rows: int) -> int:
    """How many bins a number gets, by the number of rows."""
    return next((bins for limit, bins in FEW_ROWS if rows < limit), MOST)


@dataclass(frozen=True)
class Bins:
    """A feature's bins; ``cuts`` are the upper ends of all bins of a number but the last one.

    >>> from fidelitree.spaces.features import Numeric
    >>> bins = Bins(Numeric.from_values("age", [20, 30, 40, 50]), (30,))
    >>> bins.codes(np.array([20, 30, 50])).tolist(), bins.shares((-math.inf, 20)).tolist()
    ([0, 0, 1], [0.5, 0.0])
    """

    feature: Feature
    cuts: tuple[float, ...] = ()

    @classmethod
    def of(cls, feature: Feature, column: NDArray[Any], most: int) -> Bins:
        """Bins for the values of a table's column, about equally full; few different values are bins as they are."""
        if feature.kind != "numeric":
            return cls(feature)
        column = column[~np.isnan(column)]
        ordered = np.sort(column)
        different = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
        if len(different) > most:
            ends = ordered[[len(ordered) * k // most - 1 for k in range(1, most) if len(ordered) * k >= most]]
            different = np.unique(np.append(ends, ordered[-1]))
        return cls(feature, tuple(different[:-1].tolist()))

    @cached_property
    def parts(self) -> list[Restriction]:
        """Each bin as a restriction of the feature."""
        if self.feature.kind == "numeric":
            numbers = list(itertools.pairwise((-math.inf, *self.cuts, math.inf)))
            return [*numbers, *[MISSING] * (self.feature.mass(MISSING) > 0)]
        return [0, 1] if self.feature.kind == "boolean" else [frozenset({k}) for k in range(self.feature.points or 0)]

    def __len__(self) -> int:
        return len(self.parts)

    def codes(self, column: NDArray[Any]) -> Codes:
        """The bin of each inner value."""
        if self.feature.kind == "numeric":
            return np.asarray(np.searchsorted(self.cuts, column, side="left") + np.isnan(column))
        return column.astype(np.intp)

    def shares(self, restriction: Restriction) -> Floats:
        """For each bin the probability that a value of it meets the restriction."""
        return np.array([self._share(part, _both(part, restriction)) for part in self.parts])

    def _share(self, part: Restriction, left: Restriction | None) -> float:
        if left is None or left == part:
            return float(left is not None)
        return self.feature.mass(left) / self.feature.mass(part)

    def draw(self, bits: np.random.BitGenerator, codes: Codes, restriction: Restriction | None) -> Column:
        """A value for each code, inside the restriction."""
        if self.feature.kind != "numeric":
            return codes
        values = np.empty(len(codes))
        for code, part in enumerate(self.parts):
            places = np.flatnonzero(codes == code)
            if len(places):
                left = part if restriction is None else _both(part, restriction)
                values[places] = self.feature.draw(bits, len(places), left)
        return values


def binned(
    product: ProductSpace, inner: NDArray[Any], most: int | None = None
) -> tuple[list[Bins], Codes, list[Floats]]:
    """Bins for the rows of a table, the codes of these rows (a row for each column), and how frequent each bin is.

    A number gets as many bins as the rows are enough for, unless ``most`` says how many, and fewer where there are very
    many numbers.
    """
    most = bins_for(len(inner)) if most is None else most
    bins = [Bins.of(feature, inner[:, i], most) for i, feature in enumerate(product)]
    while (count := sum(map(len, bins))) > MOST_BINS and most > FEWEST:
        most = max(FEWEST, min(most - 1, most * MOST_BINS // count))
        bins = [Bins.of(feature, inner[:, i], most) for i, feature in enumerate(product)]
    if count > MOST_BINS:
        widest = max(bins, key=len)
        raise ParameterError(f"{_too_many(count)}, {len(widest):,} of them in {widest.feature.name!r} - {_FEWER}")
    codes = np.stack([one.codes(inner[:, i]) for i, one in enumerate(bins)])
    counts = [np.bincount(row, minlength=len(one)) for row, one in zip(codes, bins, strict=True)]
    return bins, codes, [count / len(inner) for count in counts]


def refuse_width(table: Any) -> None:
    """ParameterError at once where a table has more columns than `binned` can take, told from a few of its rows."""
    columns = columns_of(some_rows(table, _LOOKED_AT))
    if len(columns) * FEWEST <= MOST_BINS:
        return
    fewest = sum(min(FEWEST, len(set(categories(column)))) for column in columns.values())
    if fewest > MOST_BINS:
        raise ParameterError(f"{_too_many(fewest)} or more in {len(columns):,} columns - {_FEWER}")


def _too_many(count: int) -> str:
    """What is wrong with a table of so many bins."""
    return f"table must have at most {MOST_BINS:,} categories and bins in all columns together; got {count:,}"


def _both(part: Restriction, restriction: Restriction) -> Restriction | None:
    """What meets both; None where nothing does."""
    if isinstance(part, int):
        return part if part == restriction else None
    if isinstance(part, frozenset):
        return part & restriction or None
    one, two = left_of(part), left_of(restriction)
    return part_of(max(one[0], two[0]), min(one[1], two[1]), one[2] and two[2])
