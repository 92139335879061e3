"""Test inputs of an audit on the device of its target: drawn, asked, and compared with a tree there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fidelitree.asking.on_device import OnDevice, windows
from fidelitree.spaces.draw import block_rows
from fidelitree.targets.device.lanes import BitLanes, DeviceTree

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.draw import Stream
    from fidelitree.trees.tree import Tree


@dataclass(frozen=True)
class DeviceTests:
    """Inputs of a stream, block by block, for a tree and a model."""

    asked: OnDevice
    tree: Tree
    walked: DeviceTree
    lanes: BitLanes

    @classmethod
    def of(cls, counted: Counted, tree: Tree, stream: Stream) -> DeviceTests | None:
        """None where an audit has to go the usual way."""
        asked = OnDevice.of(counted)
        if asked is None or tree.labels.dtype.kind not in "biu":
            return None
        each = zip(tree.feature.tolist(), tree.no.tolist(), tree.yes.tolist(), tree.code.tolist(), strict=True)
        nodes = [code if feature < 0 else (feature, no, yes) for feature, no, yes, code in each]
        device = asked.model.device
        lanes = BitLanes.of(counted.space.whole, stream, device)
        return cls(asked, tree, DeviceTree.of(nodes, tree.depth, device), lanes)

    def count(self, block: int, rows: int) -> Counter[tuple[Any, Any]]:
        """Both labels of inputs from a block on, the target's first; only the sums leave the device."""
        total: Any = 0
        for blocks, each in windows(block, rows, block_rows(len(self.lanes.limits)), self.asked.rows):
            inputs = self.lanes.draw(blocks, each, self.asked.model.dtype)
            nodes = self.walked.reached(inputs)  # before the model sees the inputs, which may change them
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
