"""The paper's two random families have the shape that the paper gives them."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.targets import balanced, chain
from small import paths

SEEDS = range(20)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_balanced_trees_are_complete_with_distinct_features_on_every_path(depth: int) -> None:
    space = ft.ProductSpace.bernoulli(6)
    for seed in SEEDS:
        tree = balanced(space, depth, seed)
        assert (tree.size, tree.depth) == (2**depth, depth)
        assert all(len(path) == len(set(path)) == depth for path in paths(tree))


def test_sibling_leaves_of_a_balanced_tree_have_opposite_labels() -> None:
    for seed in SEEDS:
        tree = balanced(ft.ProductSpace.bernoulli(6), 3, seed)
        for node in np.flatnonzero(tree.feature >= 0):
            no, yes = tree.code[tree.no[node]], tree.code[tree.yes[node]]
            assert no < 0 or {no, yes} == {0, 1}
        assert tree.labels.tolist() == [0, 1]


def test_chains_are_paths_over_a_permutation() -> None:
    space = ft.ProductSpace.bernoulli(9)
    for seed in SEEDS:
        tree = chain(space, 8, seed)
        longest = max(paths(tree), key=len)
        assert (tree.size, tree.depth) == (8, 7)
        assert len(set(longest)) == 7
        assert sorted(len(path) for path in paths(tree)) == [1, 2, 3, 4, 5, 6, 7, 7]


def test_labels_alternate_along_a_chain_and_the_last_two_differ() -> None:
    for seed in SEEDS:
        tree = chain(ft.ProductSpace.bernoulli(9), 8, seed)
        node, labels = 0, []
        while tree.feature[node] >= 0:
            sides = sorted((int(tree.no[node]), int(tree.yes[node])), key=lambda child: tree.feature[child] >= 0)
            labels.append(int(tree.code[sides[0]]))
            node = sides[1]
        labels.append(int(tree.code[node]))
        assert labels[:6] in ([0, 1] * 3, [1, 0] * 3)
        assert set(labels[6:]) == {0, 1}


@pytest.mark.parametrize("exits", [0, 1])
def test_a_chain_exits_where_it_is_told(exits: int) -> None:
    """Features and labels are those of the chain with coins."""
    space = ft.ProductSpace.bernoulli(9)
    for seed in SEEDS:
        tree, coins = chain(space, 8, seed, exits), chain(space, 8, seed)
        inner = np.flatnonzero(tree.feature >= 0)
        ends = (tree.yes if exits else tree.no)[inner]
        assert (tree.feature[ends] < 0).all()
        assert tree.feature[inner].tolist() == coins.feature[coins.feature >= 0].tolist()
        assert tree.depth == 7


def test_every_choice_is_made_both_ways() -> None:
    """Which feature, which side exits, which label comes first: 60 trees show all of them."""
    space = ft.ProductSpace.bernoulli(4)
    chains = [chain(space, 4, seed) for seed in range(60)]
    complete = [balanced(space, 2, seed) for seed in range(60)]
    for trees in (chains, complete):
        assert {int(tree.feature[0]) for tree in trees} == {0, 1, 2, 3}
        assert {int(tree.code[np.flatnonzero(tree.code >= 0)[0]]) for tree in trees} == {0, 1}
    assert {bool(tree.feature[tree.no[0]] < 0) for tree in chains} == {False, True}


@pytest.mark.parametrize(("n", "leaves"), [(1, 2), (2, 3), (3, 4)])
def test_a_small_space_allows_as_many_leaves_as_it_has_features(n: int, leaves: int) -> None:
    space = ft.ProductSpace.bernoulli(n)
    assert chain(space, 100).size == leaves
    assert balanced(space, 100).size == 2**n


def test_one_leaf_is_a_constant() -> None:
    space = ft.ProductSpace.bernoulli(3)
    assert chain(space, 1).size == balanced(space, 0).size == 1


def test_the_seed_decides_and_nothing_else() -> None:
    space, biased = ft.ProductSpace.bernoulli(20), ft.ProductSpace.bernoulli(20, 0.1)
    for family in (balanced, chain):
        assert family(space, 4, 3) == family(space, 4, 3) == family(biased, 4, 3)
        assert len({family(space, 4, seed).digest for seed in SEEDS}) == 20


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda space: balanced(space, -1), "depth must be at least 0; got -1"),
        (lambda space: chain(space, 0), "leaves must be at least 1; got 0"),
        (lambda space: chain(space, 4, -1), "seed must be at least 0; got -1"),
        (
            lambda space: chain(space, 4, exits=2),
            "exits must be 0, 1 or None, which lets a coin decide at each node; got 2",
        ),
    ],
)
def test_bad_arguments_are_refused(call: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        call(ft.ProductSpace.bernoulli(3))
    assert str(caught.value) == message


def test_without_a_seed_every_call_draws_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.spaces.draw.fresh_seed", count(1).__next__)
    space = ft.ProductSpace.bernoulli(30)
    assert len({balanced(space, 4).digest for _ in range(3)}) == 3
    assert len({chain(space, 8).digest for _ in range(3)}) == 3
    assert balanced(space, 4, seed=1) == balanced(space, 4, seed=1)
