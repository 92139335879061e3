"""Mixtures of products: each input comes from one of a few kinds, within which features are independent.

The mass of a box is the mean of its masses in the components. To draw inside it, a component is chosen in proportion to
its share of that mass, and then draws as a product does; so masses, draws and disagreements of trees are exact.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, check_array, check_list, show
from fidelitree.spaces.bins import Bins, binned
from fidelitree.spaces.draw import Stream, draw
from fidelitree.spaces.features import Boolean, Categorical, Numeric, Observed, Pieces, pick_each
from fidelitree.spaces.groups import taken_out
from fidelitree.spaces.held_out import Fit, folds
from fidelitree.spaces.latent import MOST_ROWS, best_count, fitted
from fidelitree.spaces.product import ProductSpace
from fidelitree.spaces.region import Region
from fidelitree.spaces.world import KnownJoint, over_features

if TYPE_CHECKING:
    from fidelitree.spaces.features import Feature, Floats, Restriction
    from fidelitree.spaces.groups import Groups

ASSUMES_MIXTURE = "inputs follow the stated mixture of product distributions"
ASSUMES_FITTED = "inputs follow the mixture of products fitted to this table"
KEY = "mixture"
_SUM, _ROUNDING = 1e-9, 1e-12  # how far from 1 weights may add up to, and up to where they are taken as they are
_KNOWN = 10_000  # restrictions whose masses are remembered


class Mixture(KnownJoint):
    """Inputs from one of several product spaces with the same features.

    `from_data` fits one to a table. ``product`` holds the features with the marginals of the whole.

    Args:
        components: Pairs of a weight and a space; the weights add up to 1.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> young = ProductSpace([Numeric("age", 18, 40), Boolean("owner", 0.1)])
        >>> old = ProductSpace([Numeric("age", 40, 90), Boolean("owner", 0.8)])
        >>> world = Mixture([(0.75, young), (0.25, old)])
        >>> round(world.mass(Region.of(world.product, {"age": (None, 40), "owner": 1})), 6)
        0.075
    """

    fit: Fit | None = None
    assumes: tuple[str, ...] = (ASSUMES_MIXTURE,)

    def __init__(self, components: Sequence[tuple[float, ProductSpace]]) -> None:
        weights, self.components = _pairs(components)
        for one in self.components:
            if _outline(one) != _outline(self.components[0]):
                raise ParameterError(
                    f"components must have the same features, kinds and categories; got {one.names} beside "
                    f"{self.components[0].names}"
                )
        self.weights = _checked(weights)
        self._known: dict[tuple[int, Restriction], Floats] = {}
        columns = zip(*(one.features for one in self.components), strict=True)
        self.product = self.components[0].with_features([_mixed(column, self.weights) for column in columns])

    @classmethod
    def from_data(
        cls, table: Any, categorical: Iterable[str] = (), numeric: Iterable[str] = (), *, groups: Any = None
    ) -> Mixture:
        """Latent classes of a table's rows; their number is the one that describes held-out rows best.

        Columns are read as `ProductSpace.from_data` reads them, and cut into bins as for `ChowLiu`. Rows of a group are
        held out together; a column that names groups is no feature.

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
            >>> Mixture.from_data({"age": np.repeat([20, 60], 50), "owner": np.repeat([0, 1], 50)}).product.names
            ('age', 'owner')
        """
        table, named = taken_out(table, groups)
        product = ProductSpace.from_data(table, categorical, numeric)
        return cls.fitted_to(product, product.encode(table), named)

    @classmethod
    def fitted_to(cls, product: ProductSpace, inner: NDArray[Any], groups: Groups | None = None) -> Mixture:
        """Fitted to inner values; the features have their marginals."""
        bins, codes, marginals = binned(product, inner)
        stream = Stream("latent classes")
        places = np.argsort(stream.lane(0, 0).random_raw(codes.shape[1]), kind="stable")[:MOST_ROWS]
        some = codes[:, places]
        held = folds(some, None if groups is None else groups.of(places))
        count, gains = best_count(held, marginals, stream)
        classes = fitted(some, marginals, count, stream)
        components = [
            product.with_features(
                [_within(one, t[c], m) for one, t, m in zip(bins, classes.tables, marginals, strict=True)]
            )
            for c in range(count)
        ]
        world = cls(list(zip(classes.weights.tolist(), components, strict=True)))
        world.assumes = (ASSUMES_FITTED,)
        if len(gains):
            alone = float(fitted(some, marginals, 1, stream).log_likelihoods(some).mean())
            world.fit = Fit(round(alone + float(gains.mean()), 6), round(alone, 6), len(gains))
        return world

    @classmethod
    def from_dict(cls, data: Any) -> Mixture:
        """The inverse of `to_dict`; FormatError says what is wrong with anything else."""
        try:
            entry = data[KEY]
            spaces = [ProductSpace.from_dict(one) for one in entry["components"]]
            world = cls(list(zip(entry["weights"], spaces, strict=True)))
            world.assumes = (ASSUMES_FITTED,) if entry["fitted"] else (ASSUMES_MIXTURE,)
            world.fit = None if entry["fit"] is None else Fit(**entry["fit"])
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError(f"not a stored mixture: {error!s:.200}") from None
        return world

    def to_dict(self) -> dict[str, Any]:
        """All components with their weights, exact; the mixture's own marginals follow from them."""
        entry = {
            "weights": self.weights.tolist(),
            "components": [one.to_dict() for one in self.components],
            "fitted": self.assumes == (ASSUMES_FITTED,),
            "fit": None if self.fit is None else asdict(self.fit),
        }
        return {**self.product.to_dict(), KEY: entry}

    @property
    def in_words(self) -> str:
        """The world as a noun."""
        return over_features(f"draws from a mixture of {len(self.components)} products of", self.product)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all components and their weights."""
        text = hashlib.sha256(f"mixture/{'/'.join(one.digest for one in self.components)}/".encode())
        text.update(self.weights.astype("<f8").tobytes())
        return text.hexdigest()

    def mass(self, region: Region) -> float:
        """Probability that an input falls into the region."""
        return math.fsum(self._shares(region)) if region.restrictions else 1.0

    def _shares(self, region: Region) -> Floats:
        """What each component has of the region's mass."""
        shares = np.ones(len(self.components))
        for part in region.restrictions.items():
            shares = shares * self._masses_of(*part)
        return self.weights * shares

    def _masses_of(self, i: int, left: Restriction) -> Floats:
        """What is left of a feature in each component; boxes of trees have many restrictions in common."""
        found = self._known.get((i, left))
        if found is None:
            if len(self._known) > _KNOWN:
                self._known.clear()
            found = self._known[i, left] = np.array([one.features[i].mass(left) for one in self.components])
        return found

    def inside(self, region: Region, stream: Stream, block: int, rows: int) -> NDArray[Any]:
        """Inputs of a region, without rejection however rare it is."""
        shares = self._shares(region)
        if not shares.any():
            raise ParameterError(f"nothing can be drawn where {region}: it has probability 0")
        chosen = stream.picks(block, 0, rows, shares)
        columns = np.empty((len(self.names), rows), self.dtype)
        for number, one in enumerate(self.components):
            places = np.flatnonzero(chosen == number)
            if len(places):
                here = Region(one, region.restrictions)
                columns[:, places] = draw(here, stream.child("component", number), block, len(places))
        return columns.T

    def redrawn(self, inner: NDArray[Any], feature: int, region: Region, stream: Stream, block: int) -> NDArray[Any]:
        """Another value of a feature for each input of a region, given its values of all others.

        They tell how likely each component is; one of them is chosen so, and draws the value.
        """
        left, again = region.restrictions.get(feature), stream.child("again", feature)
        here = np.ones(len(self.components)) if left is None else self._masses_of(feature, left)
        with np.errstate(divide="ignore"):  # some components do not have the value
            logs = np.log(self.weights * here)[:, None] + np.zeros(len(inner))
            for i in range(len(self.names)):
                if i != feature:
                    logs += np.log(self._shares_of_values(i, inner[:, i]))
        chosen = pick_each(again.uniforms(block, 0, len(inner)), np.exp(logs - logs.max(axis=0)).T)
        values = np.empty(len(inner), self.dtype)
        for number, one in enumerate(self.components):
            places = np.flatnonzero(chosen == number)
            if len(places):
                values[places] = one.features[feature].draw(again.lane(block, 1 + number), len(places), left)
        return values

    def _shares_of_values(self, i: int, column: NDArray[Any]) -> Floats:
        """How likely each value of a feature is in each component; of an interval, that of the piece it lies in."""
        whole = self.product.features[i]
        if isinstance(whole, Numeric) and isinstance(whole.marginal, Pieces):
            bins = Bins(whole, tuple(whole.marginal.edges[1:-1].tolist()))
            masses = [[one.features[i].mass(part) for part in bins.parts] for one in self.components]
            return np.array(masses)[:, bins.codes(column)]
        values, places = np.unique(column, return_inverse=True)
        shares = np.zeros((len(self.components), len(values)))
        for own, one in zip(shares, self.components, strict=True):
            known, found = one.features[i].listed(None)
            at = np.minimum(np.searchsorted(known, values), len(known) - 1)
            same = (known[at] == values) | (np.isnan(known[at]) & np.isnan(values))
            own[same] = found[at[same]]
        return shares[:, places]

    def __repr__(self) -> str:
        said = "" if self.fit is None else f"; {self.fit}"
        return f"<Mixture: {len(self.components)} products of {over_features('', self.product).strip()}{said}>"


