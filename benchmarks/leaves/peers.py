"""Learners of trees from labelled rows: each gives candidates, the smallest first, to be tested.

A size is chosen on held-out labels, a quarter of those there are, as ours is; then scikit-learn's tree of that size is
fitted to all of them, which favours it. Splits whose sides are leaves of one label are undone: that favours it too.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.search.labelled import FeatureColumns
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.nested import Nested, build, simplest
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[Any]
HELD = 4  # every so many-th label is held out
MARGINS = (0.0, 0.5, 1.0, 1.75, 2.5, 3.5, 5.0)  # in standard errors of the held-out share, below epsilon
MOST_LEAVES = 400
WIDER = 5  # one more level is taken to need at least so many times as long: else it is not begun
HAS_STREED = find_spec("pystreed") is not None


@dataclass(frozen=True)
class Labelled:
    """Inner values and labels, some of them held out."""

    space: ProductSpace
    inner: Array
    labels: Array
    epsilon: float

    @property
    def held(self) -> NDArray[np.bool_]:
        return np.arange(len(self.labels)) % HELD == HELD - 1

    def aims(self) -> list[float]:
        """Held-out shares of errors of candidates that are worth a test, falling."""
        error = (self.epsilon * (1 - self.epsilon) * HELD / len(self.labels)) ** 0.5
        return [max(self.epsilon / 4, self.epsilon - margin * error) for margin in MARGINS]


class Cart:
    """A fitted tree of scikit-learn, cut back to any number of leaves it had while it grew best first."""

    def __init__(self, data: Labelled, rows: NDArray[np.bool_], **options: Any) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self.data, self.columns = data, FeatureColumns.one_hot(data.space)
        inputs = self.columns.of(data.inner[rows])
        self.model = DecisionTreeClassifier(random_state=0, **options).fit(inputs, data.labels[rows])
        self.leaves = int(self.model.get_n_leaves())

    def tree(self, leaves: int) -> Tree:
        """Nodes are numbered in the order of their making: so many leaves are the first 2 x leaves - 1 nodes."""
        return build(self.data.space, simplest(self._nested(0, 2 * leaves - 1)), self.model.classes_)

    def _nested(self, node: int, nodes: int) -> Nested:
        inside = self.model.tree_
        below, above = int(inside.children_left[node]), int(inside.children_right[node])
        if not 0 <= below < nodes:
            return int(inside.value[node, 0].argmax())
        sides = self._nested(below, nodes), self._nested(above, nodes)
        column, cut = int(inside.feature[node]), float(inside.threshold[node])
        return self.columns.node(column, cut, *sides)

    def held_out(self) -> NDArray[np.float64]:
        """Shares of held-out errors with 1, 2, 3, ... leaves."""
        held, inside = self.data.held, self.model.tree_
        visits = self.model.decision_path(self.columns.of(self.data.inner[held])).tocsc()
        labels = self.model.classes_[inside.value[:, 0].argmax(axis=1)]
        answers = self.data.labels[held]
        errors = np.array(
            [(answers[visits.indices[slice(*visits.indptr[k : k + 2])]] != labels[k]).sum() for k in range(len(labels))]
        )
        split = np.full(len(labels), -1)
        parents = np.flatnonzero(inside.children_left >= 0)
        split[inside.children_left[parents]] = parents
        change = errors[1::2] + errors[2::2] - errors[split[1::2]]
        return np.concatenate([errors[:1], errors[0] + np.cumsum(change)]) / held.sum()


def best_first(data: Labelled, seconds: float) -> list[Tree]:
    """CART's best-first trees of the sizes that meet the aims on held-out labels; else the one that is best there."""
    curve = Cart(data, ~data.held, max_leaf_nodes=MOST_LEAVES).held_out()
    everything = Cart(data, np.ones(len(data.labels), bool), max_leaf_nodes=MOST_LEAVES)
    sizes = {int((curve <= aim).argmax()) + 1 for aim in data.aims() if (curve <= aim).any()} or {
        int(curve.argmin()) + 1
    }
    return _distinct(everything.tree(min(size, everything.leaves)) for size in sorted(sizes))


def pruned(data: Labelled, seconds: float) -> list[Tree]:
    """CART grown to the end and cut back by cost-complexity pruning, for the best of its alphas."""
    some, everything = _Pruning(data, ~data.held), _Pruning(data, np.ones(len(data.labels), bool))
    sizes = {some.smallest(aim) for aim in data.aims()} - {None} or {some.at(0).leaves}
    return _distinct(everything.with_leaves(size) for size in sorted(filter(None, sizes)))


