"""Scores from pairs of inputs that differ in one re-drawn feature: the two schedules of Algorithm 2.

`ReusedPairs` follows the paper's pseudocode: global pairs for each feature, routed to leaves, kept for good.
`FreshPairs` draws new pairs inside every new leaf, so the leaf was not chosen by the pairs that judge it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.search.probes.evidence import Evidence
from fidelitree.search.probes.samples import Planes, SampleSet, Shelf
from fidelitree.spaces.draw import Inputs, Stream, block_rows, draw, paired, redraw
from fidelitree.spaces.region import Region
from fidelitree.trees.bare import BareTree, Leaf
from fidelitree.trees.bits import pack

Plan = Callable[[int], int]
"""From the number of leaves to the number of pairs that the sets must hold."""

_ASK_ROWS = 1 << 16
_ASK_BYTES = 1 << 24


class ReusedPairs:
    """For each feature its own global pairs; a pair counts for the leaf that both of its inputs reach."""

    def __init__(self, target: Counted, stream: Stream, plan: Plan, shelf: Shelf) -> None:
        self._plan = plan
        whole = Region.whole(target.space)
        self._sets = []
        for i in range(len(target.space)):
            own = stream.child("pairs", i)
            self._sets.append(SampleSet(own, _Changed(target, whole, own, i), shelf))

    def look(self, bare: BareTree, made: Sequence[Leaf]) -> Mapping[int, Evidence]:
        """Every leaf has new evidence: all sets grow with the tree."""
        total = self._plan(bare.size)
        for pairs in self._sets:
            if made[0].parent is not None:
                pairs.follow(*made)
            pairs.top_up(total, bare)
        return {leaf.number: Evidence(self._scores(leaf)) for leaf in bare.leaves.values()}

    def _scores(self, leaf: Leaf) -> NDArray[np.float64]:
        scores = np.array([pairs.counts[leaf.number][0] / pairs.size for pairs in self._sets])
        # A pair that differs in a feature of the path parts ways above the leaf.
        scores[list(leaf.region.restrictions)] = 0
        return scores


@dataclass(frozen=True)
class _Changed:
    """The plane of a set of pairs: the label changes when feature ``i`` is re-drawn."""

    target: Counted
    region: Region
    stream: Stream
    i: int

    def __call__(self, inputs: Inputs, number: int) -> Planes:
        features, rows = inputs.shape
        redraws = {self.i: redraw(self.region, self.stream, number, rows, self.i)}
        batch = paired(inputs, redraws, [self.i]).reshape(features, -1).T
        one, two = self.target.ask(batch, "grow", spare=True).reshape(2, rows)
        return [pack(one != two)]


@dataclass
class _Count:
    """Pairs drawn inside one leaf, and how many changed label for each feature."""

    stream: Stream
    changed: NDArray[np.int64]
    pairs: int = 0
    blocks: int = field(default=0, repr=False)


class FreshPairs:
    """A stream of its own for every leaf, drawn inside it; one input is shared by the pairs of all features."""

    def __init__(self, target: Counted, stream: Stream, plan: Plan) -> None:
        self._target, self._stream, self._plan = target, stream, plan
        self._counts: dict[int, _Count] = {}

    def look(self, bare: BareTree, made: Sequence[Leaf]) -> Mapping[int, Evidence]:
        """Every leaf is topped up to its share of the pairs that a tree of this size needs."""
        for leaf in made:
            self._counts.pop(leaf.parent if leaf.parent is not None else leaf.number, None)
            own = self._stream.child("leaf", leaf.number)
            self._counts[leaf.number] = _Count(own, np.zeros(len(bare.space), np.int64))
        total = self._plan(bare.size)
        for leaf in bare.leaves.values():
            self._top_up(leaf.region, self._counts[leaf.number], math.ceil(leaf.region.mass * total))
        return {leaf.number: Evidence(self._scores(leaf)) for leaf in bare.leaves.values()}

    def _scores(self, leaf: Leaf) -> NDArray[np.float64]:
        count = self._counts[leaf.number]
        return leaf.region.mass * count.changed / max(1, count.pairs)

    def _top_up(self, region: Region, count: _Count, total: int) -> None:
        features = len(region.space)
        step = max(1, min(_ASK_ROWS // (features + 1), _ASK_BYTES // (features * (features + 1))))
        while count.pairs < total:
            rows = min(block_rows(features), total - count.pairs)
            inputs = draw(region, count.stream, count.blocks, rows)
            redraws = np.empty_like(inputs)
            for i in region.free():
                redraws[i] = redraw(region, count.stream, count.blocks, rows, i)
            for start in range(0, rows, step):
                part = slice(start, start + step)
                count.changed += self._changes(inputs[:, part], redraws[:, part], region)
            count.pairs += rows
            count.blocks += 1

    def _changes(self, inputs: Inputs, redraws: Inputs, region: Region) -> NDArray[np.int64]:
        """For each feature, how many labels change; a feature of the path is not asked about."""
        features, rows = inputs.shape
        free = region.free()
        batch = paired(inputs, redraws, free).reshape(features, -1).T
        before, *after = self._target.ask(batch, "grow", spare=True).reshape(-1, rows)
        changed = np.zeros(features, np.int64)
        changed[free] = [np.count_nonzero(codes != before) for codes in after]
        return changed
