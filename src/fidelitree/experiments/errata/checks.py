"""Each statement of the paper about a target, as a ratio that must not exceed 1: what is bounded over its bound.

One number for each function of a study, the worst over regions, features, steps and tolerances. A tolerance enters
through its worst case: Algorithm 1 makes step t for every epsilon below the error before it, and all bounds are least
at the largest of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fidelitree import theory
from fidelitree.experiments.errata.small import FREE, UNIT, Floats, Region, Study, Whole


def over(left: ArrayLike, right: ArrayLike) -> Floats:
    """The ratio left/right, 0 where left is not positive, the worst in each row."""
    left, right = np.broadcast_arrays(np.asarray(left, dtype=float), np.asarray(right, dtype=float))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(left > 0, left / right, 0.0)
    return ratio if ratio.ndim == 1 else np.asarray(ratio.reshape(len(ratio), -1).max(axis=1))


def worst(*ratios: Floats) -> Floats:
    """The largest of several ratios."""
    return np.asarray(np.max(ratios, axis=0))


def _column(values: Floats) -> Floats:
    return np.maximum(values, 1)[:, None]  # constant targets make no step; 1 avoids 0/0


# --- targets ---------------------------------------------------------------------------------------------------------


def lemma_4_2(t: Study) -> Floats:
    """Inf <= D Var and Inf <= Delta."""
    return worst(over(t.influence, 2 * t.depth * t.gini), over(t.influence, t.average_depth))


def lemma_4_3(t: Study) -> Floats:
    """Cost drop = score, in every region, for every feature: a breach is infinite."""
    totals = t.scores.sum(axis=2)
    bad = [totals[:, at] - totals[:, low] - totals[:, high] != t.scores[:, at, i] for at, i, low, high in t.splits]
    return np.where(np.any(bad, axis=0), np.inf, 0.0)


def lemma_c_2(t: Study) -> Floats:
    """Inf_i <= 2 error <= Var."""
    return worst(over(t.influences, 2 * t.error[:, None]), over(t.error, t.gini))


def average_depth_of_leaves_corrected(t: Study) -> Floats:
    """On average over the two sides of any split it has not."""
    return worst(*(over(t.spreads[:, low] + t.spreads[:, high], t.spreads[:, at]) for at, _, low, high in t.splits))


def lemma_5_2(t: Study) -> Floats:
    """The estimator's mean, by enumeration of inputs and re-drawn values, is the score: a breach is infinite."""
    x = np.arange(2**t.n)
    weights = np.prod([np.where(x >> i & 1, p, UNIT - p) for i, p in enumerate(t.tenths)], axis=0)
    bad = np.zeros(len(t.tables), dtype=bool)
    for at, i, _, _ in t.splits:
        reach = weights * _inside(t.regions[at], x)  # feature i is free here, so the other input reaches it too
        mean = np.zeros(len(t.tables), dtype=np.int64)
        for v, chance in ((0, UNIT - t.tenths[i]), (1, t.tenths[i])):
            mean += (t.tables != t.tables[:, x & ~(1 << i) | v << i]) @ reach * chance
        bad |= mean != t.scores[:, at, i]
    return np.where(bad, np.inf, 0.0)


def _inside(region: Region, x: Whole) -> NDArray[np.bool_]:
    return np.asarray(np.all([(v == FREE) | ((x >> i & 1) == v) for i, v in enumerate(region)], axis=0))


# --- Algorithm 1 -----------------------------------------------------------------------------------------------------


def lemma_4_4(t: Study) -> Floats:
    """epsilon/(j Delta) <= score: without the 2, which is Lemma C.1's."""
    score, _, error = t.growth
    return over(error / (_leaves(score) * _column(t.average_depth)), score)


def lemma_4_4_corrected(t: Study) -> Floats:
    """max(epsilon/(j Delta*), 2 epsilon^2/(j Delta)) <= score."""
    score, _, error = t.growth
    floor = np.maximum(error / _column(t.largest_average_depth), 2 * error**2 / _column(t.average_depth))
    return over(floor / _leaves(score), score)


def lemma_4_5(t: Study) -> Floats:
    """cost/(j D Delta) <= score."""
    score, cost, _ = t.growth
    return over(cost / (_leaves(score) * _column(t.depth) * _column(t.average_depth)), score)


def lemma_4_5_corrected(t: Study) -> Floats:
    """max(cost/(j D Delta*), 2 cost^2/(j D^2 Delta)) <= score."""
    score, cost, _ = t.growth
    share = cost / _column(t.depth)
    floor = np.maximum(share / _column(t.largest_average_depth), 2 * share**2 / _column(t.average_depth))
    return over(floor / _leaves(score), score)


def first_phase_over(t: Study, start: Floats, average: Floats) -> Floats:
    """ln J_1 over D average ln max(start/(epsilon D), 1), with epsilon D just below the cost before step J_1."""
    _, cost, _ = t.growth
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = _column(t.depth) * _column(average) * np.maximum(np.log(start[:, None] / cost), 0)
    return over(np.where(cost > 0, np.log(_leaves(cost)), 0), bound)


