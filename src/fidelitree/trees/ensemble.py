"""Many small trees that add up: a model of our own, kept as plain numbers so that anybody can ask it again.

Values of a feature fall into groups: a number by its thresholds, a bit or a category by a list. Every tree is complete:
node k asks whether the group of its feature is above its cut, and goes on at 2 k + 1 (no) or 2 k + 2 (yes). Leaves hold
whole numbers, so that sums are the same on every machine. With two labels, the second is given where the sum of all
trees is above 0. With more there is one tree for each in turn, and the largest sum wins.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace

Integers = NDArray[np.int64]
Small = NDArray[np.uint8]
FORMAT = "fidelitree.surrogate"
VERSION = 1
_ENTRIES = ("labels", "ordered", "groups", "features", "cuts", "values")
_ROWS = 1 << 13  # that are looked at together
_MOST = 256  # groups of a feature, and leaves of a tree


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The groups of every feature, and of every tree the features, cuts and values, one line each."""

    labels: tuple[Any, ...]
    ordered: tuple[bool, ...]
    groups: tuple[NDArray[Any], ...]
    """Thresholds of a number, up to and including which values go below; of other features the group of each code."""
    features: Integers
    cuts: Small
    values: Integers

    def predict_inner(self, inner: NDArray[Any]) -> NDArray[Any]:
        """Labels of inner rows."""
        parts = [self._codes(inner[start : start + _ROWS]) for start in range(0, len(inner), _ROWS)]
        return np.array(self.labels)[np.concatenate(parts) if parts else np.empty(0, np.intp)]

    def _codes(self, inner: NDArray[Any]) -> NDArray[np.intp]:
        lines = np.stack([self._grouped(i, inner[:, i]) for i in range(len(self.groups))])
        sums = np.zeros((_in_turn(self.labels), len(inner)), np.int64)
        for place, (features, cuts, values) in enumerate(zip(self.features, self.cuts, self.values, strict=True)):
            above = np.negative((lines[features] > cuts[:, None]).view(np.uint8))  # all bits of a byte, or none
            sums[place % len(sums)] += values.take(_leaves(above))
        return np.asarray(sums.argmax(axis=0) if len(sums) > 1 else sums[0] > 0, np.intp)

    def _grouped(self, feature: int, column: NDArray[Any]) -> Small:
        groups = self.groups[feature]
        found = np.searchsorted(groups, column) if self.ordered[feature] else groups[column.astype(np.intp)]
        return found.astype(np.uint8)

    def fits(self, space: ProductSpace) -> bool:
        """Whether it is about these features."""
        kinds = [feature.kind == "numeric" for feature in space]
        sizes = [len(feature.values or (0, 1)) for feature in space]
        return tuple(kinds) == self.ordered and all(
            up or len(one) == size for (one, up), size in zip(self._by_feature, sizes, strict=True)
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its data."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """Plain data under a versioned schema."""
        groups = [list(map(float.hex, one.tolist())) if up else one.tolist() for one, up in self._by_feature]
        lines = {name: getattr(self, name).tolist() for name in ("features", "cuts", "values")}
        told = {"labels": list(self.labels), "ordered": list(self.ordered), "groups": groups}
        return json.dumps({"format": FORMAT, "version": VERSION, **told, **lines}) + "\n"

    @property
    def _by_feature(self) -> list[tuple[NDArray[Any], bool]]:
        return list(zip(self.groups, self.ordered, strict=True))

    @classmethod
    def from_json(cls, text: str) -> Ensemble:
        """The inverse of `to_json`; FormatError says what is wrong with anything else."""
        try:
            data = json.loads(text)
            if set(data) != {"format", "version", *_ENTRIES} or (data["format"], data["version"]) != (FORMAT, VERSION):
                raise ValueError(f'it must be an object of "format": "{FORMAT}", version {VERSION}')
            ordered = tuple(map(bool, data["ordered"]))
            pairs = zip(data["groups"], ordered, strict=True)
            groups = tuple(
                np.array(list(map(float.fromhex, one)) if up else one, float if up else np.int64) for one, up in pairs
            )
            features, values = (np.array(data[name], np.int64) for name in ("features", "values"))
            found = cls(tuple(data["labels"]), ordered, groups, features, np.array(data["cuts"], np.uint8), values)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise FormatError(f"not a stored surrogate: {error}") from None
        found._check()
        return found

    def _check(self) -> None:
        features, cuts, values = self.features, self.cuts, self.values
        shaped = features.ndim == values.ndim == 2 and features.shape == cuts.shape
        if not shaped or not len(values) or values.shape != (len(features), features.shape[1] + 1):
            raise FormatError("not a stored surrogate: a tree must have one leaf more than it has inner nodes")
        if values.shape[1] & (values.shape[1] - 1) or not 2 <= values.shape[1] <= _MOST:
            raise FormatError("not a stored surrogate: its trees must be complete, with 2 to 256 leaves")
        if any(
            len(one) >= _MOST if up else one.min(initial=0) < 0 or one.max(initial=0) >= _MOST
            for one, up in self._by_feature
        ):
            raise FormatError("not a stored surrogate: a feature must have at most 256 groups")
        if features.size and not 0 <= features.min() <= features.max() < len(self.groups):
            raise FormatError("not a stored surrogate: a node asks about a feature that is not there")
        kinds = {type(label) for label in self.labels}
        if len(self.labels) < 2 or kinds not in ({bool}, {int}, {str}) or len(values) % _in_turn(self.labels):
            raise FormatError("not a stored surrogate: labels must be two or more, with as many trees each")


def _leaves(above: Small) -> Small:
    """Where rows end, from what every inner node answers: upwards, each node takes what one of its sides says."""
    below, half = above & 1, (len(above) + 1) // 2
    found, leaves = below[half - 1 :], 2
    while half > 1:
        half //= 2
        no, yes, chosen = found[::2], found[1::2] | leaves, above[half - 1 : 2 * half - 1]
        found, leaves = no ^ ((no ^ yes) & chosen), 2 * leaves
    return np.asarray(found[0], np.uint8)


def _in_turn(labels: tuple[Any, ...]) -> int:
    """Trees that belong together."""
    return len(labels) if len(labels) > 2 else 1