def _outline(space: ProductSpace) -> list[tuple[Any, ...]]:
    return [(feature.name, feature.kind, feature.values) for feature in space]


def _pairs(components: Any) -> tuple[list[Any], tuple[ProductSpace, ...]]:
    """Weights and spaces, each pair checked."""
    pairs = check_list("components", components, "pairs (weight, product space)")
    if not pairs:
        raise ParameterError("components must hold at least one pair (weight, product space); got none")
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], ProductSpace)):
            raise ParameterError(f"components must be pairs (weight, product space); got {show(pair)}")
    return [weight for weight, _ in pairs], tuple(space for _, space in pairs)


def _checked(weights: list[Any]) -> Floats:
    found = check_array("weights", weights, np.float64, "one number for each component")
    if found.ndim != 1 or not (found >= 0).all():
        raise ParameterError(f"weights must be numbers that are at least 0; got {show(weights)}")
    if abs(found.sum() - 1) > _SUM:
        raise ParameterError(f"weights must add up to 1; got {found.sum():.12g} - divide each by their sum")
    return found / found.sum() if abs(found.sum() - 1) > _ROUNDING else np.array(found)


def _mixed(column: Sequence[Feature], weights: Floats) -> Feature:
    """A feature with the marginal of the whole."""
    first = column[0]
    if first.kind == "boolean":
        return Boolean(first.name, min(1.0, float(weights @ [one.mass(1) for one in column])))
    if first.kind == "categorical":
        parts = [frozenset({code}) for code in range(len(first.values or ()))]
        shares = [float(weights @ [one.mass(part) for one in column]) for part in parts]
        return Categorical.from_counts(first.name, dict(zip(first.values or (), shares, strict=True)))
    numbers = [one for one in column if isinstance(one, Numeric)]
    marginals = [one.marginal for one in numbers]
    if all(isinstance(one, Observed) for one in marginals):
        return _observed(numbers, weights)
    edges = [one.edges for one in marginals if isinstance(one, Pieces) and (np.diff(one.edges) > 0).all()]
    if len(edges) < len(column):
        raise ParameterError(
            f"feature {first.name!r} must have observed values in all components, or intervals in all of them"
        )
    ends = np.unique(np.concatenate(edges))
    shares = [float(weights @ [one.mass(part) for one in column]) for part in itertools.pairwise(ends.tolist())]
    made = Numeric.from_pieces(first.name, ends, np.array(shares) / math.fsum(shares))
    gone = float(weights @ [one.missing for one in numbers])
    return made.with_missing(gone) if gone else made


