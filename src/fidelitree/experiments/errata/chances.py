"""The statements about probabilities and about growth, which no truth table decides: Lemmas 5.3 and 5.4, path, time."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from fidelitree import theory
from fidelitree.experiments.errata.small import UNIT, Floats, Study

DELTA = 0.5
EPSILON = 0.3
SIZES = (9, 30, 100, 300)
GRID = UNIT**3


def binomial(m: int) -> Floats:
    """Pr[Bin(m, q) = k] for q = 0, 1/1000, ..., 1 (rows) and k = 0, ..., m."""
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, m + 1)))])
    q, k = np.arange(1, GRID)[:, None] / GRID, np.arange(m + 1)
    inner = np.exp(logs[m] - logs[k] - logs[m - k] + k * np.log(q) + (m - k) * np.log1p(-q))
    return np.vstack([k == 0, inner, k == m])


@cache
def labels_too_often_wrong() -> Floats:
    """Lemma 5.3 for one leaf, by Pr[label 1]: how often the excess error beats its bound, over delta/8."""
    q = np.arange(GRID + 1) / GRID
    ratio = np.zeros(GRID + 1)
    for m in SIZES:
        bound = math.sqrt(2 * (math.log(2) + math.log(16 / DELTA)) / m)
        chosen = binomial(m)[:, m // 2 + 1 :].sum(axis=1)  # the majority says 1; a tie says 0
        wrong = np.where(q < 0.5, chosen, 1 - chosen)
        ratio = np.maximum(ratio, np.where(np.abs(1 - 2 * q) > bound, wrong / (DELTA / 8), 0))
    return ratio


@cache
def tests_too_often_misleading() -> Floats:
    """Lemma 5.4, by the labelled tree's error: how often the tests mislead, over delta/8."""
    error = np.arange(GRID + 1) / GRID
    m = theory.test_samples(1, EPSILON, DELTA)
    passed = binomial(m)[:, : math.floor(0.75 * EPSILON * m) + 1].sum(axis=1)
    bad = np.where(error <= 5 * EPSILON / 8, 1 - passed, np.where(error > EPSILON, passed, 0))
    return np.asarray(bad / (DELTA / 8))


def lemma_5_3(t: Study) -> Floats:
    """Each function as a tree of one leaf, labelled by the majority of 9, 30, 100 or 300 inputs."""
    return np.asarray(labels_too_often_wrong()[t.ones[:, 0] * UNIT ** (3 - t.n)])


def lemma_5_4(t: Study) -> Floats:
    """Each function as a tree of one leaf with either label."""
    q = t.ones[:, 0] * UNIT ** (3 - t.n)
    misled = tests_too_often_misleading()
    return np.asarray(np.maximum(misled[q], misled[GRID - q]))


def path_depth(n: int) -> Fraction:
    """The average depth of a path over n fair bits, by the appendix's sum."""
    return sum((Fraction(k, 2**k) for k in range(1, n)), Fraction(n, 2 ** (n - 1)))


def full_binary_corrected(case: tuple[int, float]) -> Floats:
    """The two sides differ by log^2 s."""
    left, right = full_binary(*case)
    return np.where(np.isclose([left], right + case[0] ** 2), 0.0, np.inf)


def full_binary_words(depth: int, epsilon: float) -> str:
    """Both sides in numbers."""
    left, right = full_binary(depth, epsilon)
    return f"s = {2**depth}, epsilon = {epsilon}: exp({left:.2f}) is not exp({right:.2f})"


def full_binary(depth: int, epsilon: float) -> tuple[float, float]:
    """Section 4.2: the logarithm of (e/epsilon)^(log^2 s), and of what the paper says it equals."""
    return depth**2 * math.log(math.e / epsilon), depth**2 * math.log(1 / epsilon)


def same(left: float | Fraction, right: float | Fraction) -> Floats:
    """An equation as a ratio: a breach is infinite."""
    return np.array([0.0 if left == right else np.inf])


# --- run time --------------------------------------------------------------------------------------------------------

LEAVES, FEATURES = 16, tuple(10**e for e in range(1, 9))


def samples_over_claim(n: int) -> float:
    """Samples of Algorithm 2, one x for all features as in section 5.2, over J log J n log n log(1/delta)/epsilon^2."""
    epsilon = delta = 0.1
    claim = LEAVES * math.log(LEAVES) * n * math.log(n) * math.log(1 / delta) / epsilon**2
    pairs, labels = theory.score_pairs(LEAVES, delta, epsilon, n), theory.label_samples(LEAVES, epsilon, delta)
    return (pairs + labels + theory.test_samples(LEAVES, epsilon, delta)) / claim


def run_time(n: int) -> Floats:
    """The ratio against the constant that the fewest features need."""
    return np.array([samples_over_claim(n) / samples_over_claim(FEATURES[0])])


def run_time_corrected(n: int) -> Floats:
    """The queries against 24 and 400 times the corrected expression, between which they must lie."""
    found = []
    for j in (1, LEAVES, 10**4):
        for epsilon, delta in ((0.3, 0.3), (0.01, 1e-3), (1e-6, 0.1), (1e-6, 1e-200)):
            corrected = j * n**2 * math.log(j * n / delta) / epsilon + (j + math.log(1 / delta)) / epsilon**2
            ratio = theory.queries_of_schedule(j, n, epsilon, delta) / corrected
            found.append(max(24 / ratio, ratio / 400))
    return np.array(found)


def run_time_words() -> str:
    """The ratio that stays bounded."""
    shown = [f"{samples_over_claim(n):.3g} at n = {n:.0e}" for n in FEATURES[::2]]
    return f"J = {LEAVES}, epsilon = delta = 0.1: samples over the claim without its constant are {', '.join(shown)}"
