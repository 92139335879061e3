"""Diagrams: every function once, and what is remembered about it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.exact import diagram as module
from fidelitree.exact.build import build_diagram
from fidelitree.exact.diagram import Diagram, DiagramSubfunction
from fidelitree.spaces.features import IsOne
from fidelitree.targets.circuits import expression


def conjunction(n: int, p: float) -> tuple[Diagram, int]:
    diagram = Diagram(ft.ProductSpace.bernoulli(n, p), range(n))
    root = 1
    for level in reversed(range(n)):
        root = diagram.node(level, 0, root)
    return diagram, root


def test_equal_functions_are_one_node() -> None:
    diagram = Diagram(ft.ProductSpace.bernoulli(3), [2, 0, 1])
    lower = diagram.node(2, 0, 1)
    assert diagram.node(2, 0, 1) == lower
    assert diagram.node(1, lower, lower) == lower
    assert diagram.size(diagram.node(0, lower, diagram.node(1, lower, 1))) == 3
    assert diagram.size(1) == 0


def test_a_rare_label_is_not_lost_beside_a_common_one() -> None:
    diagram, root = conjunction(200, 0.5)
    assert diagram.masses(root) == [1.0, 2.0**-200]
    assert diagram.influences(root).tolist() == [2.0**-200] * 200
    opposite = Diagram(ft.ProductSpace.bernoulli(200), range(200))
    top = 0
    for level in reversed(range(200)):
        top = opposite.node(level, 1, top)
    assert opposite.masses(top) == [2.0**-200, 1.0]


@pytest.mark.parametrize("epsilon", [0.0, 0.003, 0.05, 0.2, 0.6])
def test_its_paths_are_a_tree_whose_error_is_known(epsilon: float) -> None:
    circuit = expression("(a & ~b | c & d | e) ^ (f & a) | ~g & h & b")
    space = ft.ProductSpace.bernoulli(8, [0.1, 0.5, 0.3, 0.7, 0.2, 0.5, 0.9, 0.4])
    root = build_diagram(circuit, space)
    found = root.unfolded(space, epsilon, 256)
    assert found is not None
    tree, error = found
    assert error <= epsilon
    assert error == pytest.approx(ft.tree_error(tree, circuit, space), abs=1e-12)
    assert root.unfolded(space, epsilon, tree.size) is not None
    assert tree.size == 1 or root.unfolded(space, epsilon, tree.size - 1) is None


def test_a_restriction_shares_what_lies_below() -> None:
    diagram, root = conjunction(5, 0.3)
    no, yes = diagram.restrict(root, 2)
    assert no == 0
    assert diagram.size(yes) == 4
    assert diagram.masses(yes)[1] == pytest.approx(0.3**4)
    assert diagram.restrict(yes, 2) == (yes, yes)


def test_a_feature_outside_the_order_changes_nothing() -> None:
    space = ft.ProductSpace.bernoulli(3, 0.2)
    diagram = Diagram(space, [1])
    root = diagram.node(0, 0, 1)
    assert diagram.restrict(root, 2) == (root, root)
    assert diagram.influences(root) == pytest.approx([0, 0.32, 0])


def test_majority_of_301_has_the_influence_of_its_binomial() -> None:
    """Nodes of a symmetric function: a bit matters iff half of the others are 1."""
    n = 301
    diagram = Diagram(ft.ProductSpace.bernoulli(n), range(n))
    row = [int(ones > n // 2) for ones in range(n + 1)]
    for level in reversed(range(n)):
        row = [diagram.node(level, row[ones], row[ones + 1]) for ones in range(level + 1)]
    pivotal = math.comb(n - 1, n // 2) / 2 ** (n - 1)
    assert diagram.influences(row[0]) == pytest.approx([0.5 * pivotal] * n, rel=1e-12)
    assert diagram.masses(row[0])[1] == pytest.approx(0.5, rel=1e-12)


def test_forgotten_pairs_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = rng.integers(0, 2, 64).tolist()
    space = ft.ProductSpace.bernoulli(6, rng.random(6))

    def influences() -> tuple[list[list[float]], int]:
        diagram, row = Diagram(space, range(6)[::-1]), table
        for i in range(6):
            row = [diagram.node(5 - i, no, yes) for no, yes in zip(row[::2], row[1::2], strict=True)]
        whole = DiagramSubfunction(diagram, row[0], [0, 1])
        whole.influences()
        pairs = len(diagram._apart)
        return [part.influences().tolist() for part in (*whole.split(IsOne(4)), *whole.split(IsOne(2)), whole)], pairs

    remembered, pairs = influences()
    monkeypatch.setattr(module, "PAIR_LIMIT", pairs)
    assert influences() == (remembered, pairs)
