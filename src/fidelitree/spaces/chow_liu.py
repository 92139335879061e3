"""A Chow-Liu tree in the place of a product: inputs whose features go together as they do in a table.

Every feature depends on one other. Between bins the dependence is counted (`dependence`); inside its bin a number is
one of the observed values, whatever the others are. So the mass of a box, draws inside it, and how often two trees
disagree are exact, as they are for a product.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError
from fidelitree.spaces.bins import Bins, binned
from fidelitree.spaces.dependence import Dependence, checked, fitted
from fidelitree.spaces.groups import taken_out
from fidelitree.spaces.held_out import NOT_JUDGED, Fit
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.rows import Rows
from fidelitree.spaces.world import KnownJoint, over_features

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Column, Floats
    from fidelitree.spaces.groups import Groups
    from fidelitree.spaces.region import Region

ASSUMES_CHOW_LIU = "inputs follow the Chow-Liu tree fitted to this table"
KEY = "chow_liu"


class ChowLiu(KnownJoint):
    """Inputs like the rows of a table: each feature depends on one other, as it does there (Chow and Liu 1968).

    `from_data` makes one.

    Args:
        bins: How the values of each feature are cut.
        dependence: Which feature each one depends on, and how.
        fit: How much better than independent features it describes rows that it has not seen.
        product: The features with their marginals, which trees, regions and batches are made with.

    Examples:
        >>> age = np.arange(20, 80)
        >>> world = ChowLiu.from_data({"age": age, "income": age * 100, "owner": age > 50})
        >>> world.parents
        {'age': None, 'income': 'age', 'owner': 'age'}
        >>> old_tenants = Region.of(world.product, {"age": (60, None), "owner": 0})
        >>> round(world.mass(old_tenants), 3), round(old_tenants.mass, 3)
        (0.022, 0.172)
    """

    assumes: tuple[str, ...] = (ASSUMES_CHOW_LIU,)

    def __init__(self, bins: Sequence[Bins], dependence: Dependence, fit: Fit | None, product: ProductSpace) -> None:
        self.product, self.bins, self.dependence, self.fit = product, tuple(bins), dependence, fit

    @classmethod
    def from_data(
        cls, table: Any, categorical: Iterable[str] = (), numeric: Iterable[str] = (), *, groups: Any = None
    ) -> ChowLiu:
        """Fitted to a table.

        Columns are read as `ProductSpace.from_data` reads them. Numbers get 3 bins below 100 rows, 4 below 400, else 8.
        Rows of a group are held out together; a column that names groups is no feature.

        Args:
            table: A pandas, polars or arrow table, a mapping of name to 1-D array, or a 2-D array.
            categorical: Columns to be read as categories, whatever they hold.
            numeric: Columns to be read as numbers, whatever they hold.
            groups: The column of a table that says which rows belong together, or an entry for each row.

        Returns:
            The fitted world.

        Raises:
            ParameterError: An argument breaks its rule.

        Examples:
            >>> age = np.arange(20, 80)
            >>> ChowLiu.from_data({"age": age, "owner": age > 50}).parents
            {'age': None, 'owner': 'age'}
        """
        table, named = taken_out(table, groups)
        product = ProductSpace.from_data(table, categorical, numeric)
        return cls.fitted_to(product, product.encode(table), named)

    @classmethod
    def fitted_to(cls, product: ProductSpace, inner: NDArray[Any], groups: Groups | None = None) -> ChowLiu:
        """Fitted to inner values; the features have their marginals."""
        bins, codes, marginals = binned(product, inner)
        return cls(bins, *fitted(codes, marginals, groups), product=product)

    def keep(self, rows: Rows, assumes: tuple[str, ...]) -> None:
        """Rows that it was not fitted to, to show errors on; ``assumes`` says that it was fitted to others only."""
        self.kept, self.assumes = rows, assumes

    @classmethod
    def from_dict(cls, data: Any) -> ChowLiu:
        """The inverse of `to_dict`; FormatError says what is wrong with anything else."""
        product = ProductSpace.from_dict(data)
        try:
            entry = data[KEY]
            if len(entry["cuts"]) != len(product):
                raise ValueError(f"it must have cuts for each of the {len(product)} features")
            bins = [_checked_bins(*pair) for pair in zip(product, entry["cuts"], strict=True)]
            dependence = checked(entry["parents"], entry["tables"], [len(one) for one in bins])
            world = cls(bins, dependence, None if entry["fit"] is None else Fit(**entry["fit"]), product)
            if entry.get("kept") is not None:
                world.keep(Rows.from_packed(product, entry["kept"]), (str(entry["assumes"]),))
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"not a stored Chow-Liu tree: {error!s:.200}") from None
        return world

    def to_dict(self) -> dict[str, Any]:
        """The features with their marginals, cuts, parents and tables, exact."""
        entry: dict[str, Any] = {
            "cuts": [list(one.cuts) for one in self.bins],
            "parents": list(self.dependence.parents),
            "tables": [table.tolist() for table in self.dependence.tables],
            "fit": None if self.fit is None else asdict(self.fit),
        }
        if self.kept is not None:
            entry |= {"kept": self.kept.packed(), "assumes": self.assumes[0]}
        return {**self.product.to_dict(), KEY: entry}

    @property
    def in_words(self) -> str:
        """The world as a noun."""
        return over_features("draws from a Chow-Liu tree over", self.product)

    @property
    def parents(self) -> dict[str, str | None]:
        """For each feature the one that it depends on; None where it depends on none."""
        above = [None if parent < 0 else self.names[parent] for parent in self.dependence.parents]
        return dict(zip(self.names, above, strict=True))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the features, their bins, and the dependence between them."""
        text = hashlib.sha256(f"chow-liu/{self.product.digest}/{self.dependence.parents}/".encode())
        for one, table in zip(self.bins, self.dependence.tables, strict=True):
            text.update(np.array([len(one.cuts), *one.cuts, *table.ravel()], "<f8").tobytes())
        if self.kept is not None:
            text.update(self.kept.digest.encode())
        return text.hexdigest()

    def mass(self, region: Region) -> float:
        """Probability that an input falls into the region."""
        return self.dependence.weigh(self._evidence(region))[1]

    def inside(self, region: Region, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Inputs of a region, without rejection however rare it is."""
        if region.restrictions and self.mass(region) == 0:
            raise ParameterError(f"nothing can be drawn where {region}: it has probability 0")
        codes = self.dependence.draw(stream, block, rows, self._evidence(region))
        columns = np.empty((len(self.bins), rows), self.dtype)
        for i, one in enumerate(self.bins):
            bits = stream.lane(block, len(self.bins) + i)
            columns[i] = one.draw(bits, codes[i], region.restrictions.get(i))
        return columns.T

    def redrawn(self, inner: NDArray[Any], feature: int, region: Region, stream: Stream, block: int) -> Column:
        """Another value of a feature for each input of a region, given its values of all others."""
        codes = np.stack([one.codes(inner[:, i]) for i, one in enumerate(self.bins)])
        own, left, lane = self.bins[feature], region.restrictions.get(feature), 2 * len(self.bins) + feature
        uniform = stream.uniforms(block, lane, len(inner))
        found = self.dependence.redraw(feature, codes, uniform, 1.0 if left is None else own.shares(left))
        return own.draw(stream.lane(block, lane + len(self.bins)), found, left)

    def _evidence(self, region: Region) -> dict[int, Floats]:
        return {i: self.bins[i].shares(left) for i, left in region.restrictions.items()}

    def __repr__(self) -> str:
        return f"<ChowLiu: {over_features('', self.product).strip()}; {self.fit or NOT_JUDGED}>"


def _checked_bins(feature: Any, cuts: Any) -> Bins:
    numbers = np.array(cuts, np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all() or (np.diff(numbers) <= 0).any():
        raise ValueError(f"cuts of feature {feature.name!r} must be finite and rise")
    if len(numbers) and feature.kind != "numeric":
        raise ValueError(f"cuts belong to numbers; feature {feature.name!r} is {feature.kind}")
    found = Bins(feature, tuple(numbers.tolist()))
    if not all(feature.mass(part) > 0 for part in found.parts if feature.kind == "numeric"):
        raise ValueError(f"cuts of feature {feature.name!r} must leave some of its values in every bin")
    return found
