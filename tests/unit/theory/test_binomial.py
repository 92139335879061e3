"""Clopper and Pearson's bounds against their definition: the tail at the bound is the level."""

from __future__ import annotations

import math

import pytest

from fidelitree.theory.sequential import lower_bound, upper_bound

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
