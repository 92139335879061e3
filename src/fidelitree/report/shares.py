"""How inputs spread over the nodes of a tree: their masses, the target's labels, and the errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidelitree.report.contents import Contents
from fidelitree.trees.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shares:
    """For every node: the share of inputs that reach it, and the share that reach it and are labelled wrongly.

    ``masses`` are None where they are not known, ``wrong`` where no answers were kept.
    """

    masses: Floats | None
    wrong: Floats | None
    estimated: bool
    """Whether the masses, too, come from answers."""

    @classmethod
    def of(cls, contents: Contents) -> Shares:
        """Masses from the space; of rows of a table only the answers tell how many reach a leaf."""
        tree, labels = contents.tree, contents.leaf_labels
        wrong = None if labels is None else upwards(tree, labels.wrong(tree))
        if not contents.rows:
            return cls(np.array([region.mass for _, region in tree.regions(contents.space)]), wrong, False)
        return cls(None if labels is None else upwards(tree, labels.shares.sum(axis=1)), wrong, True)


def upwards(tree: Tree, of_leaves: Floats) -> Floats:
    """From a number for each leaf to the sum below every node."""
    sums = np.zeros(len(tree.feature))
    sums[tree.feature < 0] = of_leaves
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():  # children stand after their parents
        sums[node] = sums[tree.no[node]] + sums[tree.yes[node]]
    return sums
