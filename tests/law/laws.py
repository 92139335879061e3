"""The paper's statements as vectorised predicates on ``Facts``: True where a target violates them.

LAWS are the forms that hold, PRINTED those of the paper that do not. Comparisons allow a relative 1e-12: masses and
scores are exact, ratios of them are rounded.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from law.optima import Facts

Floats = NDArray[np.float64]
Violations = NDArray[np.bool_]
Law = Callable[[Facts], Violations]


def exceeds(left: ArrayLike, right: ArrayLike) -> Violations:
    """Where left > right by more than rounding."""
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    return np.asarray(left > right * (1 + 1e-12) + 1e-15)


def somewhere(bad: Violations) -> Violations:
    """At some step or in some region."""
    return np.asarray(bad.any(axis=1))


# --- statements about a target ---------------------------------------------------------------------------------------


def lemma_4_1(t: Facts) -> Violations:
    return exceeds(t.error, t.gini) | exceeds(t.gini, t.influence)


def lemma_4_2_tight(t: Facts) -> Violations:
    return exceeds(t.influence, t.depth * t.gini) | exceeds(t.influence, t.average_depth / 2)


def lemma_4_3_every_feature(t: Facts) -> Violations:
    """Exactly, in every region, whatever feature is split: cost before - cost after = score."""
    totals = t.scores.sum(axis=2)
    drops = [totals[:, at] - totals[:, low] - totals[:, high] != t.scores[:, at, i] for at, i, low, high in t.splits]
    return np.asarray(np.any(drops, axis=0))


def lemma_c_1_corrected(t: Facts) -> Violations:
    return exceeds(t.gini, t.average_depth * t.influences.max(axis=1)) | exceeds(t.gini, t.least_influence_read)


def lemma_c_2(t: Facts) -> Violations:
    largest = t.influences.max(axis=1)
    return exceeds(largest, 2 * t.error) | exceeds(t.error, t.gini) | exceeds(largest, t.gini)


def depth_of_regions(t: Facts) -> Violations:
    return somewhere(exceeds(t.depths, t.depth[:, None]))


def average_depth_of_regions(t: Facts) -> Violations:
    """Not pointwise, but on average: whatever feature is split, the children's best average depths average less."""
    grown = [exceeds(t.spreads[:, low] + t.spreads[:, high], t.spreads[:, at]) for at, _, low, high in t.splits]
    return np.asarray(np.any(grown, axis=0))


def largest_average_depth(t: Facts) -> Violations:
    beyond = exceeds(t.largest_average_depth, t.depth) | exceeds(t.average_depth, t.largest_average_depth)
    return beyond | ((t.error > 0) & exceeds(1, t.largest_average_depth))


# --- statements about Algorithm 1, at every step ---------------------------------------------------------------------


def steps(t: Facts) -> tuple[Floats, ...]:
    """Leaves, score, cost and error before each step, and the target's D, Delta and Delta* (1 where constant)."""
    score, cost, error = t.growth
    columns = (np.maximum(d, 1)[:, None] for d in (t.depth, t.average_depth, t.largest_average_depth))
    return np.arange(1.0, score.shape[1] + 1), score, cost, error, *columns


def lemma_4_4_corrected(t: Facts) -> Violations:
    """At the largest epsilon below the error, where it asks most."""
    leaves, score, _, error, _, average, star = steps(t)
    return somewhere(exceeds(np.maximum(error / star, 2 * error**2 / average) / leaves, score))


def lemma_4_5_corrected(t: Facts) -> Violations:
    leaves, score, cost, _, depth, average, star = steps(t)
    floor = np.maximum(cost / (depth * star), 2 * cost**2 / (depth**2 * average)) / leaves
    return somewhere(exceeds(floor, score))


