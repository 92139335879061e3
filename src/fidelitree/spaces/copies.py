"""Copies among the rows of a table: rows on one side of a split that equal rows of the other.

Rows of categories repeat by nature: 99 % of COMPAS do. So the share of equal rows alone accuses no table. It is
compared with the same share among draws from a Chow-Liu tree fitted to the rows that teach: draws repeat as a
population does, and do not repeat because a row was stored ten times.
"""

from __future__ import annotations

import math
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
    from fidelitree.spaces.product import ProductSpace

SHARE = 0.1  # of the test rows: fewer copies do little harm
TIMES = 2.0  # as many as among draws
CHANCE = 1e-3  # of as many copies as that in a table whose rows repeat by nature, at twice the share of draws
FINER = 16  # bins of a number, beside the usual ones: numbers from 0 to 9 are bins as they are then
LOOKED_AT = 4_096  # test rows, rows that a Chow-Liu tree is fitted to, and draws from it
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def grouped_if_copied(product: ProductSpace, inner: NDArray[Any]) -> Groups | None:
    """Equal rows as groups, with a warning, where there are more of them than chance explains; None elsewhere."""
    shares = copied(product, inner)
    if shares is None:
        return None
    warn(
        f"{percent(round(shares[0], 2))} of test rows equal a row that teaches; among rows drawn from a distribution "
        f"fitted to them, {percent(round(shares[1], 2))} do. So equal rows were kept together, and each different row "
        f'counts once - if rows belong to persons or days, name their column: groups="person". If equal rows are '
        f"independent of each other, make each row a group: groups=range({len(inner)})",
        CopiedRowsWarning,
    )
    return Groups(numbered(numbers_of_rows(inner)), equal=True)


def copied(product: ProductSpace, inner: NDArray[Any]) -> tuple[float, float] | None:
    """The shares of test rows, and of draws, that equal a row of the other half; None where chance explains the first.

    Half of the rows teach, as in a run, whatever its seed is.
    """
    keys, stream = numbers_of_rows(inner), Stream("copies")
    order = np.argsort(stream.lane(0, 0).random_raw(len(inner)), kind="stable")
    tested, teaching = np.array_split(order, 2)
    tested = tested[:LOOKED_AT]
    found = int(np.isin(keys[tested], keys[teaching]).sum())
    share = found / len(tested)
    if share <= SHARE or len(teaching) == 0:
        return None
    some = inner[teaching[:LOOKED_AT]]
    drawn = [_draws(product, some, stream, most) for most in (bins_for(len(some)), FINER)]
    chance = max(float(np.isin(numbers_of_rows(like), keys[teaching]).mean()) for like in drawn)
    if share <= TIMES * chance or special.bdtrc(found - 1, len(tested), TIMES * chance) > CHANCE:
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
