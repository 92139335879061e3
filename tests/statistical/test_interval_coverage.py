"""How often an interval of a certificate's table misses the truth: in at most 5 % of runs, whenever they stop.

First the intervals alone, with a stopper who looks again and again and stops as soon as the truth lies outside. Then
whole runs, whose tables are known exactly. Counts of independent runs with fixed seeds are compared with the binomial
tail; ALARM is the chance that code which just keeps its promise fails such a check with fresh seeds. Intervals for a
number of samples that is fixed beforehand (Clopper and Pearson) go red under the same stopper.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.certificates.confusion import Confusion
from fidelitree.theory.sequential import interval, upper_bound
from small import cube

ALARM = 1e-6
LEVEL = 0.05
RUNS = 300
LOOKS = np.unique(np.geomspace(1, 4_000, 40).astype(int))

Interval = Callable[[int, int, float], tuple[float, float]]


def clopper_pearson(hits: int, samples: int, level: float) -> tuple[float, float]:
    return 1 - upper_bound(samples - hits, samples, level / 2), upper_bound(hits, samples, level / 2)


def misses(rate: float, found: Interval, seed: int) -> int:
    """Runs in which some look shows an interval without the true rate."""
    random = np.random.default_rng(seed)
    missed = 0
    for _ in range(RUNS):
        hits = np.cumsum(random.random(LOOKS[-1]) < rate)[LOOKS - 1]
        shown = (found(int(k), int(n), LEVEL) for k, n in zip(hits, LOOKS, strict=True))
        missed += any(not low <= rate <= high for low, high in shown)
    return missed


@pytest.mark.parametrize("rate", [0.003, 0.05, 0.37, 0.5, 0.98])
def test_an_interval_holds_whenever_somebody_stops(rate: float) -> None:
    assert not too_many(misses(rate, interval, seed=1), RUNS, LEVEL, ALARM)


@pytest.mark.parametrize("rate", [0.05, 0.37])
def test_an_interval_for_a_fixed_number_does_not(rate: float) -> None:
    """The planted fault."""
    assert too_many(misses(rate, clopper_pearson, seed=1), RUNS, LEVEL, ALARM)


def constant_misses(chances: list[float], ends: Callable[[Confusion], tuple[float, float]], seed: int) -> int:
    """The same for the best constant, which is chosen by the same answers; labels that are equally likely are hard."""
    random, best = np.random.default_rng(seed), 1 - max(chances)
    missed = 0
    for _ in range(RUNS):
        labels = random.choice(len(chances), LOOKS[-1], p=chances)
        counts = np.cumsum(labels[:, None] == np.arange(len(chances)), axis=0)[LOOKS - 1].tolist()
        tables = (Confusion.of({(label, label): count for label, count in enumerate(row)}, LEVEL) for row in counts)
        shown = (ends(table) for table in tables if table is not None)
        missed += any(not low <= best <= high for low, high in shown)
    return missed


@pytest.mark.parametrize("chances", [[0.5, 0.5], [0.9, 0.1], [0.05] * 20])
def test_the_best_constant_is_inside_though_it_was_chosen(chances: list[float]) -> None:
    assert not too_many(constant_misses(chances, lambda table: table.constant_error, seed=2), RUNS, LEVEL, ALARM)


def test_a_constant_that_is_not_paid_for_would_be_seen() -> None:
    """The planted fault: the most frequent of twenty labels, as if it had been named before the first answer."""

    def unpaid(table: Confusion) -> tuple[float, float]:
        low, high = clopper_pearson(int(table.target.best.count), int(table.tests), LEVEL)
        return 1 - high, 1 - low

    assert too_many(constant_misses([0.05] * 20, unpaid, seed=2), RUNS, LEVEL, ALARM)


def test_whole_runs_keep_their_tables(soak: bool) -> None:
    """Pruned trees, several attempts, budgets: the interval of the most frequent mistake, and of the constant."""
    runs = wrong = constant = 0
    for seed in range(400 if soak else 40):
        space = ft.ProductSpace.bernoulli(9, np.random.default_rng(seed).uniform(0.2, 0.8, 9))
        target = (ft.targets.majority(9), ft.targets.balanced(space, 5, seed))[seed % 2]
        result = ft.distill(
            lambda rows, target=target: target(rows), space, (0.2, 0.1)[seed % 3 == 0], seed=seed, max_queries=250
        )
        table = result.certificate.confusion
        if table is None or table.level is None:
            continue
        inputs, runs = cube(9), runs + 1
        chances, labels, answered = space.chances(inputs), target(inputs), result.tree.predict(inputs)
        best = max(float(chances[labels == label].sum()) for label in (0, 1))
        low, high = table.constant_error
        constant += not low - 1e-9 <= 1 - best <= high + 1e-9
        for cell in [cell for cell in table.cells if cell.wrong][:1]:
            mass = float(chances[labels == cell.target].sum())
            share = float(chances[(labels == cell.target) & (answered == cell.tree)].sum()) / mass
            low, high = table.share(cell)
            wrong += not low - 1e-9 <= share <= high + 1e-9
    assert runs > 25
    assert not too_many(wrong, runs, LEVEL, ALARM)
    assert not too_many(constant, runs, LEVEL, ALARM)
