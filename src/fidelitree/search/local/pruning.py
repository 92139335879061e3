"""Exact pruning: for each number of leaves, the pruning of a tree with the fewest errors.

Labels come from the rows that the tree was grown on. Which splits stay is decided by errors on those rows and on the
held-out ones together: a split that only fits noise gains nothing on rows it has not seen.
"""

from __future__ import annotations

import numpy as np

from fidelitree.search.local.coded import Coded
from fidelitree.search.local.grouped import Rows
from fidelitree.search.local.node import Leaf, Node
from fidelitree.trees.curve import min_plus
from fidelitree.trees.nested import Nested


class Prunings:
    """All best prunings of a tree, by dynamic programming over its nodes; the tree's rows are not kept.

    Entry s - 1 belongs to the pruning with exactly s leaves: ``errors`` on the rows, ``missed`` on the held-out rows,
    ``both`` their sum, which is the least possible. Of prunings that are equally good, the one with the fewest leaves
    on the shorter side of a split is taken.
    """

    def __init__(self, node: Node, held: Coded, reached: Rows) -> None:
        self._code = int(node.counts.argmax())
        self.errors = np.full(node.leaves, float(node.counts.sum() - node.counts.max()))
        wrong = held.codes.take(reached) != self._code
        self.missed = np.full(node.leaves, float(held.weights.take(reached)[wrong].sum()))
        self.both = self.errors + self.missed
        if not isinstance(node, Leaf):
            passed = held.says_yes(node.test, reached)
            no, yes = Prunings(node.no, held, reached[~passed]), Prunings(node.yes, held, reached[passed])
            self._test, self._sides, self._mirrored = node.test, (no, yes), yes.most < no.most
            short, long = (yes, no) if self._mirrored else (no, yes)
            self.both[1:] = np.inf
            self._share = np.zeros(node.leaves, np.intp)  # leaves of the shorter side
            min_plus(self.both, short.both, long.both, self._share)
            few = self._share[1:]
            many = np.arange(2, node.leaves + 1) - few
            self.errors[1:] = short.errors[few - 1] + long.errors[many - 1]
            self.missed[1:] = short.missed[few - 1] + long.missed[many - 1]

    @property
    def most(self) -> int:
        """Leaves of the whole tree."""
        return len(self.both)

    def sketch(self, leaves: int) -> Nested:
        """The best pruning with exactly so many leaves."""
        if leaves == 1:
            return self._code
        few = int(self._share[leaves - 1])
        shares = (leaves - few, few) if self._mirrored else (few, leaves - few)
        no, yes = (side.sketch(share) for side, share in zip(self._sides, shares, strict=True))
        return self._test, no, yes
