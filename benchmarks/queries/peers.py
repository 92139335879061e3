"""Learners that are given labels, under the same sequential certificate as ours.

Round by round the labels are doubled (100, 200, 400, ...). The candidate trees of a round are fixed first; then fresh
inputs are drawn, and each candidate is an attempt with its own share of delta. All of a round read one stream of
answers, from the smallest candidate to the largest, so a label that one has paid for costs the next nothing. Test
labels of a round that failed join the training set of the next. All of this favours the peers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.queries.settings import DELTA, EPSILON
from benchmarks.queries.targets import merged
from fidelitree.exact.engine import ENUMERATE_UNASKED
from fidelitree.spaces.product import ProductSpace
from fidelitree.theory.sequential import Bet, level_of_attempt
from fidelitree.trees.tree import Tree

Array = NDArray[Any]
Candidates = Callable[[Array, Array, ProductSpace], Iterator[Tree]]
FIRST = 100
MOST = 25_600
BATCH = 0.5  # over epsilon: answers between two looks
HOPELESS_AFTER = 2  # over epsilon
TRIAL = 20  # over epsilon: the least that an attempt may take, however few labels taught its tree
FINER = 1.5  # the ratio of neighbouring sizes of pruned trees


@dataclass
class Labels:
    """A target that counts, with inputs drawn independently."""

    target: Callable[[Array], Array]
    space: ProductSpace
    random: np.random.Generator
    epsilon: float = EPSILON
    bought: int = 0
    inputs: list[Array] = field(default_factory=list)
    answers: list[Array] = field(default_factory=list)

    def buy(self, rows: int) -> None:
        inputs = (self.random.random((rows, len(self.space))) < self.space.biases).astype(np.uint8)
        self.inputs.append(inputs)
        self.answers.append(np.asarray(self.target(inputs)))
        self.bought += rows

    @property
    def asked(self) -> int:
        """What they cost, by the rule for ours: where all inputs could be asked about, each counts once."""
        few = (self.space.points or math.inf) <= ENUMERATE_UNASKED
        return len(np.unique(np.concatenate(self.inputs), axis=0)) if few else self.bought

    def all(self) -> tuple[Array, Array]:
        return np.concatenate(self.inputs), np.concatenate(self.answers)


class Tests:
    """One stream of answers that several attempts read from its beginning."""

    def __init__(self, labels: Labels) -> None:
        self.labels, self.start, self.rows = labels, len(labels.inputs), round(BATCH / labels.epsilon)

    def batch(self, number: int) -> tuple[Array, Array]:
        place = self.start + number
        if place == len(self.labels.inputs):
            self.labels.buy(self.rows)
        return self.labels.inputs[place], self.labels.answers[place]


def certified(tree: Tree, attempt: int, tests: Tests, most: int) -> bool:
    """Whether an attempt succeeds; it ends when its error rate is above epsilon, or ``most`` answers cannot suffice."""
    bet, epsilon = Bet(level_of_attempt(attempt, DELTA)), tests.labels.epsilon
    for number in range(most // tests.rows):
        inputs, answers = tests.batch(number)
        bet.count(int((tree.predict_inner(inputs) != answers).sum()), len(answers))
        if bet.certifies(epsilon):
            return True
        hopeless = bet.samples >= HOPELESS_AFTER / epsilon and bet.errors > epsilon * bet.samples
        if hopeless or bet.samples + bet.needed_for(epsilon) > most:
            return False
    return False


def buy(
    candidates: Candidates,
    target: Callable[[Array], Array],
    space: ProductSpace,
    random: np.random.Generator,
    most: int = MOST,
    epsilon: float = EPSILON,
) -> tuple[Tree | None, int]:
    """The first candidate that is certified, and the labels asked until then; None when ``most`` do not suffice."""
    return bought(candidates, Labels(target, space, random, epsilon), most)


def bought(candidates: Candidates, labels: Labels, most: int) -> tuple[Tree | None, int]:
    """The same with labels of any inputs."""
    attempt, size, epsilon = 0, FIRST, labels.epsilon
    while size <= most:
        labels.buy(max(0, size - labels.bought))
        training = labels.all()
        trees = [tree for tree in candidates(*training, labels.space) if _mistaken(tree, *training) <= epsilon]
        tests = Tests(labels)
        for tree in trees:
            attempt += 1
            if certified(tree, attempt, tests, max(round(TRIAL / epsilon), size)):
                return tree, labels.asked
        size *= 2
    return None, labels.asked


def _mistaken(tree: Tree, inputs: Array, answers: Array) -> float:
    """A tree that is not even good enough on what it was fitted to is not worth an attempt."""
    return float((tree.predict_inner(inputs) != answers).mean())


def cart(inputs: Array, answers: Array, space: ProductSpace) -> Iterator[Tree]:
    """scikit-learn's trees, Gini, best first, of 2, 4, 8, ... leaves until they grow no more."""
    from sklearn.tree import DecisionTreeClassifier

    limit, size = 2, 0
    while True:
        model = DecisionTreeClassifier(max_leaf_nodes=limit, random_state=0).fit(inputs, answers)
        if model.get_n_leaves() == size:
            return
        size = model.get_n_leaves()
        yield merged(_from_sklearn(model, space), space)
        limit *= 2


def pruned(inputs: Array, answers: Array, space: ProductSpace) -> Iterator[Tree]:
    """scikit-learn's tree, Gini, grown to the end and cut back by cost-complexity pruning: from few leaves to all."""
    from sklearn.tree import DecisionTreeClassifier

    path = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(inputs, answers)
    alphas, size = np.unique(np.maximum(path.ccp_alphas, 0)), 0
    # Between two alphas a subtree or more goes: places that grow by a ratio are about sizes that do.
    places = {int(FINER**k) for k in range(40) if FINER**k <= len(alphas)} | {len(alphas)}
    for place in sorted(places):
        alpha = float(alphas[-place]) * (1 + 1e-9)
        model = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(inputs, answers)
        if model.get_n_leaves() > size:
            size = model.get_n_leaves()
            yield merged(_from_sklearn(model, space), space)


def _from_sklearn(model: Any, space: ProductSpace) -> Tree:
    inside = model.tree_
    nodes: list[tuple[int, int, int] | int] = [
        int(inside.value[k, 0].argmax())
        if inside.children_left[k] < 0
        else (int(inside.feature[k]), int(inside.children_left[k]), int(inside.children_right[k]))
        for k in range(inside.node_count)
    ]
    return Tree.build(space, nodes, model.classes_)


HAS_STREED = find_spec("pystreed") is not None


def streed(inputs: Array, answers: Array, space: ProductSpace) -> Iterator[Tree]:
    """The optimal tree of depth 4 with the fewest errors."""
    from pystreed import STreeDClassifier

    classes = np.unique(answers)
    if len(classes) == 1:
        yield Tree.constant(space, classes[0].item())
        return
    model = STreeDClassifier(max_depth=4)
    model.fit(inputs.astype(np.int32), answers.astype(np.int32))
    nodes: list[tuple[int, int, int] | int] = []

    def copy(node: Any) -> int:
        place = len(nodes)
        nodes.append(0)
        if node.is_leaf_node():
            nodes[place] = int(np.searchsorted(classes, int(node.label)))
        else:
            no = copy(node.left_child)
            nodes[place] = (int(node.feature), no, copy(node.right_child))
        return place

    copy(model.get_tree())
    tree = Tree.build(space, nodes, classes)
    if not np.array_equal(tree.predict(inputs), model.predict(inputs.astype(np.int32))):
        raise RuntimeError("a tree copied from pystreed must answer as it does")
    yield merged(tree, space)