def first_phase(t: Study) -> Whole:
    """J_1 for epsilon just below the error before each step."""
    _, cost, error = t.growth
    return np.asarray((cost[:, None, :] >= (t.depth[:, None] * error)[:, :, None]).sum(axis=2))


def second_phase_over(t: Study, first: Whole) -> Floats:
    """J_total over first e^(D Delta)."""
    error = t.growth[2]
    bound = first * np.exp(_column(t.depth) * _column(t.average_depth))
    return over(np.where(error > 0, _leaves(error), 0), bound)


def lemma_4_7_corrected(t: Study) -> Floats:
    """J_total < (J_1 + 1) e^((D - 1) Delta*) and J_total + 1 <= (J_1 + 1) e^(D Delta*)."""
    _, _, error = t.growth
    head, star = first_phase(t) + 1, _column(t.largest_average_depth)
    total = np.where(error > 0, _leaves(error), 0)
    first = over(total, head * np.exp((_column(t.depth) - 1) * star))
    return worst(first, over(np.where(total > 0, total + 1, 0), head * np.exp(_column(t.depth) * star)))


def theorem_1_1(t: Study) -> Floats:
    """Size against Theorem 1.1 as printed."""
    return _size_over(t, lambda eps: _power(t, t.average_depth, t.average_depth, eps))


def theorem_1_1_path(t: Study) -> Floats:
    """The same for functions that a path of all n bits computes, fair bits, with D = n and Delta = 2 - 2^(1-n)."""
    if set(t.tenths) != {UNIT // 2}:
        return np.zeros(len(t.tables))
    depth, average = float(t.n), theory.path_average_depth(t.n)
    ratio = _size_over(t, lambda eps: depth * average * (1 + np.maximum(np.log(average / (eps * depth)), 0)))
    return np.where(np.isin(np.arange(len(t.tables)), path_functions(t.n)), ratio, 0.0)


@cache
def path_functions(n: int) -> list[int]:
    """The truth tables, as numbers, of all paths over n bits: any order, any exit sides, any labels."""
    found = set()
    for order, sides, labels in itertools.product(
        itertools.permutations(range(n)), itertools.product((0, 1), repeat=n), itertools.product((0, 1), repeat=n + 1)
    ):
        ends = [
            next((k for k, (i, v) in enumerate(zip(order, sides, strict=True)) if x >> i & 1 == v), n)
            for x in range(2**n)
        ]
        found.add(sum(labels[end] << x for x, end in enumerate(ends)))
    return sorted(found)


def abstract(t: Study) -> Floats:
    """Size against the abstract as printed."""
    return _size_over(t, lambda eps: _column(t.depth) * _column(t.average_depth) * (1 - np.log(eps)))


def sizes_corrected(t: Study) -> Floats:
    """Size against the three forms that hold."""
    return worst(*(_size_over(t, form) for form in _forms(t)))


def theorem_5_1(t: Study) -> Floats:
    """Theorem 5.1 as printed, for any tree at all: 2^n leaves, at the largest epsilon that needs a split."""
    return _largest_tree_over(t, lambda eps: 4 * _power(t, t.average_depth, t.average_depth, eps))


def theorem_5_1_corrected(t: Study) -> Floats:
    """The three forms with kappa = 1/4, the same."""
    return worst(*(_largest_tree_over(t, form) / 4 for form in _forms(t)))


_LogBound = Callable[[Floats], Floats]


def _power(t: Study, start: Floats, average: Floats, eps: Floats) -> Floats:
    """Logarithm of max((e start/(epsilon D))^(D average), e^(D average))."""
    return np.asarray(
        _column(t.depth) * _column(average) * (1 + np.maximum(np.log(start[:, None] / (eps * _column(t.depth))), 0))
    )


def _forms(t: Study) -> list[_LogBound]:
    def by_depths(eps: Floats) -> Floats:
        effective = np.minimum(_column(t.depth), _column(t.average_depth) / (2 * eps))
        return np.asarray(effective**2 * (1 + np.log(_column(t.average_depth) / (2 * eps * effective))))

    return [
        lambda eps: _power(t, t.influence, t.largest_average_depth, eps),
        lambda eps: t.influence[:, None] * _column(t.average_depth) / (2 * eps**2),
        by_depths,
    ]


def _size_over(t: Study, log_bound: _LogBound) -> Floats:
    """Tree of t + 1 leaves: for every epsilon from the error after t splits up to the error before the t-th."""
    error = t.growth[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return over(np.where(error > 0, np.log(_leaves(error) + 1), 0), log_bound(error))


def _largest_tree_over(t: Study, log_bound: _LogBound) -> Floats:
    error = t.error[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return over(np.where(error > 0, t.n * np.log(2), 0), log_bound(error))


def _leaves(steps: Floats) -> Floats:
    """Leaves before each step: 1, 2, 3, ..."""
    return np.arange(1.0, steps.shape[1] + 1)
