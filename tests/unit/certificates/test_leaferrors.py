"""Leaves by what they get wrong: counts with intervals, and leaves that few inputs reach joined."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.confusion import FEW, leaf_errors
from fidelitree.theory.sequential import interval
from fidelitree.trees.answers import Answers, LeafLabels
from fidelitree.trees.tree import Tree

SPACE = ft.ProductSpace.bernoulli(3)
TREE = Tree.build(SPACE, [(0, 1, 2), (1, 3, 4), (2, 5, 6), 0, 1, 0, 1], ["no", "yes"])


def found_of(reached: list[int], wrong: list[int]) -> LeafLabels:
    """Leaves in the order of their nodes: no, yes, no, yes."""
    right = np.array(reached) - wrong
    shares = np.array([[right[0], wrong[0]], [wrong[1], right[1]], [right[2], wrong[2]], [wrong[3], right[3]]])
    return LeafLabels(("no", "yes"), shares / sum(reached), sum(reached))


def test_counts_come_with_an_interval() -> None:
    entries = leaf_errors(found_of([40, 100, 25, 35], [2, 7, 0, 1]), TREE, 0.04)
    assert [(entry.nodes, entry.wrong, entry.reached) for entry in entries] == [
        ((3,), 7, 100),
        ((2,), 2, 40),
        ((6,), 1, 35),
        ((5,), 0, 25),
    ]
    assert entries[0].share == interval(7, 100, 0.04)
    assert str(entries[0]).startswith("7 of 100 wrong (")


def test_leaves_with_few_tests_are_joined_and_have_no_interval() -> None:
    entries = leaf_errors(found_of([FEW, FEW - 1, 3, 0], [2, 5, 1, 0]), TREE, 0.05)
    assert [entry.nodes for entry in entries] == [(2,), (3, 5)]
    assert entries[-1].share is None
    assert str(entries[-1]) == "6 of 22 wrong, in 2 leaves with fewer than 20 test inputs each"


def test_known_shares_are_not_joined() -> None:
    known = LeafLabels(("no", "yes"), np.array([[0.5, 0], [0.01, 0.09], [0.2, 0.1], [0, 0.1]]))
    entries = leaf_errors(known, TREE, 0.05)
    assert [entry.nodes for entry in entries] == [(5,), (3,), (2,), (6,)]
    assert [str(entry) for entry in entries[:2]] == ["33.3% wrong", "10% wrong"]


def test_a_result_has_them() -> None:
    result = ft.distill(ft.targets.majority(11), ft.ProductSpace.bernoulli(11), 0.01, max_queries=260)
    assert isinstance(result.answers, Answers)
    assert sum(entry.reached for entry in result.leaf_errors) == len(result.answers)
    assert sum(entry.wrong for entry in result.leaf_errors) == pytest.approx(result.certificate.errors)
    assert result.certificate.errors
    assert result.leaf_errors == result.contents.leaf_errors
