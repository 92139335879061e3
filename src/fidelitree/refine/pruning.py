"""Exact pruning: for each number of leaves, the pruning of a tree with the fewest errors."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fidelitree.refine.coded import Floats, Sketch
from fidelitree.refine.node import Leaf, Node


class Prunings:
    """All best prunings of a tree, by dynamic programming over its nodes. The tree's rows are not kept."""

    def __init__(self, node: Node) -> None:
        self._code = int(node.counts.argmax())
        self._alone = float(node.counts.sum() - node.counts.max())
        self._leaves = node.leaves
        self._split = (
            None if isinstance(node, Leaf) else (node.feature, node.test, Prunings(node.no), Prunings(node.yes))
        )

    @cached_property
    def errors(self) -> Floats:
        """Entry s - 1: the fewest errors with exactly s leaves."""
        curve = np.full(self._leaves, np.inf)
        curve[0] = self._alone
        if self._split is not None:
            short, long = sorted((side.errors for side in self._split[2:]), key=len)
            for k, cost in enumerate(short):
                part = curve[k + 1 : k + 1 + len(long)]
                np.minimum(part, cost + long, out=part)
        return curve

    def sketch(self, leaves: int) -> Sketch:
        """The best pruning with exactly so many leaves."""
        if leaves == 1 or self._split is None:
            return self._code
        feature, test, no, yes = self._split
        least, most = max(1, leaves - yes._leaves), min(no._leaves, leaves - 1)
        sums = no.errors[least - 1 : most] + yes.errors[leaves - most - 1 : leaves - least][::-1]
        share = least + int(sums.argmin())
        return feature, test, no.sketch(share), yes.sketch(leaves - share)
