"""Algorithm 2 on the device of its target: the sets of `sampled_probes`, whose inputs and labels stay there.

The same streams are read in the same blocks, so the counts, and with them the tree, are those of the usual way. Of an
input the device keeps its label and its leaf. When a leaf is split, the feature of the split is drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.limits import BudgetSpent
from fidelitree.asking.on_device import windows
from fidelitree.search.sampled_probes import Count, FreshPairs, Plan, add, usual_step
from fidelitree.spaces.draw import Stream, block_rows
from fidelitree.targets.device.lanes import BitLanes, DeviceTree, hybrids, placed

if TYPE_CHECKING:
    from fidelitree.asking.on_device import OnDevice
    from fidelitree.spaces.region import Region
    from fidelitree.targets.device.values import Given
    from fidelitree.trees.growing import GrowingLeaf, GrowingTree

Tensor = Any
_TILE = 128  # rows of a matrix product that go together


@dataclass
class _Labelled:
    """Inputs of some blocks: their label codes, and the leaves that they are in."""

    blocks: range
    rows: int
    codes: Tensor
    leaves: Tensor


class DeviceSet:
    """A `SampleSet` of labelled inputs on a device."""

    def __init__(self, asked: OnDevice, stream: Stream, purpose: str) -> None:
        self.size, self._blocks = 0, 0
        self.counts: dict[int, NDArray[np.int64]] = {}
        self._asked, self._purpose, self._held = asked, purpose, list[_Labelled]()
        self._lanes = BitLanes.of(asked.counted.space.whole, stream, asked.model.device)
        self._groups = DeviceTree.of([0, 1], 0, asked.model.device)

    def follow(self, no: GrowingLeaf, yes: GrowingLeaf) -> None:
        """Part the counts of a leaf that was split."""
        assert no.parent is not None, "the root is nobody's child"
        before, lanes = self.counts.pop(no.parent), self._lanes.only(next(reversed(yes.region.restrictions)))
        total: Any = None
        for part in self._held:
            bits = lanes.draw(part.blocks, part.rows, part.leaves.dtype)[:, 0]
            part.leaves = (no.number + bits).where(part.leaves == no.parent, part.leaves)
            inside = (part.leaves == yes.number).to(bits.dtype)
            found = self._groups.tally(inside, part.codes, self._asked.model.width)
            total = found if total is None else total + found
        upper = np.zeros(0, np.int64) if total is None else self._asked.by_code(total)[1]
        self.counts[yes.number], self.counts[no.number] = upper, add(before, -upper)

    def top_up(self, total: int, bare: GrowingTree) -> None:
        """Draw and ask until the set has ``total`` inputs, in blocks."""
        asked, size, rows, spent = self._asked, block_rows(len(bare.space)), total - self.size, None
        if rows <= 0:
            return
        tree, tally = _growing(bare, asked.model.device), None
        # What the budget does not allow begins with a block of its own, as it does everywhere else.
        sure = rows if asked.counted.left is None else min(rows, asked.counted.left // size * size)
        some, then = windows(self._blocks, sure, size, asked.rows), self._blocks + sure // size
        for blocks, each in chain(some, windows(then, rows - sure, size, size)):
            inputs = self._lanes.draw(blocks, each, asked.model.dtype)
            leaves = tree.reached(inputs)
            try:
                codes = asked.ask(inputs, self._purpose)
            except BudgetSpent as stop:
                spent = stop
                break
            found = tree.tally(leaves, codes, asked.model.width)
            tally = found if tally is None else tally + found
            self._held.append(_Labelled(blocks, each, codes.to(leaves.dtype), leaves))
            self.size, self._blocks = self.size + len(blocks) * each, blocks.stop
        if tally is not None:
            by_leaf = asked.by_code(tally)
            for number in bare.leaves:
                self.counts[number] = add(self.counts.get(number, np.zeros(0, np.int64)), by_leaf[number])
        if spent is not None:
            raise spent


class DevicePairs(FreshPairs):
    """`FreshPairs` whose inputs, and all their changes, are made on the device."""

    def __init__(self, asked: OnDevice, stream: Stream, plan: Plan) -> None:
        super().__init__(asked.counted, stream, plan)
        self._asked, self._leaves = asked, dict[str, tuple[list[BitLanes], Changes]]()

    def _top_up(self, region: Region, count: Count, total: int) -> None:
        if count.pairs >= total:
            return
        name, device, features = count.stream.name, self._asked.model.device, len(region.space)
        if name not in self._leaves:
            lanes = [BitLanes.of(region, count.stream, device, again) for again in (False, True)]
            self._leaves[name] = lanes, Changes(self._asked, region.free(), "grow", usual_step(features))
        lanes, found = self._leaves[name]
        while count.pairs < total:
            rows, block = min(block_rows(features), total - count.pairs), range(count.blocks, count.blocks + 1)
            found.add(*(lane.draw(block, rows, found.octets) for lane in lanes))
            count.pairs += rows
            count.blocks += 1
        count.changed[region.free()] = found.counts()[0]


def whole_tiles(inputs: float) -> int:
    """About so many inputs, in multiples that matrix products like."""
    tile = max(1, min(_TILE, int(inputs)))
    return max(1, round(inputs / tile)) * tile


class Changes:
    """How many labels change with each of some features; ``step`` inputs at once is what others ask.

    Inputs are bits, or inner values of which ``given`` makes what the model receives.
    """

    def __init__(
        self, asked: OnDevice, features: Sequence[int], purpose: str, step: int, given: Given | None = None
    ) -> None:
        device = asked.model.device
        self._asked, self._purpose, self._step, self._given = asked, purpose, step, given
        self._features, self._groups = placed([-1, *features], device), DeviceTree.of([0, 1], 0, device)
        self._changed: Any = placed(np.zeros(len(features)), device, "int64")
        self._tally: Any = None
        self._group: Any = None  # inputs as they are, and those that were changed
        self.octets = placed([], device, "uint8").dtype

    def add(self, inputs: Tensor, again: Tensor | None = None) -> None:
        """Ask about inputs and their changes: to what was drawn ``again``, or of bits that are flipped."""
        asked, parts = self._asked, len(self._features)
        limited = asked.short_of(parts * len(inputs))
        step = self._step if limited else whole_tiles(asked.rows / parts)
        for start in range(0, len(inputs), step):
            rows = slice(start, min(start + step, len(inputs)))
            codes = asked.ask(self._hybrids(inputs, again, rows), self._purpose)
            each = codes.view(parts, -1)
            self._changed += (each[1:] != each[0]).sum(1)
            if self._group is None or len(self._group) != len(codes):
                self._group = self._features.new_ones(len(codes))
                self._group[: each.shape[1]] = 0
            found = self._groups.tally(self._group, codes, asked.model.width)
            self._tally = found if self._tally is None else self._tally + found

    def _hybrids(self, inputs: Tensor, again: Tensor | None, rows: slice) -> Tensor:
        if self._given is None:
            return hybrids(inputs, again, self._features, rows, self._asked.model.dtype)
        assert again is not None, "only bits can be flipped"
        return self._given.hybrids(inputs[rows], again[rows], self._features)

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Changes by feature, and labels of the inputs themselves by code."""
        labels = np.zeros(0, np.int64) if self._tally is None else self._asked.by_code(self._tally)[0]
        return self._changed.cpu().numpy(), labels


def _growing(bare: GrowingTree, device: Any) -> DeviceTree:
    """A tree in the making, whose leaves hold their numbers."""
    return DeviceTree.of(bare.nodes, max(leaf.region.depth for leaf in bare.leaves.values()), device)
