"""Neighbours of rows: each feature keeps the value of a row with probability 1 - rho, else it is drawn anew.

That is a mixture with a product for each row. So the mass of a box is a mean over rows, and to draw
inside it a row is chosen in proportion to its share: both are exact. Inputs are independent given the rows alone, so
that a certificate over them speaks of neighbours of these rows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, check_number, show
from fidelitree.spaces.features import pick, pick_each
from fidelitree.spaces.packing import packed, unpacked
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region, meets
from fidelitree.spaces.world import KnownJoint, over_features

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Column, Floats, Restriction

AUTO = "auto"
KEY = "neighbours"
_MOST, _FEATURES = 0.2, 3.0
_BYTES = 1 << 26  # of answers which rows meet a restriction, which the masses of many boxes share


def check_blend(blend: float | str, columns: int) -> float:
    """The probability that a feature is drawn anew; "auto" changes a fifth of them, and three at most."""
    if isinstance(blend, str):
        if blend == AUTO:
            return min(_MOST, _FEATURES / columns)
        raise ParameterError(f'blend must be a number from 0 to 1, or "{AUTO}"; got {show(blend)}')
    found = check_number("blend", blend)
    if not 0 <= found <= 1:
        raise ParameterError(
            f"blend must be from 0 (the rows as they are) to 1 (independent features); got {show(blend)} - it is the "
            f"probability that a feature is drawn anew"
        )
    return found


class Blend(KnownJoint):
    """Inputs near some rows of inner values; marginals are those of ``product``."""

    digest: str = ""
    assumes: tuple[str, ...] = ()

    def __init__(self, product: ProductSpace, inner: NDArray[Any], rho: float, digest: str) -> None:
        self.product, self.inner, self.rho, self.digest = product, inner, rho, digest
        self.assumes = (neighbours(len(inner), rho),)
        self._met: dict[tuple[int, Restriction], NDArray[np.bool_]] = {}
        self._last: tuple[list[tuple[int, Restriction]], list[Floats]] = [], [np.ones(len(inner))]
        self._weighed: tuple[bytes, Floats] = b"", np.empty(0)

    @property
    def in_words(self) -> str:
        """The world as a noun."""
        return over_features("neighbours of rows with", self.product)

    def to_dict(self) -> dict[str, Any]:
        """The features with their marginals, and these rows; the digest is that of the whole table."""
        entry = {**packed(self.inner), "blend": self.rho, "digest": self.digest, "assumes": list(self.assumes)}
        return {**self.product.to_dict(), KEY: entry}

    @classmethod
    def from_dict(cls, data: Any) -> Blend:
        """The inverse of `to_dict`; FormatError says what is wrong with anything else."""
        product = ProductSpace.from_dict(data)
        inner = unpacked(data.get(KEY), product)
        try:
            entry = data[KEY]
            world = cls(product, inner, check_blend(entry["blend"], len(product)), str(entry["digest"]))
            world.assumes = tuple(map(str, entry["assumes"]))
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"not stored neighbours of rows: {error!s:.200}") from None
        return world

    def mass(self, region: Region) -> float:
        """Probability that an input falls into the region."""
        return float(self._shares(region).mean()) if region.restrictions else 1.0

    def _shares(self, region: Region) -> Floats:
        """For each row the probability that a neighbour of it falls into the region.

        Boxes come in the order of a walk down a tree, so each shares its first restrictions with the one before.
        """
        wanted, (known, products) = list(region.restrictions.items()), self._last
        same = 0
        while same < min(len(wanted), len(known)) and wanted[same] == known[same]:
            same += 1
        products = products[: same + 1]
        for i, left in wanted[same:]:
            anew = self.rho * self.product.features[i].mass(left)
            products.append(products[-1] * np.where(self._meets(i, left), 1 - self.rho + anew, anew))
        if len(products) * products[0].nbytes <= _BYTES:
            self._last = wanted, products
        return products[-1]

    def _meets(self, feature: int, left: Restriction) -> NDArray[np.bool_]:
        found = self._met.get((feature, left))
        if found is None:
            if len(self._met) * len(self.inner) > _BYTES:
                self._met.clear()
            found = self._met[feature, left] = meets(self._columns[feature], left)
        return found

    @cached_property
    def _columns(self) -> list[NDArray[Any]]:
        return [np.ascontiguousarray(column) for column in self.inner.T]

    def inside(self, region: Region, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Inputs of a region, without rejection however rare it is."""
        uniform = stream.uniforms(block, 0, rows)
        if region.restrictions:
            shares = self._shares(region)
            if not shares.any():
                raise ParameterError(f"nothing can be drawn where {region}: it has probability 0")
            chosen = pick(uniform, shares)
        else:
            chosen = (uniform * len(self.inner)).astype(np.intp)
        columns = np.empty((len(self.names), rows), self.dtype)
        for i in range(len(columns)):
            columns[i] = self._neighbours(i, chosen, region.restrictions.get(i), stream, block)
        return columns.T

    def _neighbours(
        self, i: int, chosen: NDArray[np.intp], left: Restriction | None, stream: Stream, block: int
    ) -> Column:
        """Values of a feature near those of chosen rows, inside what is left of it."""
        feature, values = self.product.features[i], self._columns[i][chosen]
        uniform, anew = stream.uniforms(block, 1 + i, len(chosen)), np.full(len(chosen), self.rho)
        if left is not None:
            again = self.rho * feature.mass(left)
            anew = np.where(self._meets(i, left)[chosen], again / (1 - self.rho + again or 1.0), 1.0)
        places = np.flatnonzero(uniform < anew)
        values[places] = feature.draw(stream.lane(block, 1 + len(self.names) + i), len(places), left)
        return values

    def redrawn(self, inner: NDArray[Any], feature: int, region: Region, stream: Stream, block: int) -> NDArray[Any]:
        """Another value of a feature for each input of a region, given its values of all others.

        They tell how likely it is that the input is a neighbour of each row; one is chosen so, and has another one.
        """
        left, again = region.restrictions.get(feature), stream.child("again", feature)
        here = 1.0 if left is None else self._shares(Region(self.product, {feature: left}))
        uniform, chosen = again.uniforms(block, 0, len(inner)), np.empty(len(inner), np.intp)
        step = max(1, _BYTES // (8 * len(self.inner)))
        for start in range(0, len(inner), step):
            some = slice(start, start + step)
            logs = self._likely(inner[some], feature)
            chosen[some] = pick_each(uniform[some], here * np.exp(logs - logs.max(axis=1, keepdims=True)))
        return self._neighbours(feature, chosen, left, again, block)

    def _likely(self, inner: NDArray[Any], but: int) -> Floats:
        """For each input and row, how likely neighbours of the row are it: logarithms, but for what all rows share.

        All features but one; what all of them say of these inputs is kept, for others are left out next.
        """
        name = inner.tobytes()
        if self._weighed[0] != name:
            total = np.zeros((len(inner), len(self.inner)))
            for i, column in enumerate(inner.T):
                total += self._agreement(i, column)
            self._weighed = name, total
        return np.asarray(self._weighed[1] - self._agreement(but, inner[:, but]))

    def _agreement(self, i: int, column: Column) -> Floats:
        """What a value says for the rows that have it."""
        values, shares = self.product.features[i].listed(None)
        anew = self.rho * shares[np.searchsorted(values, column)]
        own, theirs = column[:, None], self._columns[i]
        same = (own == theirs) | (np.isnan(own) & np.isnan(theirs))
        return np.asarray(same * np.log1p((1 - self.rho) / anew)[:, None])


def neighbours(count: int, rho: float) -> str:
    """What a certificate over neighbours of so many rows takes for granted."""
    return f"inputs are neighbours of these {count:,} rows, each feature drawn anew with probability {rho:.4g}"
