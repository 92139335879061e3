"""Scores from pairs of inputs that differ in one re-drawn feature: the two schedules of Algorithm 2.

`ReusedPairs` follows the paper's pseudocode: global pairs for each feature, routed to leaves, kept for good.
`FreshPairs` draws new pairs inside every new leaf, so the leaf was not chosen by the pairs that judge it.

Inputs are held as bits, one set of rows per feature, in blocks. Past a limit the inputs are not held at all:
streams are counter-based, so a block's features are drawn again when a split needs them. What is always held
is one bit per input and plane, a plane being whatever is counted: a label, or "the pair changed label".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.memory import REMEMBERED_BYTES
from fidelitree.search.grow import Evidence
from fidelitree.spaces.draw import Inputs, Stream, block_rows, draw, draw_feature, paired, redraw
from fidelitree.trees.bits import Words, count, everyone, pack

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.region import Region
    from fidelitree.trees.growing import GrowingLeaf, GrowingTree

Planes = list[Words]
Answer = Callable[[Inputs, int], Planes]
"""From the inputs of a block (features by rows) and its number to the planes that count."""

Plan = Callable[[int], int]
"""From the number of leaves to the number of pairs that the sets must hold."""


@dataclass
class Shelf:
    """How many more bytes of inputs may be held."""

    room: int = REMEMBERED_BYTES

    def take(self, size: int) -> bool:
        """Whether there is room for so many bytes, which are then taken."""
        if size > self.room:
            return False
        self.room -= size
        return True


@dataclass
class Block:
    """Inputs of one block; ``block[i]`` is the set of rows with x_i = 1."""

    region: Region
    stream: Stream
    number: int
    rows: int
    planes: Planes
    held: list[Words] | None

    def __getitem__(self, i: int) -> Words:
        if self.held is not None:
            return self.held[i]
        return pack(draw_feature(self.region, self.stream, self.number, self.rows, i))

    def inside(self, region: Region) -> Words:
        """The rows that fall into a region."""
        mask = everyone(self.rows)
        for i, value in region.restrictions.items():
            mask &= self[i] if value else ~self[i]
        return mask

    def tally(self, mask: Words) -> NDArray[np.int64]:
        """How many rows of the mask each plane has."""
        return np.array([count(plane & mask) for plane in self.planes], np.int64)


class SampleSet:
    """An i.i.d. set that grows on demand and keeps its counts by leaf.

    ``counts[number]`` holds one count per plane for the leaf of that number.
    """

    def __init__(self, stream: Stream, answer: Answer, shelf: Shelf) -> None:
        self.size = 0
        self.counts: dict[int, NDArray[np.int64]] = {}
        self._stream, self._answer, self._shelf = stream, answer, shelf
        self._blocks: list[Block] = []

    def follow(self, no: GrowingLeaf, yes: GrowingLeaf) -> None:
        """Part the counts of a leaf that was split."""
        assert no.parent is not None, "the root is nobody's child"
        before = self.counts.pop(no.parent)
        upper = np.zeros(0, np.int64)
        for block in self._blocks:
            upper = add(upper, block.tally(block.inside(yes.region)))
        self.counts[yes.number] = upper
        self.counts[no.number] = add(before, -upper)

    def top_up(self, total: int, bare: GrowingTree) -> None:
        """Draw and ask until the set has ``total`` inputs, in blocks."""
        whole = bare.space.whole
        most = block_rows(len(bare.space))
        while self.size < total:
            rows = min(most, total - self.size)
            block = self._draw(whole, rows)
            self._blocks.append(block)
            self.size += rows
            for number, mask in bare.route(block, rows):
                self.counts[number] = add(self.counts.get(number, np.zeros(0, np.int64)), block.tally(mask))

    def _draw(self, region: Region, rows: int) -> Block:
        number = len(self._blocks)
        inputs = draw(region, self._stream, number, rows)
        held = [pack(column) for column in inputs] if self._shelf.take(inputs.size // 8) else None
        return Block(region, self._stream, number, rows, self._answer(inputs, number), held)


def add(one: NDArray[np.int64], two: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum of counts; a plane that one of them has not seen yet counts 0 there."""
    if len(one) < len(two):
        one, two = two, one
    total = one.copy()
    total[: len(two)] += two
    return total


def label_planes(target: Counted, purpose: str) -> Answer:
    """Planes of a set of labelled inputs: one for each label code; the set has packed what it keeps of them."""

    def answer(inputs: Inputs, number: int) -> Planes:
        codes = target.ask(inputs.T, purpose, spare=True)
        return [pack(codes == code) for code in range(len(target.book.seen))]

    return answer


class ReusedPairs:
    """For each feature its own global pairs; a pair counts for the leaf that both of its inputs reach."""

    def __init__(self, target: Counted, stream: Stream, plan: Plan, shelf: Shelf) -> None:
        self._plan = plan
        whole = target.space.whole
        self._sets = []
        for i in range(len(target.space)):
            own = stream.child("pairs", i)
            self._sets.append(SampleSet(own, _Changed(target, whole, own, i), shelf))

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Every leaf has new evidence: all sets grow with the tree."""
        total = self._plan(bare.size)
        for pairs in self._sets:
            if made[0].parent is not None:
                pairs.follow(*made)
            pairs.top_up(total, bare)
        return {leaf.number: Evidence(self._scores(leaf)) for leaf in bare.leaves.values()}

    def _scores(self, leaf: GrowingLeaf) -> NDArray[np.float64]:
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
class Count:
    """Pairs drawn inside one leaf, and how many changed label for each feature."""

    stream: Stream
    changed: NDArray[np.int64]
    pairs: int = 0
    blocks: int = field(default=0, repr=False)


def usual_step(features: int) -> int:
    """Inputs that are asked about at once, each with all its changes: a block of them."""
    return max(1, block_rows(features) // (features + 1))


class FreshPairs:
    """A stream of its own for every leaf, drawn inside it; one input is shared by the pairs of all features."""

    def __init__(self, target: Counted, stream: Stream, plan: Plan) -> None:
        self._target, self._stream, self._plan = target, stream, plan
        self._counts: dict[int, Count] = {}

    def look(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> Mapping[int, Evidence]:
        """Every leaf is topped up to its share of the pairs that a tree of this size needs."""
        for leaf in made:
            self._counts.pop(leaf.parent if leaf.parent is not None else leaf.number, None)
            own = self._stream.child("leaf", leaf.number)
            self._counts[leaf.number] = Count(own, np.zeros(len(bare.space), np.int64))
        total = self._plan(bare.size)
        for leaf in bare.leaves.values():
            self._top_up(leaf.region, self._counts[leaf.number], math.ceil(leaf.region.mass * total))
        return {leaf.number: Evidence(self._scores(leaf)) for leaf in bare.leaves.values()}

    def _scores(self, leaf: GrowingLeaf) -> NDArray[np.float64]:
        count = self._counts[leaf.number]
        return leaf.region.mass * count.changed / max(1, count.pairs)

    def _top_up(self, region: Region, count: Count, total: int) -> None:
        features = len(region.space)
        step = usual_step(features)
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
