"""The paper's two random families of targets."""

from __future__ import annotations

import numpy as np

from fidelitree.errors import ParameterError, check_count, show
from fidelitree.spaces.draw import Stream, seed_of
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.product import ProductSpace, check_space
from fidelitree.trees.nested import Nested, build
from fidelitree.trees.tree import Tree


def balanced(space: ProductSpace, depth: int, seed: int | None = None) -> Tree:
    """A complete tree: distinct features drawn at random on every path, sibling leaves of opposite labels.

    Where the space has fewer features than ``depth``, the tree is as deep as they allow. Without a seed every call
    draws another tree.
    """
    check_space(space)
    depth = min(check_count("depth", depth, least=0), len(space))
    random = _random(seed, "balanced")

    def below(level: int, path: frozenset[int], label: int) -> Nested:
        if level == depth:
            return label
        free = [i for i in range(len(space)) if i not in path]
        feature = free[random.integers(len(free))]
        first = int(random.integers(2))
        no, yes = (below(level + 1, path | {feature}, first ^ side) for side in (0, 1))
        return IsOne(feature), no, yes

    return build(space, below(0, frozenset(), 0), [0, 1] if depth else [0])


def chain(space: ProductSpace, leaves: int, seed: int | None = None, exits: int | None = None) -> Tree:
    """A path: features in random order, every node exits where its bit is ``exits``, labels alternate.

    Without ``exits`` a fair coin decides at each node; without a seed every call draws another path. The last two
    leaves have different labels. A path over n features has at most n + 1 leaves.
    """
    check_space(space)
    leaves = min(check_count("leaves", leaves), len(space) + 1)
    if exits is not None and not (type(exits) is int and exits in (0, 1)):
        raise ParameterError(f"exits must be 0, 1 or None, which lets a coin decide at each node; got {show(exits)}")
    random = _random(seed, "chain")
    order = random.permutation(len(space))[: leaves - 1]
    first = int(random.integers(2))
    nodes: list[tuple[int, int, int] | int] = []
    for step, feature in enumerate(order):
        exit_at, go_on = 2 * step + 1, 2 * step + 2
        low = bool(random.integers(2)) if exits is None else not exits
        sides = (exit_at, go_on) if low else (go_on, exit_at)
        nodes += [(int(feature), *sides), first ^ (step % 2)]
    nodes.append(first ^ (len(order) % 2))
    return Tree.build(space, nodes, [0, 1]) if len(order) else Tree.constant(space, 0)


def _random(seed: int | None, family: str) -> np.random.Generator:
    return np.random.Generator(Stream.named(seed_of(seed), "target").child(family).lane(0, 0))