class _Pruning:
    """The prunings of one CART tree, the largest first."""

    def __init__(self, data: Labelled, rows: NDArray[np.bool_]) -> None:
        whole = Cart(data, rows)
        path = whole.model.cost_complexity_pruning_path(whole.columns.of(data.inner[rows]), data.labels[rows])
        self.alphas = np.unique(np.maximum(path.ccp_alphas, 0))
        self.at: Callable[[int], Cart] = cache(
            lambda place: Cart(data, rows, ccp_alpha=self.alphas[place] * (1 + 1e-9))
        )
        self.data = data

    def _share(self, place: int) -> float:
        held = self.data.held
        cart = self.at(place)
        answers = cart.model.predict(cart.columns.of(self.data.inner[held]))
        return float((answers != self.data.labels[held]).mean())

    def smallest(self, aim: float) -> int | None:
        """Leaves of the smallest that meets an aim on held-out labels."""
        place = bisect_left(range(len(self.alphas)), True, key=lambda place: self._share(place) > aim) - 1
        return self.at(place).leaves if place >= 0 else None

    def with_leaves(self, leaves: int) -> Tree:
        """The largest that has at most so many."""
        place = bisect_left(range(len(self.alphas) - 1), True, key=lambda place: self.at(place).leaves <= leaves)
        return self.at(place).tree(self.at(place).model.tree_.node_count)


def streed(data: Labelled, seconds: float) -> list[Tree]:
    """The trees with the fewest errors of depth 1 to 4, up to the first that is good enough on the labels."""
    columns, (classes, codes) = (
        FeatureColumns.binary(data.space, data.inner),
        np.unique(data.labels, return_inverse=True),
    )
    inputs, end = columns.of(data.inner).astype(np.int32), time.monotonic() + seconds
    trees = [Tree.constant(data.space, classes[np.bincount(codes).argmax()])]
    taken = 0.0
    for depth in range(1, 5):
        left = end - time.monotonic()
        if taken * WIDER > left or len(classes) == 1:
            break
        nested = streed_tree(inputs, codes, columns, max_depth=depth, time_limit=left)
        if nested is None:
            break
        trees.append(build(data.space, simplest(nested), classes))
        taken = left - (end - time.monotonic())
        if (trees[-1].predict_inner(data.inner) != data.labels).mean() <= data.aims()[2]:
            break
    good = [tree for tree in trees if (tree.predict_inner(data.inner) != data.labels).mean() <= data.epsilon]
    return _distinct(good or trees[-1:])


def streed_within(data: Labelled, depth: int, seconds: float) -> list[Tree]:
    """The trees with the fewest errors for every number of splits, of a depth that suffices, as far as time goes."""
    columns, (classes, codes) = (
        FeatureColumns.binary(data.space, data.inner),
        np.unique(data.labels, return_inverse=True),
    )
    inputs, end = columns.of(data.inner).astype(np.int32), time.monotonic() + seconds
    trees = [Tree.constant(data.space, classes[np.bincount(codes).argmax()])]
    for splits in range(1, 1 << depth):
        left = end - time.monotonic()
        if left <= 0 or (trees[-1].predict_inner(data.inner) != data.labels).mean() <= data.aims()[-1]:
            break
        nested = streed_tree(inputs, codes, columns, max_depth=depth, max_num_nodes=splits, time_limit=left)
        if nested is None:
            break
        trees.append(build(data.space, simplest(nested), classes))
    good = [tree for tree in trees if (tree.predict_inner(data.inner) != data.labels).mean() <= data.epsilon]
    return _distinct(good or trees[-1:])


def streed_tree(inputs: Any, codes: Any, columns: FeatureColumns[Any], **limits: float) -> Nested | None:
    """The best tree within the limits; None where time was up before any was found."""
    from pystreed import STreeDClassifier

    model = STreeDClassifier(**limits)
    try:
        model.fit(inputs, codes.astype(np.int32))
        return _from_streed(model.get_tree(), columns)
    except (RuntimeError, AttributeError):  # its way of saying that time was up
        return None


def _from_streed(node: Any, columns: FeatureColumns[Any]) -> Nested:
    if node.is_leaf_node():
        return int(node.label)
    sides = _from_streed(node.left_child, columns), _from_streed(node.right_child, columns)
    test = columns.tests[int(node.feature)]
    assert not isinstance(test, int), "all columns are tests"
    return test, *sides


def _distinct(trees: Any) -> list[Tree]:
    found: dict[int, Tree] = {}
    for tree in trees:
        found.setdefault(tree.size, tree)
    return [found[size] for size in sorted(found)]


PEERS: dict[str, Callable[[Labelled, float], list[Tree]]] = {
    "CART": best_first,
    "CART, pruned": pruned,
    **({"pystreed": streed} if HAS_STREED else {}),
}
