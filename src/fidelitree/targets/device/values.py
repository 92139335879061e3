"""Inputs of any features on a device: bits, categories and numbers, of products and of mixtures of products.

A feature reads its lane as `Feature.draw` does, and makes of uniform numbers what that makes of them: by comparisons,
look-ups, and products and differences of doubles, each an operation of torch on its own. None is fused with the next,
so each has one result, on every device and in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FidelitreeError, need
from fidelitree.spaces.features import AtMost, Boolean, IsIn, Numeric, Observed, left_of
from fidelitree.spaces.mixture import Mixture
from fidelitree.targets.device.lanes import DeviceTree, bit_limits, numbered, placed
from fidelitree.targets.device.philox import LOW_BITS, Tensor, key_of, lane_words, uniforms, word_at

if TYPE_CHECKING:
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.features import Feature, Restriction, Test
    from fidelitree.spaces.features.marginals import Interval
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.spaces.region import Region
    from fidelitree.targets.models.model import ModelColumns
    from fidelitree.targets.models.torch import TorchModel
    from fidelitree.trees.tree import Tree

Key = tuple[int, int]
Value = Callable[[Tensor], Tensor]
"""From uniform numbers, one line of them for each turn, to inner values."""


@dataclass(frozen=True)
class _Rows:
    """Which draws of a lane some rows are: the block of each, its place there, and how many the block has."""

    block: Tensor
    place: Tensor
    total: Tensor
    whole: tuple[range, int] | None = None
    """Blocks and rows of each, where none is left out."""

    @classmethod
    def of(cls, blocks: range, rows: int, device: Any) -> _Rows:
        each = numbered(len(blocks) * rows, device)
        return cls(blocks.start + each // rows, each % rows, each * 0 + rows, (blocks, rows))

    def among(self, some: Tensor) -> _Rows:
        """Some of them, as if their blocks had no others."""
        block, search = self.block[some], need("torch", "torch", "models on a device").searchsorted
        first, end = search(block, block), search(block, block, right=True)
        return _Rows(block, numbered(len(block), block.device) - first, end - first)

    def words(self, key: Key, lanes: Tensor, place: Tensor) -> Tensor:
        """Words of lanes, rows by lanes, by their places there."""
        return word_at(key, place, lanes[None, :], self.block[:, None])

    def uniforms(self, key: Key, lanes: Tensor, turns: int) -> Tensor:
        """Turns by rows by lanes: each turn reads a word for every row."""
        if self.whole is not None:  # a counter has four words, and all of them are wanted
            blocks, rows = self.whole
            words = lane_words(key, turns * rows, lanes, blocks.start + numbered(len(blocks), lanes.device))
            return uniforms(words).view(len(blocks), turns, rows, -1).transpose(0, 1).flatten(1, 2)
        each = [self.words(key, lanes, (self.place + turn * self.total)[:, None])[None] for turn in range(turns)]
        return uniforms(need("torch", "torch", "models on a device").cat(each))

    def bits(self, key: Key, lanes: Tensor, limits: Sequence[Tensor]) -> Tensor:
        """What `Boolean.draw` reads: a byte a row; where it ties, a word after all bytes, in the order of the rows."""
        below, tied, rest = limits
        octets = self.words(key, lanes, (self.place // 8)[:, None]) >> (8 * (self.place % 8))[:, None] & 255
        tie = octets == tied
        before = tie.cumsum(0) - tie.long()
        rank = before - before[numbered(len(tie), lanes.device) - self.place]  # that of its block
        more = self.words(key, lanes, ((self.total + 7) // 8)[:, None] + rank) >> (64 - LOW_BITS)
        return (more & ((1 << LOW_BITS) - 1) < rest).where(tie, octets < below).double()


@dataclass(frozen=True, eq=False)
class _Product:
    """Where the values of a product come from: features that take as many turns are drawn together."""

    key: Key
    bits: tuple[Tensor, Sequence[Tensor]]
    """Features, and how their bytes become bits."""
    groups: Mapping[int, tuple[Tensor, Mapping[int, Value]]]
    """By turns: features, and what makes values of each."""
    offset: int = 0
    """From a feature to its lane."""

    @classmethod
    def of(cls, region: Region, stream: Stream, device: Any, again: bool = False) -> _Product:
        """Those of inputs inside the region, or of features that are drawn ``again``."""
        features, left = region.space.features, region.restrictions
        biases = {i: left.get(i, one.p) for i, one in enumerate(features) if isinstance(one, Boolean)}
        groups: dict[int, dict[int, Value]] = {}
        for i, feature in enumerate(features):
            if i not in biases:
                turns, value = _drawn(feature, left.get(i), device)
                groups.setdefault(turns, {})[i] = value
        limits = [placed(one, device, "int64") for one in bit_limits(np.array(list(biases.values()), np.float64))]
        made = {turns: (placed(list(values), device, "int64"), values) for turns, values in groups.items()}
        offset = len(features) if again else 0
        return cls(key_of(stream), (placed(list(biases), device, "int64"), limits), made, offset)

    def fill(self, out: Tensor, rows: _Rows) -> None:
        """Inner values of rows."""
        if len(self.bits[0]):
            out[:, self.bits[0]] = rows.bits(self.key, self.bits[0] + self.offset, self.bits[1])
        for turns, (features, values) in self.groups.items():
            drawn = rows.uniforms(self.key, features + self.offset, turns)
            for k, (i, value) in enumerate(values.items()):
                out[:, i] = value(drawn[:, :, k])


def _drawn(feature: Feature, left: Restriction | None, device: Any) -> tuple[int, Value]:
    """How many uniform numbers a value of what is left takes, and what is made of them."""
    if not isinstance(feature, Numeric):
        codes, shares = feature.listed(left)
        pick, table = _picked(shares, device), placed(codes, device, "float64")
        return 1, lambda drawn: table[pick(drawn[0])]
    known, gone = feature.chances(left) if feature.missing else (1.0, 0.0)
    if not known:
        return 1, lambda drawn: drawn[0] * math.nan
    turns, value = _number(feature, left_of(left)[:2], device)
    if not gone:
        return turns, value
    return 1 + turns, lambda drawn: value(drawn[1:]).masked_fill(drawn[0] * (known + gone) < gone, math.nan)


def _number(feature: Numeric, interval: Interval, device: Any) -> tuple[int, Value]:
    """The same of numbers that are there."""
    if isinstance(feature.marginal, Observed):
        values, weights = feature.marginal.places(interval)
        table, most = placed(values, device, "float64"), len(values)
        if weights is not None:
            pick = _picked(weights, device)
            return 1, lambda drawn: table[pick(drawn[0])]
        return 1, lambda drawn: table[(drawn[0] * float(most)).clamp(max=most - 1).long()]
    low, high, parts = feature.marginal.inside(interval)
    least = np.where(low < high, np.nextafter(low, np.inf), high)
    ends, widths, floors = (placed(one, device, "float64") for one in (high, high - low, least))
    chosen = np.flatnonzero(parts)
    if len(chosen) == 1:
        one = int(chosen[0])
        return 1, lambda drawn: (ends[one] - widths[one] * drawn[0]).maximum(floors[one])
    pick = _picked(parts, device)

    def piece(drawn: Tensor) -> Tensor:
        at = pick(drawn[0])
        return (ends[at] - widths[at] * drawn[1]).maximum(floors[at])

    return 2, piece


def _picked(shares: NDArray[np.float64], device: Any) -> Value:
    """`pick` of the features: a position for each uniform number."""
    ends, last = np.cumsum(shares), int(np.flatnonzero(shares)[-1])
    total, there = float(ends[-1]), placed(ends, device, "float64")
    search = need("torch", "torch", "models on a device").searchsorted
    return lambda drawn: search(there, (drawn * total).contiguous(), right=True).clamp(max=last)


@dataclass(frozen=True, eq=False)
class ValueLanes:
    """Where the inputs of a product, or of a mixture of products, come from."""

    features: int
    device: Any
    parts: Sequence[_Product]
    choice: tuple[Key, Value] | None = None
    """Of a mixture: the stream that chooses the part of each row, and how."""

    @classmethod
    def of(cls, world: ProductSpace | Mixture, stream: Stream, device: Any) -> ValueLanes:
        """Those of all inputs."""
        if not isinstance(world, Mixture):
            return cls.inside(world.whole, stream, device)
        streams = [stream.child("component", number) for number in range(len(world.components))]
        parts = [_Product.of(one.whole, own, device) for one, own in zip(world.components, streams, strict=True)]
        return cls(len(world.product), device, parts, (key_of(stream), _picked(world.weights, device)))

    @classmethod
    def inside(cls, region: Region, stream: Stream, device: Any, again: bool = False) -> ValueLanes:
        """Those of inputs inside a region of a product, or of features that are drawn ``again``."""
        return cls(len(region.space), device, [_Product.of(region, stream, device, again)])

    def draw(self, blocks: range, rows: int) -> Tensor:
        """Inner values of some blocks, as many rows of each, one after the other."""
        all_rows = _Rows.of(blocks, rows, self.device)
        out = placed(np.zeros(0), self.device, "float64").new_empty((len(blocks) * rows, self.features))
        if self.choice is None:
            self.parts[0].fill(out, all_rows)
            return out
        key, pick = self.choice
        chosen = pick(all_rows.uniforms(key, placed([0], self.device, "int64"), 1)[0, :, 0])
        for number, part in enumerate(self.parts):
            some = (chosen == number).nonzero()[:, 0]
            if len(some):
                values = out.new_empty((len(some), self.features))
                part.fill(values, all_rows.among(some))
                out[some] = values
        return out


@dataclass(frozen=True, eq=False)
class ValueTree:
    """A tree over any features on a device: rows are inner values.

    A node asks whether a number is at most its ``cut``, or whether a code is in its set: ``members`` has all sets, and
    ``start`` says where a node's own begins, -1 where it has a cut. ``gaps`` says where missing numbers are met.
    """

    nodes: DeviceTree
    start: Tensor
    cut: Tensor
    gaps: Tensor
    members: Tensor

    @classmethod
    def of(cls, tree: Tree, nodes: DeviceTree) -> ValueTree:
        """The tests of a tree beside its nodes."""
        size, device = len(tree.feature), nodes.feature.device
        members, start, cut, gaps = [False], np.full(size, -1), np.zeros(size), np.zeros(size, np.bool_)
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            test: Test | None = tree.tests.get(node)
            if isinstance(test, AtMost):
                cut[node], gaps[node] = test.cut, bool(test.missing)
                continue
            values = tree.values[tree.feature[node]] if tree.values else None
            codes = test.codes if isinstance(test, IsIn) else frozenset({1})
            start[node] = len(members)
            members += [code in codes for code in range(len(values or (0, 1)))]
        tables = (start, "int64"), (cut, "float64"), (gaps, "bool"), (members, "bool")
        return cls(nodes, *(placed(one, device, kind) for one, kind in tables))

    def reached(self, inner: Tensor) -> Tensor:
        """The node at which each input ends."""
        nodes, out = self.nodes, self.nodes.feature.new_zeros(len(inner))
        for _ in range(nodes.depth):
            value, first = inner.gather(1, nodes.feature[out].long()[:, None])[:, 0], self.start[out]
            below = (value <= self.cut[out]) | (self.gaps[out] & value.isnan())
            code = value.where(first >= 0, 0.0).long()
            upper = self.members[first.clamp(min=0) + code].where(first >= 0, below)
            out = nodes.yes[out].where(upper, nodes.no[out])
        return out


@dataclass(frozen=True)
class Given:
    """What a model receives for inner values: numbers as they are, and what categories stand for."""

    categories: Mapping[int, Tensor]
    dtype: Any

    @classmethod
    def found(cls, space: ProductSpace, model: TorchModel) -> Given | None:
        """None where a batch holds anything but these numbers, or the model refuses it, as it will say itself."""
        try:
            return cls._tried(space, model.columns, model.device, model.dtype)
        except FidelitreeError:
            return None

    @classmethod
    def _tried(cls, space: ProductSpace, columns: ModelColumns, device: Any, dtype: Any) -> Given | None:
        """By a batch with the values of each feature."""
        known = [_values(feature) for feature in space.features]
        probe = np.stack([np.resize(one, max(map(len, known))) for one in known], axis=1).astype(space.dtype)
        batch = space.batch(probe)
        arrays = list(columns.arrays(batch).values())
        if len(arrays) != len(known) or any(array.dtype.kind not in "biuf" for array in arrays):
            return None
        matrix, categories = columns.matrix(batch), {}
        for i, feature in enumerate(space.features):
            rounds = feature.points is None and arrays[i].dtype != np.float64
            if feature.kind == "categorical":
                categories[i] = placed(matrix[: len(known[i]), i], device, "float64")
            elif rounds or not np.array_equal(matrix[:, i], probe[:, i], equal_nan=True):
                return None
        return cls(categories, dtype)

    def hybrids(self, inner: Tensor, changed: Tensor, features: Tensor) -> Tensor:
        """`lanes.hybrids` of inner values: the inputs, then the same once for each feature with its changed value."""
        batches, places = inner.expand(len(features), *inner.shape).clone(), features[1:].long()
        batches[1 + numbered(len(places), inner.device), :, places] = changed.T[places]
        return self.inputs(batches.flatten(0, 1))

    def inputs(self, inner: Tensor) -> Tensor:
        """The model's own copy."""
        if not self.categories:
            return inner.to(self.dtype, copy=True)
        found = inner.clone()
        for i, values in self.categories.items():
            found[:, i] = values[inner[:, i].long()]
        return found.to(self.dtype)


def _values(feature: Feature) -> NDArray[np.float64]:
    """All inner values of a feature, or some where there is no end to them."""
    if isinstance(feature, Numeric) and not isinstance(feature.marginal, Observed):
        edges = np.concatenate(
            [feature.marginal.edges, np.diff(feature.marginal.edges) / 3 + feature.marginal.edges[:-1]]
        )
        return np.append(edges, math.nan) if feature.missing else edges
    return feature.listed(None)[0]
