"""Exact pruning: for each number of leaves, the pruning of a tree with the fewest errors.

Labels come from the rows that the tree was grown on. Which splits stay is decided by errors on those rows and on the
held-out ones together: a split that only fits noise gains nothing on rows it has not seen.
"""

from __future__ import annotations

import numpy as np

from fidelitree.search.local.coded import Coded
from fidelitree.search.local.grouped import Rows
from fidelitree.search.local.node import Leaf, Node
from fidelitree.trees.nested import Nested


class Prunings:
    """All best prunings of a tree, by dynamic programming over its nodes; the tree's rows are not kept.

    Entry s - 1 belongs to the pruning with exactly s leaves: ``errors`` on the rows, ``missed`` on the held-out rows,
    ``both`` their sum, which is the least possible.
    """

    def __init__(self, node: Node, held: Coded, reached: Rows) -> None:
        self._code = int(node.counts.argmax())
        self.errors = np.full(node.leaves, float(node.counts.sum() - node.counts.max()))
        wrong = held.codes.take(reached) != self._code
        self.missed = np.full(node.leaves, float(held.weights.take(reached)[wrong].sum()))
        self.both = self.errors + self.missed
        self._split = None
        if not isinstance(node, Leaf):
            passed = held.says_yes(node.test, reached)
            no, yes = Prunings(node.no, held, reached[~passed]), Prunings(node.yes, held, reached[passed])
            self._split = node.test, no, yes
            self.both[1:] = np.inf
            self._combine(*sorted((no, yes), key=lambda side: len(side.both)))

    def _combine(self, short: Prunings, long: Prunings) -> None:
        """Of prunings that are equally good, the one with the fewest leaves on the shorter side is taken."""
        for k, one in enumerate(short.both):
            part = slice(k + 1, k + 1 + len(long.both))
            sums = one + long.both
            better = sums < self.both[part]
            np.copyto(self.both[part], sums, where=better)
            np.copyto(self.errors[part], short.errors[k] + long.errors, where=better)
            np.copyto(self.missed[part], short.missed[k] + long.missed, where=better)

    def sketch(self, leaves: int) -> Nested:
        """The best pruning with exactly so many leaves."""
        if leaves == 1 or self._split is None:
            return self._code
        test, no, yes = self._split
        least, most = max(1, leaves - len(yes.both)), min(len(no.both), leaves - 1)
        sums = no.both[least - 1 : most] + yes.both[leaves - most - 1 : leaves - least][::-1]
        mirrored = len(yes.both) < len(no.both)  # ties are broken as in `_combine`
        share = most - int(sums[::-1].argmin()) if mirrored else least + int(sums.argmin())
        return test, no.sketch(share), yes.sketch(leaves - share)
