"""Clopper and Pearson's bounds against their definition: the tail at the bound is the level."""

from __future__ import annotations

import math

import pytest

from fidelitree.theory.binomial import early_looks, level_of_set, lower_bound, upper_bound

CASES = [(0, 1), (0, 300), (1, 10), (7, 20), (19, 20), (150, 1000)]


def tail(samples: int, least: int, p: float) -> float:
    """Probability of at least this many successes."""
    return math.fsum(math.comb(samples, k) * p**k * (1 - p) ** (samples - k) for k in range(least, samples + 1))


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-4])
@pytest.mark.parametrize(("errors", "samples"), CASES)
def test_upper_bound_is_where_so_few_errors_have_the_probability_of_the_level(
    errors: int, samples: int, level: float
) -> None:
    bound = upper_bound(errors, samples, level)
    assert 1 - tail(samples, errors + 1, bound) == pytest.approx(level, rel=1e-6)
    assert errors / samples < bound < 1


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-4])
@pytest.mark.parametrize(("hits", "samples"), [(k, n) for k, n in CASES if k] + [(20, 20)])
def test_lower_bound_is_where_so_many_hits_have_the_probability_of_the_level(
    hits: int, samples: int, level: float
) -> None:
    bound = lower_bound(hits, samples, level)
    assert tail(samples, hits, bound) == pytest.approx(level, rel=1e-6)
    assert 0 < bound < 1


def test_bounds_at_the_ends() -> None:
    assert upper_bound(20, 20, 0.05) == 1
    assert upper_bound(0, 0, 0.05) == 1
    assert lower_bound(0, 20, 0.05) == 0
    assert upper_bound(0, 20, 0.05) == pytest.approx(1 - 0.05 ** (1 / 20))
    assert lower_bound(20, 20, 0.05) == pytest.approx(0.05 ** (1 / 20))


def test_the_two_bounds_are_mirror_images() -> None:
    for errors, samples in CASES:
        assert lower_bound(samples - errors, samples, 0.01) == pytest.approx(1 - upper_bound(errors, samples, 0.01))


def test_the_levels_of_all_trees_and_looks_stay_below_half_of_delta() -> None:
    assert list(early_looks(257)) == [16, 64, 256]
    assert list(early_looks(256)) == [16, 64]
    assert [level_of_set(1, size, 0.8) for size in (16, 64, 256)] == [0.1, 0.05, 0.025]
    assert [level_of_set(1, size, 0.8) for size in (15, 17, 100, 1_000)] == [0.1] * 4
    assert [level_of_set(2, size, 0.8) for size in (16, 17, 64)] == [0.025] * 3
    looks = [level_of_set(1, size, 1.0) for size in early_looks(10**12)]
    assert sum(looks) + sum(level_of_set(leaves, 1_000, 1.0) for leaves in range(1, 10_000)) < 0.5
