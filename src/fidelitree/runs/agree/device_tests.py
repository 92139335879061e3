"""Test inputs of an audit on the device of its target: drawn, asked, and compared with a tree there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fidelitree.asking.on_device import OnDevice, rows_at_once, windows
from fidelitree.spaces.draw import block_rows
from fidelitree.spaces.mixture import Mixture
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets.device.lanes import BitLanes, DeviceTree
from fidelitree.targets.device.values import Given, ValueLanes, ValueTree

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.draw import Stream
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

Tensor = Any
Drawn = Callable[[range, int], tuple[Tensor, Tensor]]
"""Rows of some blocks: the node at which each ends, and what the model receives, which it may change."""


@dataclass(frozen=True)
class DeviceTests:
    """Inputs of a stream, block by block, for a tree and a model."""

    asked: OnDevice
    tree: Tree
    walked: DeviceTree
    drawn: Drawn
    rows: int

    @classmethod
    def of(cls, counted: Counted, tree: Tree, world: World, stream: Stream) -> DeviceTests | None:
        """None where an audit has to go the usual way."""
        asked, product = OnDevice.of(counted, any_features=True), isinstance(world, ProductSpace)
        if asked is None or tree.labels.dtype.kind not in "biu" or not (product or isinstance(world, Mixture)):
            return None
        walked, n = DeviceTree.of(tree.nodes, tree.depth, asked.model.device), len(counted.space)
        if product and counted.space.all_bits:
            return cls(asked, tree, walked, _bits(asked, walked, stream), asked.rows)
        drawn = _values(asked, ValueTree.of(tree, walked), world, stream)
        return None if drawn is None else cls(asked, tree, walked, drawn, min(asked.rows, rows_at_once(n)))

    def count(self, block: int, rows: int) -> Counter[tuple[Any, Any]]:
        """Both labels of inputs from a block on, the target's first; only the sums leave the device."""
        total: Any = 0
        for blocks, each in windows(block, rows, block_rows(len(self.asked.counted.space)), self.rows):
            nodes, inputs = self.drawn(blocks, each)
            codes = self.asked.ask(inputs, "certify")
            total = total + self.walked.tally(nodes, codes, self.asked.model.width)
        counts, labels = self.asked.by_label(total)
        own = self.tree.labels.tolist()
        return Counter(
            {
                (label, own[row]): int(count)
                for row, line in enumerate(counts)
                for label, count in zip(labels, line, strict=True)
                if count
            }
        )


def _bits(asked: OnDevice, walked: DeviceTree, stream: Stream) -> Drawn:
    lanes, model = BitLanes.of(asked.counted.space.whole, stream, asked.model.device), asked.model

    def drawn(blocks: range, rows: int) -> tuple[Tensor, Tensor]:
        inputs = lanes.draw(blocks, rows, model.dtype)
        return walked.reached(inputs), inputs  # the model sees the inputs afterwards

    return drawn


def _values(asked: OnDevice, walked: ValueTree, world: Any, stream: Stream) -> Drawn | None:
    """None where the model receives something else than numbers; the usual way says so."""
    given = Given.found(asked.counted.space, asked.model)
    if given is None:
        return None
    lanes = ValueLanes.of(world, stream, asked.model.device)

    def drawn(blocks: range, rows: int) -> tuple[Tensor, Tensor]:
        inner = lanes.draw(blocks, rows)
        return walked.reached(inner), given.inputs(inner)

    return drawn
