"""Drawing: the same block is the same bits, different streams are different bits, and shares are the marginals.

Shares are compared with the exact binomial tail. ALARM is the chance of a false alarm for one share, were the seed
new; all shares of this file together (fewer than 2000) stay below one in a million.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
from chances import plausible
from fidelitree.spaces.draw import Stream, draw, draw_feature, redraw
from fidelitree.spaces.region import Region
from small import spaces

ALARM = 4e-10
ROWS = 20_000


def fits(hits: int, rows: int, p: float) -> bool:
    return plausible(hits, rows, p, ALARM)


seeds = st.integers(0, 2**64)
blocks = st.integers(0, 2**40)


@given(spaces(), seeds, blocks, st.integers(0, 300))
def test_drawing_a_block_again_gives_the_same_bits(space: ft.ProductSpace, seed: int, block: int, rows: int) -> None:
    region, stream = space.whole, Stream.named(seed, "grow")
    drawn = draw(region, stream, block, rows)
    draw(region, stream, block + 1, 77)
    assert np.array_equal(draw(region, Stream.named(seed, "grow"), block, rows), drawn)
    for i in reversed(range(len(space))):
        assert np.array_equal(draw_feature(region, stream, block, rows, i), drawn[i])


def test_streams_of_different_seeds_purposes_leaves_and_blocks_differ() -> None:
    """256 fair bits each: two equal ones among these by chance have probability below 1e-70."""
    region = ft.ProductSpace.bernoulli(4).whole
    streams = [Stream.named(seed, purpose) for seed in range(5) for purpose in ("grow", "label", "certify", "analyze")]
    streams += [Stream.named(0, "grow").child(kind, number) for kind in ("leaf", "pairs") for number in range(200)]
    drawn = {draw(region, stream, block, 64).tobytes() for stream in streams for block in range(3)}
    assert len(drawn) == 3 * len(streams)


@pytest.mark.parametrize("p", [0.0, 1.0, 0.5, 0.3, 0.1, 1 / 256, 1e-3, 0.999, 2 / 3])
def test_a_feature_has_its_marginal(p: float) -> None:
    space = ft.ProductSpace.bernoulli(3, p)
    region = space.whole
    for seed, i in itertools.product(range(5), range(3)):
        stream = Stream.named(seed, "grow")
        for column in (draw_feature(region, stream, 0, ROWS, i), redraw(region, stream, 0, ROWS, i)):
            assert fits(int(column.sum()), ROWS, p)


def test_inside_a_region_the_free_features_keep_their_marginals_and_are_independent() -> None:
    biases = [0.5, 0.3, 0.9, 0.2]
    space = ft.ProductSpace.bernoulli(4, biases)
    for given_values in ({}, {"x0": 1}, {"x1": 1, "x3": 0}):
        region = Region.of(space, given_values)
        rows = draw(region, Stream.named(1, "certify"), 0, ROWS)
        for point in itertools.product((0, 1), repeat=4):
            chance = np.prod(
                [biases[i] if value else 1 - biases[i] for i, value in enumerate(point) if i in region.free()]
            )
            possible = all(point[i] == value for i, value in region.restrictions.items())
            hits = int(np.all(rows == np.array(point, np.uint8)[:, None], axis=0).sum())
            assert fits(hits, ROWS, float(chance) if possible else 0.0)


def test_a_redrawn_value_is_independent_of_the_first() -> None:
    space = ft.ProductSpace.bernoulli(3, [0.5, 0.3, 0.8])
    region, stream = space.whole, Stream.named(2, "grow")
    for i, p in enumerate(space.biases.tolist()):
        first, second = draw_feature(region, stream, 0, ROWS, i), redraw(region, stream, 0, ROWS, i)
        for one, two in itertools.product((0, 1), repeat=2):
            chance = (p if one else 1 - p) * (p if two else 1 - p)
            assert fits(int(((first == one) & (second == two)).sum()), ROWS, chance)


def test_neighbouring_rows_blocks_and_lanes_are_independent() -> None:
    space = ft.ProductSpace.bernoulli(2)
    region, stream = space.whole, Stream.named(3, "grow")
    block, after = (draw(region, stream, number, ROWS) for number in (0, 1))
    pairs = [(block[0][:-1], block[0][1:]), (block[0], after[0]), (block[0], block[1]), (block[0][:-8], block[0][8:])]
    for one, two in pairs:
        assert fits(int((one == two).sum()), len(one), 0.5)


def test_a_wrong_marginal_or_a_lane_used_twice_would_be_seen() -> None:
    """The checks above with a fault planted."""
    region, stream = ft.ProductSpace.bernoulli(1, 0.3).whole, Stream.named(4, "grow")
    first, second = draw_feature(region, stream, 0, ROWS, 0), redraw(region, stream, 0, ROWS, 0)
    assert fits(int(first.sum()), ROWS, 0.3)
    assert not fits(int(first.sum()), ROWS, 0.33)
    same_lane = draw_feature(region, stream, 0, ROWS, 0)
    assert fits(int((first & second).sum()), ROWS, 0.09)
    assert not fits(int((first & same_lane).sum()), ROWS, 0.09)
