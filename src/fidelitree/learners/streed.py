"""STreeD: the tree with the fewest errors on labelled inputs for its depth; pystreed underneath.

J. van der Linden, M. de Weerdt, E. Demirovic, *Necessary and sufficient conditions for optimal decision trees using
dynamic programming*, NeurIPS 2023. Labelled inputs alone.

One level deeper until the tree does well on held-out labels. A number is cut at ten quantiles.

Running time: grows about (tests) times with each level; ``depth`` levels at most (four unless told). Where its
guarantee ends: it is optimal on the labels that it saw, for errors at a depth, among those tests; about the target
only the certificate speaks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fidelitree.errors import check_count, need
from fidelitree.learners.lesson import Lesson, from_labels, learner
from fidelitree.search.labelled import FeatureColumns, Labelled

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.runs.result import Distillation
    from fidelitree.spaces.features import Test
    from fidelitree.trees.nested import Nested
    from fidelitree.trees.tree import Tree

DEPTH = 4
_SECONDS = 20  # for one search


@learner("van der Linden, de Weerdt, Demirovic 2023", "labels", library="pystreed")
def streed(lesson: Lesson, *, depth: int = DEPTH) -> Distillation:
    """The best tree of small depth for a growing set of labels, certified; ``depth`` is the largest to try."""
    depth = check_count("depth", depth)
    need("pystreed", "optimal", "optimal trees of labelled inputs")
    return from_labels(lesson, lambda data: fit(data, lesson.epsilon, depth, lesson.watch))


def fit(data: Labelled, epsilon: float, deepest: int, watch: Watch) -> Tree:
    """The first depth whose tree does well on the judging rows; else the tree that does best there."""
    columns = FeatureColumns.binary(data.space, data.inner)
    rows = data.growing
    inputs, codes = columns.of(data.inner[rows]).astype(np.int32), data.codes[rows].astype(np.int32)
    best = data.nested(int(np.bincount(codes, data.weights[rows]).argmax()))
    for depth in range(1, deepest + 1):
        if data.error(best) <= data.aim(epsilon) or len(np.unique(codes)) == 1:
            break
        watch()
        tree = _searched(data, columns, inputs, codes, depth)
        if tree is None:
            break
        best = min(best, tree, key=data.error)
    return best


def _searched(data: Labelled, columns: FeatureColumns[Test], inputs: Any, codes: Any, depth: int) -> Tree | None:
    """The tree with the fewest errors; None where time was up before any was found."""
    model = need("pystreed", "optimal", "optimal trees of labelled inputs").STreeDClassifier(
        max_depth=depth, time_limit=_SECONDS
    )
    try:
        model.fit(inputs, codes)
        return data.nested(_nested(model.get_tree(), columns))
    except (RuntimeError, AttributeError):  # its ways of saying so
        return None


def _nested(node: Any, columns: FeatureColumns[Test]) -> Nested:
    if node.is_leaf_node():
        return int(node.label)
    test = columns.tests[int(node.feature)]
    return test, _nested(node.left_child, columns), _nested(node.right_child, columns)
