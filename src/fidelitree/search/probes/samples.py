"""Growing sets of drawn inputs, counted leaf by leaf.

Inputs are held as bits, one set of rows per feature, in blocks. Past a limit the inputs are not held at all:
streams are counter-based, so a block's features are drawn again when a split needs them. What is always held
is one bit per input and plane, a plane being whatever is counted: a label, or "the pair changed label".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.counted import Counted
from fidelitree.spaces.draw import Inputs, Stream, block_rows, draw, draw_feature
from fidelitree.spaces.region import Region
from fidelitree.trees.bare import BareTree, Leaf
from fidelitree.trees.bits import Words, count, everyone, pack

Planes = list[Words]
Answer = Callable[[Inputs, int], Planes]
"""From the inputs of a block (features by rows) and its number to the planes that count."""

SHELF_BYTES = 256 << 20


@dataclass
class Shelf:
    """How many more bytes of inputs may be held."""

    room: int = SHELF_BYTES

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

    def follow(self, no: Leaf, yes: Leaf) -> None:
        """Part the counts of a leaf that was split."""
        assert no.parent is not None, "the root is nobody's child"
        before = self.counts.pop(no.parent)
        upper = np.zeros(0, np.int64)
        for block in self._blocks:
            upper = add(upper, block.tally(block.inside(yes.region)))
        self.counts[yes.number] = upper
        self.counts[no.number] = add(before, -upper)

    def top_up(self, total: int, bare: BareTree) -> None:
        """Draw and ask until the set has ``total`` inputs, in blocks."""
        whole = Region.whole(bare.space)
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
