"""Streams, lanes, blocks and pairs."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.spaces.draw import Stream, block_rows, draw, draw_feature, fresh_seed, paired, redraw
from fidelitree.spaces.region import Region

SPACE = ft.ProductSpace.bernoulli(5, [0.5, 0.3, 0.1, 0.9, 0.5])
WHOLE = SPACE.whole


def test_a_stream_is_its_name() -> None:
    grow = Stream.named(0, "grow")
    assert grow == Stream.named(0, "grow")
    assert grow.child("leaf", 3).name == "0/grow/leaf/3"
    assert grow.child("leaf", 3) == grow.child("leaf").child("3")


@pytest.mark.parametrize(
    ("seed", "message"),
    [
        (-1, "seed must be at least 0; got -1"),
        (0.5, "seed must be a whole number; got 0.5"),
        (None, "seed must be a whole number; got None"),
        (True, "seed must be a whole number; got True"),
    ],
)
def test_bad_seeds_are_refused(seed: object, message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        Stream.named(seed, "grow")
    assert str(caught.value) == message


def test_a_seed_may_be_zero_or_larger_than_any_word() -> None:
    drawn = {seed: draw(WHOLE, Stream.named(seed, "grow"), 0, 64).tobytes() for seed in (0, 2**53, 2**200)}
    assert len(set(drawn.values())) == 3


def test_fresh_seeds_differ_and_fit_into_json() -> None:
    seeds = {fresh_seed() for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_a_lane_does_not_depend_on_what_was_drawn_before() -> None:
    stream = Stream.named(7, "grow")
    first = stream.lane(3, 1).random_raw(10)
    stream.lane(0, 0).random_raw(5)
    assert np.array_equal(stream.lane(3, 1).random_raw(10), first)


def test_lanes_and_blocks_share_no_random_word() -> None:
    stream = Stream.named(7, "grow")
    words = [stream.lane(block, lane).random_raw(100) for block in range(5) for lane in range(5)]
    assert len(np.unique(np.concatenate(words))) == 2500


def test_another_thread_draws_the_same() -> None:
    here = draw(WHOLE, Stream.named(1, "grow"), 2, 100)
    there = []
    thread = threading.Thread(target=lambda: there.append(draw(WHOLE, Stream.named(1, "grow"), 2, 100)))
    thread.start()
    thread.join()
    assert np.array_equal(here, there[0])


def test_a_block_is_pinned_for_good() -> None:
    """The same seed gives the same tree within a minor version: these bits may only change with one."""
    drawn = draw(WHOLE, Stream.named(0, "grow"), 0, 24)
    assert ["".join(map(str, row)) for row in drawn] == [
        "110001101111011010111110",
        "101000000000100111111110",
        "011000000001000000010100",
        "111111111111101111111111",
        "000000100010010000100010",
    ]


def test_one_feature_can_be_drawn_alone() -> None:
    stream = Stream.named(0, "label")
    block = draw(WHOLE, stream, 4, 1000)
    for i in range(len(SPACE)):
        assert np.array_equal(draw_feature(WHOLE, stream, 4, 1000, i), block[i])


def test_inside_a_region_the_path_is_overwritten_and_nothing_else() -> None:
    stream = Stream.named(0, "grow")
    region = Region.of(SPACE, {"x1": 1, "x3": 0})
    inside, outside = draw(region, stream, 0, 500), draw(WHOLE, stream, 0, 500)
    assert (inside[1] == 1).all()
    assert (inside[3] == 0).all()
    assert np.array_equal(inside[[0, 2, 4]], outside[[0, 2, 4]])


def test_redrawing_keeps_a_restricted_feature_and_renews_a_free_one() -> None:
    stream = Stream.named(0, "grow")
    region = Region.of(SPACE, {"x1": 1})
    assert (redraw(region, stream, 0, 100, 1) == 1).all()
    again = redraw(region, stream, 0, 1000, 0)
    assert not np.array_equal(again, draw_feature(region, stream, 0, 1000, 0))
    assert np.array_equal(again, redraw(region, stream, 0, 1000, 0))


def test_pairs_differ_in_one_feature_alone() -> None:
    inputs = draw(WHOLE, Stream.named(0, "grow"), 0, 200)
    batches = paired(inputs, 1 - inputs, [4, 1])
    assert batches.shape == (5, 3, 200)
    assert np.array_equal(batches[:, 0], inputs)
    for k, i in ((1, 4), (2, 1)):
        others = [j for j in range(5) if j != i]
        assert np.array_equal(batches[others, k], inputs[others])
        assert np.array_equal(batches[i, k], 1 - inputs[i])


def test_blocks_are_pinned_because_what_is_drawn_depends_on_them() -> None:
    assert [block_rows(features) for features in (1, 64, 100, 2000, 10**6)] == [65_536, 65_536, 41_920, 2048, 64]


@pytest.mark.parametrize("features", [1, 20, 63, 64, 65, 1000, 10**6, 10**9])
def test_blocks_are_whole_words_and_bounded(features: int) -> None:
    rows = block_rows(features)
    assert rows % 64 == 0
    assert 64 <= rows <= 65_536
    assert rows == 64 or rows * features <= 1 << 22
