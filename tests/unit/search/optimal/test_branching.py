"""Branch and bound finds what trying every tree finds, and functions are what is left of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
import reference
from fidelitree.asking.limits import go_on
from fidelitree.exact.build import build_diagram
from fidelitree.search.optimal.branching import Branching, Functions
from fidelitree.search.optimal.lattice import axes_of
from fidelitree.search.optimal.optimum import Optimum
from fidelitree.trees import nested
from small import cube

FAR = 1 << 20


def value(functions: Functions, number: int, row: Any) -> int:
    """Fix all bits, one after the other."""
    for level, feature in enumerate(functions.order):
        number = functions.fixed(number, level, int(row[feature]))
    return number


@pytest.mark.parametrize("seed", range(4))
def test_functions_answer_as_their_table(seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, 3, 32)
    functions, number = Functions.of_table(codes, 3)
    assert [value(functions, number, row) for row in cube(5)] == codes.tolist()
    assert functions.support[number] == 31
    left = functions.fixed(number, 2, 1)
    assert functions.support[left] & 4 == 0
    assert functions.fixed(left, 2, 0) == left
    assert Functions.of_table(np.zeros(8, np.uint8), 2)[1] == 0


def test_functions_of_a_diagram() -> None:
    target = ft.targets.expression("a & b | c & (d ^ e)")
    functions, number = Functions.of_diagram(build_diagram(target, target.space))
    assert [value(functions, number, row) for row in cube(5)] == target(cube(5)).tolist()


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_optimum(seed: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(64) < rng.choice([0.2, 0.6]), rng.integers(0, labels, 64), 0)
    functions, number = Functions.of_table(codes, labels)
    space, branching = ft.ProductSpace.bernoulli(6), Branching(functions, go_on)
    least = branching.search(number, FAR)
    assert least == Optimum(*axes_of(space, codes)).cost
    tree = nested.build(space, branching.nested(number), range(labels))
    assert tree.size == least
    assert tree.predict(cube(6)).tolist() == codes.tolist()
    again = Branching(functions, go_on)
    assert again.search(number, least) is None
    assert again.search(number, least + 1) == least
    assert again.search(number, least) is None


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_what_the_slow_twin_finds(seed: int, labels: int, soak: bool) -> None:
    n = 6 if soak else 5  # the twin takes a minute for six bits
    codes = np.random.default_rng(seed).integers(0, labels, 1 << n)
    functions, number = Functions.of_table(codes, labels)
    points = {tuple(row): int(code) for row, code in zip(cube(n).tolist(), codes, strict=True)}
    least = reference.least_leaves(points, ["boolean"] * n, one_value=False)
    assert Branching(functions, go_on).search(number, FAR) == least


def test_a_constant_has_one_leaf() -> None:
    functions, number = Functions.of_table(np.ones(4, np.uint8), 2)
    branching = Branching(functions, go_on)
    assert branching.search(number, 2) == 1
    assert branching.search(number, 1) is None
    assert branching.nested(number) == 1


def test_the_watch_may_end_it() -> None:
    target = ft.targets.hidden_weighted_bit(7)
    functions, number = Functions.of_table(target(cube(7)), 2)
    looks = iter(range(30))

    def watch() -> None:
        next(looks)

    branching = Branching(functions, watch)
    with pytest.raises(StopIteration):
        branching.search(number, FAR)
    assert branching.nested(number) is None
