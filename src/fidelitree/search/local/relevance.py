"""Which features matter, told from the labelled rows alone.

Every feature gets a shadow: the same values in random order, which explain nothing. CART grows a tree on both; a
feature that explains less than the best of the shadows is noise, and a search that may use it only fits the noise.
"""

from __future__ import annotations

import numpy as np

from fidelitree.search.local.coded import Coded, Floats
from fidelitree.search.local.grouped import Grouped, Watch, go_on
from fidelitree.search.local.growth import best_first
from fidelitree.search.local.impurity import gini
from fidelitree.search.local.node import Leaf, Node
from fidelitree.search.local.splits import Splits


def relevant(coded: Coded, leaves: int, random: np.random.Generator, watch: Watch = go_on) -> list[int]:
    """The features that explain more than any shadow does in CART's tree with so many leaves; all, if none does."""
    features = len(coded.sizes)
    shadows = random.permuted(coded.bins, axis=1)
    both = Coded(
        np.concatenate([coded.bins, shadows]),
        [*coded.ordered, *coded.ordered],
        [*coded.sizes, *coded.sizes],
        coded.codes,
        coded.weights,
    )
    explained = np.zeros(2 * features)
    _explain(best_first(Splits(Grouped(both, watch=watch)), leaves, gini), explained)
    found: list[int] = np.flatnonzero(explained[:features] > explained[features:].max()).tolist()
    return found or list(range(features))


def _explain(node: Node, explained: Floats) -> None:
    if isinstance(node, Leaf):
        return
    sides = np.stack([node.counts, node.no.counts, node.yes.counts], axis=1)
    whole, no, yes = gini(sides)
    explained[node.test.feature] += whole - no - yes
    _explain(node.no, explained)
    _explain(node.yes, explained)
