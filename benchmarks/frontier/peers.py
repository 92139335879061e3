"""Peers that are given as many labels: for each, its best tree with at most so many leaves."""

from __future__ import annotations

import heapq
import time
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.leaves.peers import HAS_STREED, Cart, Labelled, streed_tree
from fidelitree.search.labelled import FeatureColumns
from fidelitree.trees.nested import Nested, build, simplest
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HAS_CONTREE = find_spec("pycontree") is not None
HAS_LICKETY = find_spec("licketysplit") is not None
_PRICES = 24  # of a leaf, from a tenth of the rows to half a row: LicketySPLIT is not asked for a size
_LEVELS = 7  # of its trees
_SPLITS = 7  # up to so many: beyond, optimal trees take too long
Curve = dict[int, Tree]


def best_first(data: Labelled, sizes: Sequence[int], seconds: float) -> Curve:
    """CART, grown where the impurity falls most."""
    cart = Cart(data, np.ones(len(data.labels), bool), max_leaf_nodes=max(2, *sizes))
    return {size: cart.tree(min(size, cart.leaves)) for size in sizes}


class _Pruned(Cart):
    """CART grown to the end and cut back by its weakest links, as scikit-learn's ccp_alpha does."""

    @cached_property
    def _cut_at(self) -> dict[int, int]:
        """For each inner node, how many leaves were left when it became one."""
        inside = self.model.tree_
        weights = inside.weighted_n_node_samples / inside.weighted_n_node_samples[0]
        alone = weights * inside.impurity
        left, right = inside.children_left, inside.children_right
        total, leaves, parent = alone.copy(), np.ones(len(left), int), np.full(len(left), -1)
        for node in range(len(left) - 1, -1, -1):  # children have larger numbers than their parents
            if left[node] >= 0:
                sides = [left[node], right[node]]
                parent[sides] = node
                total[node], leaves[node] = total[sides].sum(), leaves[sides].sum()
        heap = [((alone[k] - total[k]) / (leaves[k] - 1), int(leaves[k]), k) for k in np.flatnonzero(left >= 0)]
        heapq.heapify(heap)
        cut: dict[int, int] = {}
        while heap:
            _, known, node = heapq.heappop(heap)
            if known != leaves[node] or leaves[node] == 1 or self._below_a_cut(node, parent, cut):
                continue  # it was looked at before a link below it was cut
            change, fewer = alone[node] - total[node], leaves[node] - 1
            above = node
            while above >= 0:
                total[above] += change
                leaves[above] -= fewer
                if above != node and leaves[above] > 1:
                    link = (alone[above] - total[above]) / (leaves[above] - 1)
                    heapq.heappush(heap, (link, int(leaves[above]), above))
                above = parent[above]
            cut[int(node)] = int(leaves[0])
        return cut

    @staticmethod
    def _below_a_cut(node: int, parent: Any, cut: dict[int, int]) -> bool:
        while node >= 0:
            if int(node) in cut:
                return True
            node = parent[node]
        return False

    def with_leaves(self, most: int) -> Tree:
        """The largest pruning that has at most so many."""
        left = self.leaves
        if left > most:
            left = max(leaves for leaves in self._cut_at.values() if leaves <= most)
        return build(self.data.space, simplest(self._pruned(0, left)), self.model.classes_)

    def _pruned(self, node: int, left: int) -> Nested:
        """What is below a node while so many leaves are left."""
        inside = self.model.tree_
        if inside.children_left[node] < 0 or left <= self._cut_at.get(node, 0) < self.leaves:
            return int(inside.value[node, 0].argmax())
        below, above = (self._pruned(int(side[node]), left) for side in (inside.children_left, inside.children_right))
        return self.columns.node(int(inside.feature[node]), float(inside.threshold[node]), below, above)


def pruned(data: Labelled, sizes: Sequence[int], seconds: float) -> Curve:
    """CART, grown to the end and pruned."""
    cart = _Pruned(data, np.ones(len(data.labels), bool))
    return {size: cart.with_leaves(size) for size in sizes}


def streed(data: Labelled, sizes: Sequence[int], seconds: float) -> Curve:
    """Trees with the fewest errors, of a depth that time allows, over tests at ten quantiles of every number."""
    columns = FeatureColumns.binary(data.space, data.inner)
    classes, codes = np.unique(data.labels, return_inverse=True)
    inputs, end = columns.of(data.inner).astype(np.int32), time.monotonic() + seconds
    found: Curve = {}
    for size in (size for size in sizes if 1 < size <= _SPLITS + 1):
        left = end - time.monotonic()
        if left <= 0:
            break
        depth = min(size - 1, 3)
        nested = streed_tree(inputs, codes, columns, max_depth=depth, max_num_nodes=size - 1, time_limit=left)
        if nested is None:
            break
        found[size] = build(data.space, simplest(nested), classes)
    return found


