"""A tree as scikit-learn's own, for everything that is made for those: plots, SHAP, converters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import need
from fidelitree.export.encoder import Encoder
from fidelitree.spaces.features import AtMost
from fidelitree.trees.answers import upwards
from fidelitree.trees.rules import node_shares
from fidelitree.trees.tree import check_tree

if TYPE_CHECKING:
    from fidelitree.spaces.world import World
    from fidelitree.trees.tree import Tree

_LEAST = 1e-12
"""SHAP divides by weights: what is never drawn weighs a little."""
_SHOWN = 1_000_000


def to_sklearn(tree: Tree, space: World | None = None) -> Any:
    """A fitted ``DecisionTreeClassifier`` that answers as the tree for what ``Encoder(tree)`` makes of inputs.

    Its tests, its size and its depth are the tree's. Weights of nodes are probabilities of the ``space`` (of a million
    drawn inputs, rounded, where whole numbers are shown), or else count leaves; the values of a leaf are 1 for its
    label and 0 for all others. Two cuts of a feature that 32 bits cannot tell apart are refused. Missing numbers go
    where the tree sends them. A tree whose leaves hold numbers becomes a ``DecisionTreeRegressor``. One that defers is
    refused.
    """
    check_tree(tree)
    tree.check_answers("one of scikit-learn")
    need("sklearn", "sklearn", "trees of scikit-learn")
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    encoder, numbers = Encoder(tree), tree.labels.dtype.kind == "f"
    labels = tree.labels
    # Fitted on a few inputs of each label (fewer look like numbers to it), it has all that a fitted tree has; then it
    # gets other nodes.
    few = np.repeat(labels, 3)
    kind = DecisionTreeRegressor if numbers else DecisionTreeClassifier
    fitted = kind(random_state=0).fit(np.zeros((len(few), len(encoder.names))), few)
    state = fitted.tree_.__getstate__()
    weight = _weights(tree, space)
    values = _values(tree, weight)
    state["node_count"], state["max_depth"] = len(tree.feature), tree.depth
    state["nodes"] = _nodes(tree, encoder, state["nodes"].dtype, weight)
    means = values @ labels[:, None] if numbers else values
    spread = values @ labels[:, None] ** 2 - means**2 if numbers else 1 - (values**2).sum(axis=1, keepdims=True)
    state["nodes"]["impurity"] = np.maximum(spread[:, 0], 0)
    state["values"] = means[:, None, :].copy()
    grown = type(fitted.tree_)(len(encoder.names), np.array([means.shape[1]], np.intp), 1)
    grown.__setstate__(state)
    fitted.tree_ = grown
    return fitted


def _nodes(tree: Tree, encoder: Encoder, dtype: np.dtype[Any], weight: NDArray[np.float64]) -> NDArray[Any]:
    """A row for each node; its left child is where the column is at most the threshold."""
    nodes = np.zeros(len(tree.feature), dtype)
    inner = tree.feature >= 0
    low_is_yes = np.zeros(len(nodes), np.bool_)
    low_is_yes[[node for node, test in tree.tests.items() if isinstance(test, AtMost)]] = True
    columns, thresholds = encoder.thresholds()
    nodes["missing_go_to_left"] = [bool(getattr(tree.tests.get(v), "missing", None)) for v in range(len(nodes))]
    nodes["left_child"] = np.where(low_is_yes, tree.yes, tree.no)
    nodes["right_child"] = np.where(low_is_yes, tree.no, tree.yes)
    nodes["feature"] = np.where(inner, columns, -2)  # scikit-learn's marks of a leaf
    nodes["threshold"] = np.where(inner, thresholds, -2)
    nodes["weighted_n_node_samples"] = weight
    whole = weight if weight[0] > 1 else weight * _SHOWN
    nodes["n_node_samples"] = np.maximum(1, np.rint(whole))
    return nodes


def _weights(tree: Tree, space: World | None) -> NDArray[np.float64]:
    if space is None:
        return upwards(tree, np.ones(tree.size))
    return np.asarray(np.maximum(node_shares(tree, space), _LEAST))


def _values(tree: Tree, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of every label below each node."""
    _, no, yes, code = tree.as_lists
    values = np.zeros((len(code), len(tree.labels)))
    for node in reversed(range(len(code))):
        if no[node] < 0:
            values[node, code[node]] = 1
        else:
            sides = [no[node], yes[node]]
            values[node] = np.average(values[sides], axis=0, weights=weight[sides])
    return values
