"""Inputs whose numbers of ones are spread evenly: the right distribution, less luck, ends that still hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import fidelitree as ft
from chances import plausible
from fidelitree.runs.analysis.stars import can_balance, draw_balanced, trial_level
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.region import Region
from fidelitree.theory.sequential import lower_bound, upper_bound

BIASES = [0.5, 0.3, 0.8, 0.6, 0.05]
SPACE = ft.ProductSpace.bernoulli(5, BIASES)


@pytest.mark.parametrize("given", [None, {"x1": 1, "x4": 0}])
def test_inputs_have_the_distribution_of_the_region(given: dict[str, int] | None) -> None:
    """1e-9 for each of 32 counts; slices make counts vary less than the binomial law allows, never more."""
    region, rows = Region.of(SPACE, given), 40_000
    drawn = draw_balanced(region, Stream.named(2, "test"), 0, rows)
    numbers = (drawn << np.arange(5)[:, None]).sum(axis=0)
    for number, hits in enumerate(np.bincount(numbers, minlength=32).tolist()):
        bits = [number >> i & 1 for i in range(5)]
        free = math.prod(BIASES[i] if bits[i] else 1 - BIASES[i] for i in region.free())
        inside = all(bits[i] == value for i, value in region.restrictions.items())
        assert plausible(hits, rows, free if inside else 0.0, 1e-9)


def test_numbers_of_ones_are_as_even_as_they_can_be() -> None:
    drawn = draw_balanced(ft.ProductSpace.bernoulli(20).whole, Stream.named(0, "test"), 3, 1000)
    ones = np.bincount(drawn.sum(axis=0, dtype=int), minlength=21)
    expected = 1000 * special.comb(20, np.arange(21)) / 2**20
    assert np.abs(ones - expected).max() < 2
    assert (np.diff(drawn.sum(axis=0, dtype=int)) >= 0).all()


def test_certain_bits_and_rare_bits_are_drawn() -> None:
    space = ft.ProductSpace.bernoulli(4, [0.0, 1.0, 1e-12, 0.5])
    drawn = draw_balanced(space.whole, Stream.named(0, "test"), 0, 500)
    assert drawn[:3].sum(axis=1).tolist() == [0, 500, 0]
    assert 200 < drawn[3].sum() < 300


def test_a_block_is_drawn_alike_every_time() -> None:
    region, stream = SPACE.whole, Stream.named(7, "test")
    one, same, other = (draw_balanced(region, stream, block, 200) for block in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_only_bits_are_balanced_and_not_too_many() -> None:
    assert can_balance(SPACE.whole)
    assert not can_balance(ft.ProductSpace.bernoulli(705).whole)
    assert can_balance(Region.of(ft.ProductSpace.bernoulli(705), {"x0": 1}))
    assert not can_balance(ft.ProductSpace([ft.Numeric("x", 0, 1)]).whole)


def wrong(chances: np.ndarray, level: float) -> tuple[float, float]:
    """Exact probabilities that the upper and the lower end at a level miss the mean of independent trials."""
    law = np.ones(1)
    for p in chances:
        law = np.convolve(law, [1 - p, p])
    count, mean = len(chances), float(chances.mean())
    above = sum(law[k] for k in range(count + 1) if upper_bound(k, count, level) < mean)
    below = sum(law[k] for k in range(count + 1) if lower_bound(k, count, level) > mean)
    return float(above), float(below)


@pytest.mark.parametrize("level", [0.2, 0.05, 0.001])
def test_ends_hold_for_trials_with_different_probabilities(level: float) -> None:
    rng = np.random.default_rng(1)
    cases = [rng.beta(a, b, size) for a in (0.05, 0.5, 5) for b in (0.05, 0.5, 50) for size in (1, 2, 7, 20)]
    # One trial has it all: here the plain level is exceeded, a little.
    share = -math.expm1(math.log1p(-level) / 10) * 10
    cases.append(np.array([share, *[0.0] * 9]))
    for chances in cases:
        assert max(wrong(chances, trial_level(level))) <= level * (1 + 1e-9)
    if level == 0.2:
        assert max(wrong(cases[-1] * (1 - 1e-9), level)) > level
