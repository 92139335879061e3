"""The same tree in scikit-learn: node for node, so that both do the same work."""

from __future__ import annotations

from typing import Any

import numpy as np

from fidelitree.trees.tree import Tree


def sklearn_twin(tree: Tree) -> Any:
    """A fitted DecisionTreeClassifier with the tree's own nodes in the tree's own order.

    Fitting to labels finds another tree, and a larger one, wherever the best first split is not the target's; so a
    classifier that was fitted to anything gets our nodes in place of its own.
    """
    from sklearn.tree import DecisionTreeClassifier

    everyone = np.zeros((len(tree.labels), len(tree.names)))
    twin = DecisionTreeClassifier().fit(everyone, tree.labels)
    inner = tree.feature >= 0
    nodes = np.zeros(len(tree.feature), twin.tree_.__getstate__()["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = tree.no, tree.yes
    nodes["feature"] = np.where(inner, tree.feature, -2)
    nodes["threshold"] = np.where(inner, 0.5, -2.0)
    nodes["n_node_samples"] = nodes["weighted_n_node_samples"] = 1
    values = np.zeros((len(nodes), 1, len(tree.labels)))
    values[np.arange(len(nodes)), 0, np.where(inner, 0, tree.code)] = 1.0
    kind, arguments, _ = twin.tree_.__reduce__()
    twin.tree_ = kind(*arguments)
    twin.tree_.__setstate__({"max_depth": tree.depth, "node_count": len(nodes), "nodes": nodes, "values": values})
    if (twin.get_n_leaves(), twin.get_depth()) != (tree.size, tree.depth):
        raise RuntimeError(f"scikit-learn must take the tree as it is; got {twin.get_n_leaves()} leaves")
    return twin
