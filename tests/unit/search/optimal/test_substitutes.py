"""Fewer leaves for nearly the same function, without a query; and what prefer="leaves" makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.events import Event
from fidelitree.search.optimal.substitutes import Prunings, SmallestSubstitutes
from mixed import MIXED, mixed_tree

SPACE = ft.ProductSpace.bernoulli(11)
TARGET = ft.targets.multiplexer(3)
TREE = ft.build_top_down(TARGET, SPACE, 0).tree


def test_it_is_never_worse_than_the_prunings_and_says_the_truth() -> None:
    found = SmallestSubstitutes(TREE, SPACE, [])
    own = Prunings(TREE, SPACE).disagreements
    assert (found.disagreements[: len(own)] <= own + 1e-12).all()
    for leaves in (1, 2, 5, 14, 16, 40):
        tree = found.with_leaves(leaves)
        lost = found.disagreements[: min(leaves, len(found.disagreements))][-1]
        assert tree.size <= leaves
        assert ft.tree_error(tree, TARGET, SPACE) == pytest.approx(lost, abs=1e-12)


def test_it_finds_what_no_pruning_has() -> None:
    """A tree that asks a useless question first: its prunings keep it, the dynamic program does not."""
    space = ft.ProductSpace.bernoulli(3)
    nodes = [(2, 1, 4), (0, 2, 3), 0, 1, (0, 5, 6), 0, 1]
    tree = ft.Tree.build(space, nodes, [0, 1])
    assert Prunings(tree, space).disagreements.tolist() == [0.5, 0.5, 0.25, 0.0]
    found = SmallestSubstitutes(tree, space, [])
    assert found.disagreements[1] == 0
    assert found.with_leaves(2).size == 2


def test_where_not_all_features_are_bits_prunings_remain() -> None:
    tree = mixed_tree(MIXED, np.random.default_rng(2), [0, 1, 2], 0.9)
    found, own = SmallestSubstitutes(tree, MIXED, []), Prunings(tree, MIXED)
    assert np.array_equal(found.disagreements, own.disagreements)
    assert found.with_leaves(3) == own.with_leaves(3)


def test_where_too_many_features_matter_prunings_remain() -> None:
    found = SmallestSubstitutes(TREE, SPACE, [TREE], room=10)
    assert np.array_equal(found.disagreements, Prunings(TREE, SPACE).disagreements)
    assert found.with_leaves(16).size == 16


def test_a_constant_has_nothing_to_shrink() -> None:
    found = SmallestSubstitutes(ft.Tree.constant(SPACE, 1), SPACE, [])
    assert found.disagreements.tolist() == [0.0]
    assert found.with_leaves(1).size == 1


def test_preferring_leaves_buys_fewer_leaves_with_more_queries() -> None:
    """Where some leaves are worth little; of a multiplexer's each is worth a sixteenth."""
    space = ft.ProductSpace.bernoulli(20, 0.3)
    leaves = {"queries": 0, "leaves": 0}
    for seed in range(6):
        target = ft.targets.balanced(space, 4, seed)
        certified: list[int] = []

        def watch(event: Event, seen: list[int] = certified) -> None:
            if getattr(event, "error_bound", 1) <= 0.1:
                seen.append(event.asked)

        cheap = ft.distill(target, space, 0.1, 0.05, seed=seed)
        few = ft.distill(target, space, 0.1, 0.05, seed=seed, prefer="leaves", observer=watch)
        found = {"queries": cheap, "leaves": few}
        assert few.tree.size <= cheap.tree.size
        assert few.queries.asked <= 10 * certified[0], "of the labels of its first certificate"
        assert few.certificate.holds
        assert ft.tree_error(few.tree, target, space) <= 0.1
        leaves = {how: total + found[how].tree.size for how, total in leaves.items()}
    assert leaves["leaves"] < leaves["queries"]


def test_a_small_space_is_asked_completely_for_fewer_leaves() -> None:
    target, space = ft.targets.tribes(3, 3), ft.ProductSpace.bernoulli(9)
    results = [ft.distill(target, space, 0.1, 0.05, seed=seed, prefer="leaves") for seed in range(3)]
    assert any(result.certificate.method == "exact" for result in results)
    assert {result.tree.size for result in results} == {13}
    assert all(result.queries.asked <= 512 for result in results)


def test_the_budget_bounds_the_search_for_fewer_leaves() -> None:
    result = ft.distill(TARGET, SPACE, 0.1, 0.05, seed=0, prefer="leaves", max_queries=400)
    assert result.queries.asked <= 400
    assert result.certificate.holds
    with pytest.raises(ft.ParameterError, match="prefer must be one of queries, leaves, rounds; got 'speed'"):
        ft.distill(TARGET, SPACE, prefer="speed")
