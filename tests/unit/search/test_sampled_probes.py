"""Pairs: how many are drawn, what they cost, what a leaf's score is made of."""

from __future__ import annotations

import math

import numpy as np

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.search.sampled_probes import FreshPairs, ReusedPairs, Shelf
from fidelitree.spaces.draw import Stream, block_rows, draw, redraw
from fidelitree.spaces.features import IsOne
from fidelitree.spaces.region import Region
from fidelitree.trees.growing import GrowingTree
from small import Bits

SPACE = ft.ProductSpace.bernoulli(3, [0.5, 0.3, 0.8])
GROW = Stream.named(2, "grow")
WHOLE = SPACE.whole


def target(batch: Bits) -> np.ndarray:
    return batch[:, 0] & (batch[:, 1] ^ batch[:, 2])


def changed(region: Region, stream: Stream, rows: int, i: int, leaf: Region) -> int:
    """By hand: pairs of one block that change label, both inputs inside the leaf."""
    before = draw(region, stream, 0, rows).T
    after = before.copy()
    after[:, i] = redraw(region, stream, 0, rows, i)
    inside = np.ones(rows, bool)
    for feature, value in leaf.restrictions.items():
        inside &= (before[:, feature] == value) & (after[:, feature] == value)
    return int(((target(before) != target(after)) & inside).sum())


def test_reused_pairs_count_for_the_leaf_that_both_inputs_reach() -> None:
    """Divided by all pairs of the feature, wherever they fell."""
    probe = ReusedPairs(Counted(target, SPACE), GROW, lambda j: 1000, Shelf())
    bare = GrowingTree(SPACE)
    probe.look(bare, list(bare.leaves.values()))
    for number, feature in ((0, 0), (2, 2)):
        evidence = probe.look(bare, list(bare.split(number, IsOne(feature))))
        assert evidence.keys() == bare.leaves.keys()
        for leaf in bare.leaves.values():
            for i in leaf.region.free():
                expected = changed(WHOLE, GROW.child("pairs", i), 1000, i, leaf.region) / 1000
                assert evidence[leaf.number].scores[i] == expected


def test_reused_pairs_cost_two_queries_for_each_feature() -> None:
    counted = Counted(target, SPACE)
    probe = ReusedPairs(counted, GROW, lambda j: 100 * j, Shelf())
    bare = GrowingTree(SPACE)
    probe.look(bare, list(bare.leaves.values()))
    assert counted.asked == 100 * 2 * 3
    probe.look(bare, list(bare.split(0, IsOne(1))))
    assert counted.asked == 200 * 2 * 3
    assert list(counted.queries.asked.keys()) == ["grow"]


def test_fresh_pairs_are_drawn_inside_the_leaf_from_a_stream_of_its_own() -> None:
    probe = FreshPairs(Counted(target, SPACE), GROW, lambda j: 1000)
    bare = GrowingTree(SPACE)
    probe.look(bare, list(bare.leaves.values()))
    no, yes = bare.split(0, IsOne(2))
    evidence = probe.look(bare, [no, yes])
    for leaf in (no, yes):
        pairs = math.ceil(leaf.region.mass * 1000)
        for i in (0, 1):
            hits = changed(leaf.region, GROW.child("leaf", leaf.number), pairs, i, leaf.region)
            assert evidence[leaf.number].scores[i] == leaf.region.mass * hits / pairs


def test_fresh_pairs_share_one_input_among_all_free_features() -> None:
    counted = Counted(target, SPACE)
    probe = FreshPairs(counted, GROW, lambda j: 1000)
    bare = GrowingTree(SPACE)
    probe.look(bare, list(bare.leaves.values()))
    assert counted.asked == 1000 * (3 + 1)
    probe.look(bare, list(bare.split(0, IsOne(2))))
    assert counted.asked == 4000 + (math.ceil(0.8 * 1000) + math.ceil((1 - 0.8) * 1000)) * (2 + 1)


def test_old_leaves_are_topped_up_to_what_the_larger_tree_needs() -> None:
    counted = Counted(target, SPACE)
    probe = FreshPairs(counted, GROW, lambda j: 1000 * j)
    bare = GrowingTree(SPACE)
    probe.look(bare, list(bare.leaves.values()))
    probe.look(bare, list(bare.split(0, IsOne(0))))
    before = counted.asked
    probe.look(bare, list(bare.split(2, IsOne(2))))  # leaf 1, of mass 1/2, keeps its 1000 pairs and gets 500 more
    new_leaves = math.ceil(0.4 * 3000) + math.ceil(bare.leaves[3].region.mass * 3000)
    assert counted.asked - before == 500 * 3 + new_leaves * 2


def test_a_leaf_without_mass_is_not_asked_about() -> None:
    space = ft.ProductSpace.bernoulli(2, [0.0, 0.5])
    counted = Counted(lambda batch: batch[:, 1], space)
    probe = FreshPairs(counted, GROW, lambda j: 100)
    bare = GrowingTree(space)
    probe.look(bare, list(bare.leaves.values()))
    before = counted.asked
    evidence = probe.look(bare, list(bare.split(0, IsOne(0))))
    assert counted.asked - before == 100 * 2, "all of them on the other side"
    assert evidence[2].scores.tolist() == [0, 0]


def test_large_leaves_come_in_blocks_and_batches_are_bounded() -> None:
    """Memory does not grow with the number of pairs."""
    space, received = ft.ProductSpace.bernoulli(40), []

    def watch(batch: Bits) -> np.ndarray:
        received.append(batch.shape)
        return batch[:, 0]

    counted = Counted(watch, space)
    FreshPairs(counted, GROW, lambda j: block_rows(40) + 5).look(bare := GrowingTree(space), list(bare.leaves.values()))
    assert counted.asked == (block_rows(40) + 5) * 41
    assert max(rows for rows, _ in received) <= 1 << 16
    assert len(received) > 30