def contree(data: Labelled, sizes: Sequence[int], seconds: float) -> Curve:
    """Trees with the fewest errors over every threshold; more than 2^depth - 1 leaves it cannot be asked for."""
    end, found = time.monotonic() + seconds, Curve()
    for depth, size in ((1, 2), (2, 4), (3, 8)):
        left = end - time.monotonic()
        tree = contree_tree(data, depth, left) if left > 0 else None
        if tree is None:
            break
        for wanted in sizes:
            if size <= wanted:
                found[wanted] = tree
    return found


def contree_tree(data: Labelled, depth: int, seconds: float) -> Tree | None:
    """Its tree of so many levels; None where time was up before it was found."""
    from pycontree import ConTree

    columns = FeatureColumns.one_hot(data.space)
    classes, codes = np.unique(data.labels, return_inverse=True)
    model = ConTree(max_depth=depth, time_limit=seconds, verbose=False)
    try:
        model.fit(columns.of(data.inner).astype(np.float64), codes)
        nested = _from_contree(model.get_tree(), columns)
    except RuntimeError:  # its way of saying that time was up
        return None
    return build(data.space, simplest(nested), classes)


def _from_contree(node: Any, columns: FeatureColumns[Any]) -> Nested:
    if node.is_leaf_node():
        return int(node.get_label())
    below, above = _from_contree(node.get_left(), columns), _from_contree(node.get_right(), columns)
    return columns.node(int(node.get_split_feature()), float(node.get_split_threshold()), below, above)


def lickety(data: Labelled, sizes: Sequence[int], seconds: float) -> Curve:
    """Trees of LicketySPLIT at several prices of a leaf: at each size the one with the fewest errors on its rows.

    At each node it takes the test whose two sides, grown greedily, lose least, and goes on below (Babbar, McTavish,
    Rudin, Seltzer 2025). As its authors advise, it tests thresholds that boosted trees have.
    """
    from licketysplit import LicketySPLITClassifier, ThresholdGuessBinarizer

    columns, end = FeatureColumns.one_hot(data.space), time.monotonic() + seconds
    classes, codes = np.unique(data.labels, return_inverse=True)
    if len(classes) < 2:
        return {}
    guesses = ThresholdGuessBinarizer(n_estimators=50, max_depth=2, column_elimination=False)
    tests = np.asarray(guesses.fit_transform(columns.of(data.inner), codes)).astype(np.uint8)
    grown: list[tuple[int, Tree]] = []
    for price in np.geomspace(0.1, 0.5 / len(codes), _PRICES).tolist():
        if time.monotonic() > end:
            break
        model = LicketySPLITClassifier(lambda_leaf=price, depth_budget=_LEVELS).fit(tests, codes)
        leaves = list(zip(*model.get_tree_paths(), strict=True))
        tree = build(data.space, simplest(_from_paths(leaves, 0, guesses.thresholds_, columns)), classes)
        grown.append((int(np.count_nonzero(tree.predict_inner(data.inner) != data.labels)), tree))
    found: Curve = {}
    for size in sizes:
        fitting = [one for one in grown if one[1].size <= size]
        if fitting:
            found[size] = min(fitting, key=lambda one: one[0])[1]
    return found


def _from_paths(leaves: Sequence[Any], depth: int, thresholds: Sequence[Any], columns: FeatureColumns[Any]) -> Nested:
    """The tree below a node, by paths of signed tests, counted from 1: positive where the value is below the cut."""
    path, label = leaves[0]
    if len(path) == depth:
        return int(label)
    below, above = ([one for one in leaves if (one[0][depth] > 0) == wanted] for wanted in (True, False))
    column, cut = thresholds[abs(path[depth]) - 1]
    sides = (_from_paths(side, depth + 1, thresholds, columns) for side in (below, above))
    return columns.node(int(column), float(cut), *sides)


PEERS: dict[str, Callable[[Labelled, Sequence[int], float], Curve]] = {
    "CART": best_first,
    "CART, pruned": pruned,
    **({"pystreed": streed} if HAS_STREED else {}),
    **({"pycontree": contree} if HAS_CONTREE else {}),
    **({"LicketySPLIT": lickety} if HAS_LICKETY else {}),
}