def _observed(numbers: Sequence[Numeric], weights: Floats) -> Numeric:
    """All observed values, each as often as in the whole."""
    listed = [one.listed(None) for one in numbers]
    values = np.concatenate([found for found, _ in listed])
    shares = np.concatenate([weight * found for weight, (_, found) in zip(weights, listed, strict=True)])
    return _weighted(numbers[0].name, values, shares, all(one.integer for one in numbers))


def _weighted(name: str, values: Floats, weights: Floats, whole: bool) -> Numeric:
    """Observed values with these weights; NaN is a missing one."""
    known = ~np.isnan(values)
    made = Numeric.from_values(name, values[known].astype(np.int64) if whole else values[known], weights[known])
    return made if known.all() else made.with_missing(float(weights[~known].sum() / weights.sum()))


def _within(bins: Bins, table: Floats, marginal: Floats) -> Feature:
    """A feature inside a class: bins as frequent as there, numbers inside a bin as in the whole table."""
    feature = bins.feature
    if feature.kind == "boolean":
        return Boolean(feature.name, float(table[1]))
    if feature.kind == "categorical":
        return Categorical.from_counts(feature.name, dict(zip(feature.values or (), table.tolist(), strict=True)))
    values, shares = feature.listed(None)
    places = bins.codes(values)
    whole = isinstance(feature, Numeric) and feature.integer
    return _weighted(feature.name, values, shares * (table / marginal)[places], whole)
