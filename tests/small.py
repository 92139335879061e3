"""Small spaces, targets and trees for many tests, and the slow ways to look at them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import fidelitree as ft
from fidelitree.spaces.features import IsOne
from fidelitree.trees.nested import Nested
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable

Bits = NDArray[np.uint8]
Node = tuple[int, int, int] | int


def cube(n: int) -> Bits:
    """All inputs of n bits in truth-table order: bit i of the row's number is feature i."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(np.uint8)


def bits_asked(tree: Any) -> Nested:
    """A nested tree whose tests are given as the features of bits."""
    return (IsOne(tree[0]), bits_asked(tree[1]), bits_asked(tree[2])) if isinstance(tree, tuple) else tree


def weights(space: ft.ProductSpace) -> NDArray[np.float64]:
    """Probability of every row of the cube."""
    return np.where(cube(len(space)), space.biases, 1 - space.biases).prod(axis=1)


def true_error(tree: Callable[[Any], Any], target: Callable[[Any], Any], space: ft.ProductSpace) -> float:
    """Probability that they differ, by looking at every input."""
    rows = cube(len(space))
    return float(weights(space)[np.asarray(tree(rows)) != np.asarray(target(rows))].sum())


def walk(tree: Tree, row: Bits) -> Any:
    """The label of one input, from the root down."""
    node = 0
    while tree.feature[node] >= 0:
        node = tree.yes[node] if row[tree.feature[node]] else tree.no[node]
    return tree.labels[tree.code[node]]


def random_tree(space: ft.ProductSpace, rng: np.random.Generator, labels: list[Any], grow: float = 0.8) -> Tree:
    """A tree of random shape; no path asks about a feature twice."""
    nodes: list[Node] = []

    def below(path: tuple[int, ...]) -> int:
        position = len(nodes)
        nodes.append(int(rng.integers(len(labels))))
        free = [i for i in range(len(space)) if i not in path]
        if free and rng.random() < grow:
            feature = int(rng.choice(free))
            nodes[position] = (feature, below((*path, feature)), below((*path, feature)))
        return position

    below(())
    return Tree.build(space, nodes, labels)


def paths(tree: Tree) -> list[list[int]]:
    """The features on the way to every leaf."""
    found, waiting = [], [(0, [])]
    while waiting:
        node, path = waiting.pop()
        if tree.feature[node] < 0:
            found.append(path)
        else:
            below = [*path, int(tree.feature[node])]
            waiting += [(int(tree.yes[node]), below), (int(tree.no[node]), below)]
    return found


def seen_by(events: list[Any]) -> list[str]:
    """The kinds of event an observer saw, in order."""
    return [type(event).__name__ for event in events]


LABEL_SETS: list[list[Any]] = [[0, 1], [False, True], ["no", "yes"], [-5, 0, 7], ["a", "b", "c", "d"]]

biases = st.sampled_from([0.0, 1.0, 0.5, 0.1, 0.3, 0.999]) | st.floats(0, 1)


@st.composite
def spaces(draw: st.DrawFn, most: int = 5) -> ft.ProductSpace:
    """Up to ``most`` bits, with certain and extreme biases among them."""
    return ft.ProductSpace.bernoulli(n := draw(st.integers(1, most)), draw(st.lists(biases, min_size=n, max_size=n)))


@st.composite
def trees(draw: st.DrawFn, space: ft.ProductSpace) -> Tree:
    """Trees of any shape over a space, with any kind of labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_tree(space, rng, draw(st.sampled_from(LABEL_SETS)), draw(st.floats(0.3, 1)))


def assignments(n: int) -> list[tuple[int | None, ...]]:
    """Every region of n bits, as `reference` writes it."""
    return list(itertools.product((0, 1, None), repeat=n))
