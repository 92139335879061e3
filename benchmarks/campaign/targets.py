"""Targets of the campaign: textbook, random, and built to be certified wrongly.

All of them are functions of a few bits, so that the true error of any tree is a sum over a table. The space has more
bits than are asked about, so that certificates come from draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft

Bits = NDArray[np.uint8]
N = 14


@cache
def cube() -> Bits:
    """Every input."""
    return ((np.arange(1 << N)[:, None] >> np.arange(N)) & 1).astype(np.uint8)


@dataclass(frozen=True)
class Case:
    """A target as the list of its labels, the space of its inputs, and a predictor that nearly agrees with it."""

    family: str
    labels: NDArray[np.intp]
    space: ft.ProductSpace
    rival: NDArray[np.intp]

    def __call__(self, bits: Any) -> NDArray[np.intp]:
        return self.labels[places(bits)]

    def error(self, predicted: NDArray[Any]) -> float:
        """The true error of predictions for the cube: among inputs that are answered, where some are deferred."""
        weights, own = self.weights(), np.asarray(predicted != ft.DEFER)
        wrong = float(weights[own & (predicted != self.labels)].sum())
        return wrong if own.all() else wrong / max(float(weights[own].sum()), 1e-300)

    def coverage(self, predicted: NDArray[Any]) -> float:
        """The share of inputs that are answered."""
        return float(self.weights()[np.asarray(predicted != ft.DEFER)].sum())

    def weights(self) -> NDArray[np.float64]:
        """The probability of every input."""
        return np.where(cube(), self.space.biases, 1 - self.space.biases).prod(axis=1)


def places(bits: Any) -> NDArray[np.intp]:
    """Where inputs stand in the cube."""
    return np.asarray(bits, np.intp) @ (1 << np.arange(N))


def case(family: str, epsilon: float, seed: int) -> Case:
    """Number ``seed`` of a family."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    p = rng.uniform(0.2, 0.8, N) if seed % 2 else np.full(N, 0.5)
    space = ft.ProductSpace.bernoulli(N, p)
    labels, rival = _MAKERS[family](space, epsilon, rng)
    return Case(family, labels.astype(np.intp), space, rival.astype(np.intp))


Maker = Callable[[ft.ProductSpace, float, np.random.Generator], tuple[NDArray[Any], NDArray[Any]]]


def _spoiled(labels: NDArray[Any], mass: float, space: ft.ProductSpace, rng: np.random.Generator) -> NDArray[Any]:
    """The labels, flipped on inputs without any pattern whose mass is just above the one given."""
    chances = np.where(cube(), space.biases, 1 - space.biases).prod(axis=1)
    order = rng.permutation(len(labels))
    flipped = order[: int(np.searchsorted(np.cumsum(chances[order]), mass)) + 1]
    found = labels.copy()
    found[flipped] = 1 - found[flipped]
    return found


def _textbook(space: ft.ProductSpace, epsilon: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    few = rng.permutation(N)
    functions: list[tuple[Any, int]] = [
        (ft.targets.majority(5), 5),
        (ft.targets.tribes(2, 4), 8),
        (ft.targets.multiplexer(2), 6),
        (ft.targets.parity(3), 3),
        (ft.targets.nand_tree(3), 8),
        (ft.targets.hidden_weighted_bit(6), 6),
    ]
    function, n = functions[int(rng.integers(len(functions)))]
    labels = np.asarray(function(np.ascontiguousarray(cube()[:, few[:n]]))).astype(np.intp)
    return labels, _spoiled(labels, 1.02 * epsilon, space, rng)


def _random(space: ft.ProductSpace, epsilon: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    labels = np.asarray(ft.targets.balanced(space, 4, int(rng.integers(2**31))).predict(cube())).astype(np.intp)
    return labels, _spoiled(labels, 1.02 * epsilon, space, rng)


def _edge(space: ft.ProductSpace, epsilon: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """A small tree but for inputs without a pattern: the best candidate sits just above epsilon."""
    tree = np.asarray(ft.targets.balanced(space, int(rng.integers(1, 4)), int(rng.integers(2**31))).predict(cube()))
    return _spoiled(tree, 1.03 * epsilon, space, rng), tree


def _rare(space: ft.ProductSpace, epsilon: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """A small tree but in a corner of the space that weighs little more than epsilon, where it is a coin."""
    tree = np.asarray(ft.targets.balanced(space, 2, int(rng.integers(2**31))).predict(cube()))
    chances = np.where(cube(), space.biases, 1 - space.biases).prod(axis=1)
    order, inside = rng.permutation(N), np.ones(1 << N, np.bool_)
    for i in order:
        smaller = inside & (cube()[:, i] == int(rng.integers(2)))
        if chances[smaller].sum() < 2.4 * epsilon:
            break
        inside = smaller
    coins = rng.integers(0, 2, 1 << N)
    return np.where(inside, coins, tree), tree


def _quiet(space: ft.ProductSpace, epsilon: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Nearly constant: clean answers come early, and tempt into attempts for a constant that errs too often."""
    constant = np.full(1 << N, int(rng.integers(2)))
    return _spoiled(constant, 1.03 * epsilon, space, rng), constant


def _blind(space: ft.ProductSpace, epsilon: float, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """A parity under a condition: no single feature tells anything, which fools whoever splits greedily."""
    some = rng.permutation(N)[:5]
    bits = cube()[:, some].astype(np.intp)
    labels = np.where(bits[:, 0], bits[:, 1:4].sum(axis=1) % 2, bits[:, 4])
    return labels, np.where(bits[:, 0], 0, bits[:, 4])


_MAKERS: dict[str, Maker] = {
    "textbook": _textbook,
    "random": _random,
    "edge": _edge,
    "rare": _rare,
    "quiet": _quiet,
    "blind": _blind,
}
FAMILIES = list(_MAKERS)
