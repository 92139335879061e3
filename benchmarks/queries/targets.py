"""Families of targets as trees, every one a function of a seed, a cell and a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np

from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.tree import Tree

Family = Callable[[ProductSpace, int, np.random.Generator], Tree]
LEAST_CONSTANT_ERROR = 0.2


def generator(seed: int, cell: str, number: int) -> np.random.Generator:
    """Random numbers of their own for every target."""
    return np.random.default_rng([seed, crc32(cell.encode()), number])


def complete(space: ProductSpace, features: Sequence[int], labels: Sequence[int]) -> Tree:
    """A complete tree from its features, level by level, and the labels of its leaves, from left to right."""
    inner = [(int(feature), 2 * node + 1, 2 * node + 2) for node, feature in enumerate(features)]
    return Tree.build(space, [*inner, *map(int, labels)], [0, 1])


def random_features(space: ProductSpace, depth: int, random: np.random.Generator) -> list[int]:
    """Distinct features on every path, any of them with equal probability."""
    features: list[int] = []
    for node in range(2**depth - 1):
        path, above = set(), node
        while above:
            above = (above - 1) // 2
            path.add(features[above])
        feature = int(random.integers(len(space)))
        while feature in path:
            feature = int(random.integers(len(space)))
        features.append(feature)
    return features


def constant_error(tree: Tree, space: ProductSpace) -> float:
    """Error of the better constant."""
    ones = sum(region.mass for node, region in tree.regions(space) if tree.code[node] == 1)
    return float(min(ones, 1 - ones))


def iid(space: ProductSpace, depth: int, random: np.random.Generator) -> Tree:
    """Random labels at the leaves; drawn again until no constant has an error of .2 or less."""
    while True:
        tree = complete(space, random_features(space, depth, random), random.integers(0, 2, 2**depth))
        if constant_error(tree, space) > LEAST_CONSTANT_ERROR:
            return tree


def alt(space: ProductSpace, depth: int, random: np.random.Generator) -> Tree:
    """Sibling leaves of opposite labels."""
    features = random_features(space, depth, random)
    first = random.integers(0, 2, 2 ** (depth - 1))
    return complete(space, features, np.stack([first, 1 - first], axis=1).ravel())


def par(space: ProductSpace, depth: int, random: np.random.Generator) -> Tree:
    """Parity of as many features as the tree is deep."""
    chosen = random.choice(len(space), depth, replace=False)
    features = [chosen[(node + 1).bit_length() - 1] for node in range(2**depth - 1)]
    return complete(space, features, [leaf.bit_count() % 2 for leaf in range(2**depth)])


FAMILIES: dict[str, Family] = {"iid": iid, "alt": alt, "par": par}


def merged(tree: Tree, space: ProductSpace) -> Tree:
    """The same function without splits whose two sides are leaves of one label."""
    nodes: list[tuple[int, int, int] | int] = []

    def copy(node: int) -> int:
        if tree.feature[node] < 0:
            nodes.append(int(tree.code[node]))
            return len(nodes) - 1
        place = len(nodes)
        nodes.append(0)
        no, yes = copy(int(tree.no[node])), copy(int(tree.yes[node]))
        one, other = nodes[no], nodes[yes]
        if isinstance(one, int) and one == other:
            del nodes[place + 1 :]
            nodes[place] = one
        else:
            nodes[place] = (int(tree.feature[node]), no, yes)
        return place

    copy(0)
    return Tree.build(space, nodes, tree.labels)
