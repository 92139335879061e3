"""CART: Gini's index grows the tree, cost-complexity pruning cuts it back; scikit-learn underneath.

L. Breiman, J. Friedman, R. Olshen, C. Stone, *Classification and Regression Trees*, 1984. Labelled inputs alone.

The tree is grown to the end and cut back along its sequence of best prunings; of these the smallest is taken whose
held-out error is at most epsilon. A category is asked whether it is one value.

Running time: (labels) log (labels) x (features), a few times over for the prunings. Where its guarantee ends: there is
none on size; where nothing correlates with the label (parity, selectors) it splits at random.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.errors import need
from fidelitree.learners.lesson import Lesson, from_labels, learner
from fidelitree.search.labelled import FeatureColumns, Labelled

if TYPE_CHECKING:
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree


@learner("Breiman, Friedman, Olshen, Stone 1984", "labels", library="sklearn")
def cart(lesson: Lesson) -> Distillation:
    """CART's tree for a growing set of labels, pruned and certified."""
    need("sklearn.tree", "sklearn", "trees of CART")
    return from_labels(lesson, lambda data: fit(data, lesson.epsilon))


def fit(data: Labelled, epsilon: float) -> Tree:
    """The smallest pruning that errs little enough on the judging rows; the whole tree where none does."""
    prunings, aim = _AlphaPath(data), data.aim(epsilon)
    # Errors rise with alpha, but for chance.
    place = bisect_left(range(len(prunings.alphas)), True, key=lambda place: prunings.error(place) > aim)
    return prunings.tree(max(0, place - 1))


class _AlphaPath:
    """One grown tree, cut back for each of its alphas, from the whole tree up to the root."""

    def __init__(self, data: Labelled) -> None:
        self._data, self._columns = data, FeatureColumns.one_hot(data.space)
        rows = data.growing
        weights = data.weights[rows] / data.weights[rows].mean()  # ties among huge weights would be lost in rounding
        self._taught = self._columns.of(data.inner[rows]), data.codes[rows], weights
        path = self._model().cost_complexity_pruning_path(*self._taught)
        self.alphas = np.unique(np.maximum(path.ccp_alphas, 0))
        self.tree = cache(self._tree)

    def _model(self, alpha: float = 0.0) -> Any:
        classifier = need("sklearn.tree", "sklearn", "trees of CART").DecisionTreeClassifier
        return classifier(random_state=0, ccp_alpha=alpha)

    def error(self, place: int) -> float:
        """On the judging rows."""
        return self._data.error(self.tree(place))

    def _tree(self, place: int) -> Tree:
        # Just above an alpha everything that it makes worthless is gone; at 0 nothing is.
        alpha = float(self.alphas[place]) * (1 + 1e-9) if place else 0.0
        inputs, codes, weights = self._taught
        model = self._model(alpha).fit(inputs, codes, sample_weight=weights)
        return self._data.nested(self._nested(model, 0))

    def _nested(self, model: Any, node: int) -> Nested:
        inside = model.tree_
        below, above = int(inside.children_left[node]), int(inside.children_right[node])
        if below < 0:
            return int(model.classes_[inside.value[node, 0].argmax()])
        sides = self._nested(model, below), self._nested(model, above)
        return self._columns.node(int(inside.feature[node]), float(inside.threshold[node]), *sides)
