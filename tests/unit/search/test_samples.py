"""Growing sets of inputs: counts by leaf follow splits, whether the inputs are held or drawn again."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.search.sampled_probes import SampleSet, Shelf, add, label_planes
from fidelitree.spaces.draw import Stream, block_rows, draw
from fidelitree.spaces.features import IsOne
from fidelitree.trees.growing import GrowingTree
from small import Bits

SPACE = ft.ProductSpace.bernoulli(4, [0.5, 0.3, 0.8, 0.5])
STREAM = Stream.named(1, "label")
SPLITS = [(0, 1), (2, 3), (1, 0)]


def target(batch: Bits) -> np.ndarray:
    return batch[:, 0] + batch[:, 1] + 2 * batch[:, 2]


def sample_set(shelf: Shelf, counted: Counted | None = None) -> tuple[SampleSet, Counted]:
    counted = counted or Counted(target, SPACE)
    return SampleSet(STREAM, label_planes(counted, "label"), shelf), counted


def by_hand(bare: GrowingTree, counted: Counted, blocks: list[int]) -> dict[int, list[int]]:
    """Counts by leaf and label code, from the inputs drawn once more."""
    rows = np.concatenate([draw(SPACE.whole, STREAM, b, size).T for b, size in enumerate(blocks)])
    answers = target(rows)
    found = {}
    for number, leaf in bare.leaves.items():
        inside = np.all([rows[:, i] == value for i, value in leaf.region.restrictions.items()], axis=0)
        inside = np.broadcast_to(inside, len(rows))
        found[number] = [int((answers[inside] == label).sum()) for label in counted.book.seen]
    return found


def as_lists(samples: SampleSet) -> dict[int, list[int]]:
    return {number: counts.tolist() for number, counts in samples.counts.items()}


@pytest.mark.parametrize("room", [0, 600, 10**9])
def test_counts_follow_splits_and_top_ups(room: int) -> None:
    """With no room all blocks are drawn again, with little room some, with much none."""
    bare = GrowingTree(SPACE)
    samples, counted = sample_set(Shelf(room))
    blocks = [1000]
    samples.top_up(1000, bare)
    for step, (number, feature) in enumerate(SPLITS):
        samples.follow(*bare.split(number, IsOne(feature)))
        assert as_lists(samples) == by_hand(bare, counted, blocks)
        samples.top_up(1000 + 300 * (step + 1), bare)
        blocks.append(300)
        assert as_lists(samples) == by_hand(bare, counted, blocks)
    assert samples.size == counted.asked == 1900


def test_nothing_is_drawn_when_the_set_is_large_enough() -> None:
    bare = GrowingTree(SPACE)
    samples, counted = sample_set(Shelf())
    samples.top_up(500, bare)
    samples.top_up(400, bare)
    assert samples.size == counted.asked == 500


def test_large_sets_come_in_blocks() -> None:
    received = []
    counted = Counted(lambda batch: received.append(len(batch)) or target(batch), SPACE)
    samples, _ = sample_set(Shelf(), counted)
    samples.top_up(2 * block_rows(4) + 10, GrowingTree(SPACE))
    assert received == [65_536, 65_536, 10]
    assert int(samples.counts[0].sum()) == 131_082


def test_a_label_that_comes_late_counts_zero_before() -> None:
    counted = Counted(lambda batch: np.full(len(batch), "first" if len(batch) == 10 else "second"), SPACE)
    samples, _ = sample_set(Shelf(), counted)
    bare = GrowingTree(SPACE)
    samples.top_up(10, bare)
    samples.top_up(17, bare)
    assert samples.counts[0].tolist() == [10, 7]
    no, yes = bare.split(0, IsOne(0))
    samples.follow(no, yes)
    assert (samples.counts[1] + samples.counts[2]).tolist() == [10, 7]


def test_the_root_has_no_parent_to_follow() -> None:
    samples, _ = sample_set(Shelf())
    root = GrowingTree(SPACE).leaves[0]
    with pytest.raises(AssertionError, match="the root is nobody's child"):
        samples.follow(root, root)


def test_the_shelf_gives_room_until_it_is_full() -> None:
    shelf = Shelf(100)
    assert [shelf.take(60), shelf.take(60), shelf.take(40), shelf.take(1)] == [True, False, True, False]
    assert shelf.room == 0


def test_what_is_held_fits_the_shelf() -> None:
    """One bit for each value that is held: the rest is drawn again."""
    shelf = Shelf(5000)
    samples, _ = sample_set(shelf)
    bare = GrowingTree(SPACE)
    for total in range(1000, 20_001, 1000):
        samples.top_up(total, bare)
    held = sum(words.nbytes for block in samples._blocks if block.held is not None for words in block.held)
    assert 0 <= shelf.room < 500
    assert 4500 < held <= 5000 + 8 * 4 * 10, "a word may be filled up with at most 8 bytes per feature and block"


@pytest.mark.parametrize(
    ("one", "two", "total"), [([], [], []), ([1, 2], [3], [4, 2]), ([3], [1, 2], [4, 2]), ([5], [-5], [0])]
)
def test_counts_add_plane_by_plane(one: list[int], two: list[int], total: list[int]) -> None:
    left, right = np.array(one, np.int64), np.array(two, np.int64)
    assert add(left, right).tolist() == total
    assert (left.tolist(), right.tolist()) == (one, two), "neither is changed"
