"""Influences and total Sobol indices: Inf_i = Var(f)/2 x S_Ti for labels -1 and 1, and SALib says the same.

The identity is exact on a Boolean function. SALib's own estimates are compared with ours on a number of Sobol points
large enough for both to be near the truth; everything here is deterministic for its fixed seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from SALib.analyze import sobol as salib_analyze
from SALib.sample import sobol as salib_sample

import fidelitree as ft
from small import cube, weights

Floats = np.ndarray


def salib(n: int, bounds: tuple[float, float], signs: Any, points: int) -> Floats:
    """Total indices of a function of n independent uniform numbers."""
    problem = {"num_vars": n, "names": [f"x{i}" for i in range(n)], "bounds": [list(bounds)] * n}
    inputs = salib_sample.sample(problem, points, calc_second_order=False, seed=0)
    found = salib_analyze.analyze(problem, signs(inputs), calc_second_order=False, num_resamples=2, seed=0)
    return np.asarray(found["ST"])


def test_identity_on_every_bit_of_a_biased_function() -> None:
    """The total index by its definition: expected variance of the label when all other features are known."""
    space = ft.ProductSpace.bernoulli(6, [0.5, 0.2, 0.9, 0.4, 0.7, 0.35])
    table = np.random.default_rng(2).integers(0, 2, 64)
    rows, chances, signs = cube(6), weights(space), 2.0 * table - 1
    found = ft.analyze(ft.targets.TruthTable(table), space)
    variance = chances @ signs**2 - (chances @ signs) ** 2
    assert found.variance == pytest.approx(variance, rel=1e-12)
    for i, p in enumerate(space.biases):
        other = signs[np.arange(64) ^ (1 << i)]
        one = np.where(rows[:, i], signs, other)
        zero = np.where(rows[:, i], other, signs)
        inner = chances @ (p * (1 - p) * (one - zero) ** 2)
        assert found.total_indices[i] == pytest.approx(inner / variance, rel=1e-12)
        assert found.influences[i] == pytest.approx(variance / 2 * inner / variance, rel=1e-12)


def test_salib_agrees_on_a_boolean_function() -> None:
    """Biased bits as thresholds of uniform numbers; 4 096 points bring SALib within .02."""
    biases = np.array([0.5, 0.3, 0.6, 0.5, 0.8, 0.5, 0.4, 0.5, 0.5, 0.7, 0.5])
    target = ft.targets.multiplexer(3)
    exact = ft.analyze(target, ft.ProductSpace.bernoulli(11, biases))
    assert exact.exact
    theirs = salib(11, (0, 1), lambda x: 2.0 * target((x < biases).astype(np.uint8)) - 1, 4096)
    np.testing.assert_allclose(exact.total_indices, theirs, atol=0.02)


def ishigami(x: Floats) -> Floats:
    return np.sin(x[0]) + 7 * np.sin(x[1]) ** 2 + 0.1 * x[2] ** 4 * np.sin(x[0])


def test_salib_agrees_on_a_thresholded_ishigami_function() -> None:
    """Is Ishigami's function above 3.5? Three numbers uniform between -pi and pi: estimates on both sides."""
    space = ft.ProductSpace([ft.Numeric(f"x{i}", -np.pi, np.pi) for i in range(3)])
    found = ft.analyze(lambda batch: ishigami(list(batch.values())) > 3.5, space, max_queries=400_000, delta=1e-6)
    theirs = salib(3, (-np.pi, np.pi), lambda x: np.where(ishigami(x.T) > 3.5, 1.0, -1.0), 1 << 16)
    assert not found.exact
    np.testing.assert_allclose(found.total_indices, theirs, atol=0.01)
    influences = theirs * found.variance / 2
    assert (found.intervals[:, 0] <= influences).all()
    assert (influences <= found.intervals[:, 1]).all()
    assert found.influences[1] > found.influences[0] > found.influences[2] > 0.05


def test_a_redraw_counted_as_a_flip_would_be_seen() -> None:
    """Pr[a flip changes the label] is not the index times the variance unless p = 1/2."""
    biases = [0.3] * 5
    target = ft.targets.majority(5)
    found = ft.analyze(target, ft.ProductSpace.bernoulli(5, biases))
    theirs = salib(5, (0, 1), lambda x: 2.0 * target((x < 0.3).astype(np.uint8)) - 1, 4096)
    flips = found.influences / (2 * 0.3 * 0.7)
    np.testing.assert_allclose(found.total_indices, theirs, atol=0.02)
    assert np.abs(flips / found.variance - theirs).min() > 0.05


def test_only_two_labels_have_indices() -> None:
    three = ft.analyze(lambda batch: batch[:, 0] + batch[:, 1], ft.ProductSpace.bernoulli(3))
    with pytest.raises(ft.ParameterError, match="mean needs a target with two labels; this one has 3"):
        _ = three.total_indices
    constant = ft.analyze(lambda batch: np.ones(len(batch)), ft.ProductSpace.bernoulli(3))
    assert constant.total_indices.tolist() == [0, 0, 0]
