"""Copies among the rows of a table: rows on one side of a split that equal rows of the other.

Rows of categories repeat by nature: 99 % of COMPAS do. So the share of equal rows alone accuses no table. It is
compared with the same share among draws from a Chow-Liu tree fitted to the rows that teach: draws repeat as a
population does, and do not repeat because a row was stored ten times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fidelitree.display.wording import percent
from fidelitree.errors import CopiedRowsWarning, ParameterError, warn
from fidelitree.spaces.bins import binned, bins_for
from fidelitree.spaces.dependence import fitted
from fidelitree.spaces.draw import Stream, draw
from fidelitree.spaces.groups import Groups, numbered
from fidelitree.spaces.inputs import one_form

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fidelitree.spaces.product import ProductSpace

SHARE = 0.1  # of the test rows: fewer copies do little harm
TIMES = 2.0  # as many as among draws
CHANCE = 1e-3  # of as many copies as that in a table whose rows repeat by nature, at twice the share of draws
FINER = 16  # bins of a number, beside the usual ones: numbers from 0 to 9 are bins as they are then
LOOKED_AT = 4_096  # test rows, rows that a Chow-Liu tree is fitted to, and draws from it
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def grouped_if_copied(product: ProductSpace, inner: NDArray[Any]) -> Groups | None:
    """Equal rows as groups, with a warning, where there are more of them than chance explains; None elsewhere.

    Rows are looked at without each column whose values are all different, too: row numbers make all rows different.
    """
    found = copied(product, inner)
    keys, but = numbers_of_rows(inner), ""
    if found is None:
        without = _behind_numbers(product, inner)
        if without is None:
            return None
        found, keys, left_out = without
        but = f" but for {left_out}, whose values are all different"
    warn(
        f"{_percent(found[0])} of test rows equal a row that teaches{but}; among rows drawn from a distribution "
        f"fitted to them, {_percent(found[1])} do. So equal rows were kept together, and each different row "
        f'counts once - if rows belong to persons or days, name their column: groups="person". If equal rows are '
        f"independent of each other, make each row a group: groups=range({len(inner)})",
        CopiedRowsWarning,
    )
    return Groups(numbered(keys), equal=True)


def doubt_groups(product: ProductSpace, inner: NDArray[Any], groups: Groups) -> None:
    """Warn where equal rows lie in different groups that a column names, and chance does not explain them.

    Whoever gives an entry for each row, all different, says that equal rows are independent.
    """
    if groups.listed and groups.count == len(inner):
        return
    shares = copied(product, inner, groups)
    if shares is not None:
        warn(
            f"{_percent(shares[0])} of test rows equal a row of another group that teaches; among rows drawn from a "
            f"distribution fitted to them, {_percent(shares[1])} do. The groups were left as they are - name the "
            f"column that holds copies together, leave groups out, and equal rows are kept together, or, if equal rows "
            f"are independent of each other, make each row a group: groups=range({len(inner)})",
            CopiedRowsWarning,
        )


def copied(product: ProductSpace, inner: NDArray[Any], groups: Groups | None = None) -> tuple[float, float] | None:
    """The shares of test rows, and of draws, that equal a row of the other half; None where chance explains the first.

    Half of the rows teach, as in a run, whatever its seed is; of groups half, and one row of each other group tests.
    """
    split = _Split.of(inner, groups)
    keys = numbers_of_rows(inner)
    return split.beyond_chance(keys, lambda: [numbers_of_rows(like) for like in split.draws(product, inner)])


def _behind_numbers(
    product: ProductSpace, inner: NDArray[Any]
) -> tuple[tuple[float, float], NDArray[np.uint64], str] | None:
    """What `copied` finds without a column of different values, the keys of rows without it, and its name; or None.

    Without several of them at once, too, if they hold whole numbers or categories.
    """
    width = inner.shape[1]
    if inner.dtype == np.uint8 or width < 2:
        return None
    some = _without_equals(inner)
    if not some or len(some) == width:
        return None
    split, left = _Split.of(inner), [i for i in range(width) if i not in some]
    keys = _summed(inner, left)

    def drawn() -> list[NDArray[np.uint64]]:
        return [_summed(like, left) for like in split.draws(product, inner)]

    shares = split.beyond_chance(keys, drawn)
    return None if shares is None else (shares, keys, " and ".join(product.names[i] for i in some))


def _without_equals(inner: NDArray[Any]) -> list[int]:
    """The column whose values are all different; all such columns, if they hold whole numbers or categories.

    None where more columns than these keep all rows apart.
    """
    found: list[int] = []
    for i, column in enumerate(inner.T):
        ordered = np.sort(column)  # missing numbers come last
        if (ordered[1:] == ordered[:-1]).any() or np.isnan(ordered[-2:]).all():
            continue
        found.append(i)
        if len(found) > 1 and not all(np.array_equal(one, np.round(one)) for one in inner.T[found]):
            return []
    return found


def _summed(inner: NDArray[Any], columns: Sequence[int]) -> NDArray[np.uint64]:
    """A number for each row, which tells these columns of it."""
    total = np.zeros(len(inner), np.uint64)
    with np.errstate(over="ignore"):
        for i in columns:
            total += _code(inner[:, i], i)
    return total


def _code(column: NDArray[Any], place: int) -> NDArray[np.uint64]:
    """A number for each value of a column; the sum over columns is one for each row."""
    return numbers_of_rows(np.column_stack([np.full(len(column), float(place)), column]))


def _percent(share: float) -> str:
    return percent(round(share, 2))


@dataclass(frozen=True, eq=False)
class _Split:
    """Rows that test and rows that teach."""

    tested: NDArray[np.intp]
    teaching: NDArray[np.intp]

    @classmethod
    def of(cls, inner: NDArray[Any], groups: Groups | None = None) -> _Split:
        """Halves in random order."""
        if groups is None:
            order = np.argsort(Stream("copies").lane(0, 0).random_raw(len(inner)), kind="stable")
            tested, teaching = np.array_split(order, 2)
        else:
            teaching, tested = groups.apart(Stream("copies"), 0.5)
        return cls(tested[:LOOKED_AT], teaching)

    def draws(self, product: ProductSpace, inner: NDArray[Any]) -> list[NDArray[Any]]:
        """Rows drawn as if those that teach were a population."""
        some = inner[self.teaching[:LOOKED_AT]]
        return [_draws(product, some, Stream("copies"), most) for most in (bins_for(len(some)), FINER)]

    def beyond_chance(
        self, keys: NDArray[np.uint64], drawn: Callable[[], list[NDArray[np.uint64]]]
    ) -> tuple[float, float] | None:
        """The shares of test rows, and of draws, that equal a row that teaches; None where chance explains the first.

        ``keys`` are those of the rows, and ``drawn`` gives those of draws.
        """
        found = int(np.isin(keys[self.tested], keys[self.teaching]).sum())
        share = found / max(1, len(self.tested))
        if share <= SHARE or len(self.teaching) == 0:
            return None
        chance = max(float(np.isin(like, keys[self.teaching]).mean()) for like in drawn())
        if share <= TIMES * chance or special.bdtrc(found - 1, len(self.tested), TIMES * chance) > CHANCE:
            return None
        return share, chance


def numbers_of_rows(inner: NDArray[Any]) -> NDArray[np.uint64]:
    """One number for each row of inner values, the same for equal rows; different rows share one by chance only."""
    if inner.dtype == np.uint8:
        bits = np.packbits(inner, axis=1)
        wide = np.zeros((len(bits), 8 * math.ceil(bits.shape[1] / 8)), np.uint8)
        wide[:, : bits.shape[1]] = bits
        columns = wide.view("<u8").T
    else:
        columns = inner.T
    found = np.zeros(len(inner), np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            value = column if inner.dtype == np.uint8 else one_form(np.ascontiguousarray(column)).view(np.uint64)
            found = (found ^ value) + _MIX[0]
            found = (found ^ (found >> np.uint64(30))) * _MIX[1]
            found = (found ^ (found >> np.uint64(27))) * _MIX[2]
            found ^= found >> np.uint64(31)
    return found


def _draws(product: ProductSpace, inner: NDArray[Any], stream: Stream, most: int) -> NDArray[Any]:
    """Rows drawn from a Chow-Liu tree that is fitted to these, with at most so many bins of a number."""
    try:
        bins, codes, marginals = binned(product, inner, most)
    except ParameterError:  # too many categories for a Chow-Liu tree
        return draw(product.whole, stream.child("draws"), 0, LOOKED_AT).T
    drawn = fitted(codes, marginals)[0].draw(stream.child("draws"), 0, LOOKED_AT, {})
    found = np.empty((LOOKED_AT, len(bins)), product.dtype)
    for i, one in enumerate(bins):
        found[:, i] = one.draw(stream.child("draws").lane(0, len(bins) + i), drawn[i], None)
    return found