def lemma_4_6_corrected(t: Facts) -> Violations:
    """J_1 = t for epsilon D just below the cost before step t; the bound is least there."""
    leaves, _, cost, _, depth, _, star = steps(t)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = depth * star * np.log(cost[:, :1] / cost)
    return somewhere(exceeds(np.log(leaves), bound) & (cost > 0))


def first_phase(t: Facts) -> Floats:
    """J_1 for epsilon just below the error before each step: the splits until the cost is at most epsilon D."""
    _, _, cost, error, depth, _, _ = steps(t)
    return np.asarray((cost[:, None, :] >= (depth * error)[:, :, None]).sum(axis=2), dtype=float)


def lemma_4_7_corrected(t: Facts) -> Violations:
    """J_total is the step itself for epsilon just below the error before it."""
    total, _, _, error, depth, _, star = steps(t)
    head = np.log(first_phase(t) + 1)
    beyond = exceeds(np.log(total), head + (depth - 1) * star) | exceeds(np.log(total + 1), head + depth * star)
    return somewhere(beyond & (error > 0))


def size_form_1(t: Facts) -> Violations:
    return _too_large(t, lambda t, eps: t.depth * t.largest_average_depth * _log_base(t.influence, t.depth, eps))


def size_form_2(t: Facts) -> Violations:
    return _too_large(t, lambda t, eps: t.influence * t.average_depth / (2 * eps**2))


def size_form_3(t: Facts) -> Violations:
    def bound(t: Facts, eps: Floats) -> Floats:
        effective = np.minimum(t.depth, t.average_depth / (2 * eps))
        return np.asarray(effective**2 * (1 + np.log(t.average_depth / (2 * eps * effective))))

    return _too_large(t, bound)


def _log_base(start: Floats, depth: Floats, eps: Floats) -> Floats:
    return np.asarray(1 + np.maximum(np.log(start / (eps * depth)), 0))


def _too_large(t: Facts, log_bound: Callable[[Facts, Floats], Floats]) -> Violations:
    """Size t + 1 is the answer for epsilon in [error after t splits, error before the t-th); the bound is least at the
    upper end, so that is where it is checked, for every t.
    """
    _, _, error = t.growth
    bad = np.zeros(len(error), dtype=bool)
    with np.errstate(divide="ignore", invalid="ignore"):
        for step in range(error.shape[1]):
            growing = error[:, step] > 0
            bad |= growing & exceeds(np.log(step + 2), log_bound(t, error[:, step]))
    return bad


LAWS: list[Law] = [
    lemma_4_1,
    lemma_4_2_tight,
    lemma_4_3_every_feature,
    lemma_c_1_corrected,
    lemma_c_2,
    depth_of_regions,
    average_depth_of_regions,
    largest_average_depth,
    lemma_4_4_corrected,
    lemma_4_5_corrected,
    lemma_4_6_corrected,
    lemma_4_7_corrected,
    size_form_1,
    size_form_2,
    size_form_3,
]


# --- as printed, and false -------------------------------------------------------------------------------------------


def lemma_c_1_printed(t: Facts) -> Violations:
    return exceeds(2 * t.gini, t.average_depth * t.influences.max(axis=1))


def average_depth_of_regions_printed(t: Facts) -> Violations:
    return exceeds(t.largest_average_depth, t.average_depth)


def lemma_4_4_printed(t: Facts) -> Violations:
    leaves, score, _, error, _, average, _ = steps(t)
    return somewhere(exceeds(2 * error / (leaves * average), score))


def lemma_4_7_printed(t: Facts) -> Violations:
    return somewhere((first_phase(t) == 0) & (t.growth[2] > 0))


def theorem_1_1_printed(t: Facts) -> Violations:
    return _too_large(t, lambda t, eps: t.depth * t.average_depth * _log_base(t.average_depth, t.depth, eps))


PRINTED: list[Law] = [
    lemma_c_1_printed,
    average_depth_of_regions_printed,
    lemma_4_4_printed,
    lemma_4_7_printed,
    theorem_1_1_printed,
]
