"""How often Algorithm 2 breaks its promise: no more often than it says, and the check sees planted faults.

Each check counts broken promises in independent runs with fixed seeds, and compares the count with the binomial tail
at the promised probability. ALARM is the chance that code which just keeps its promise fails a check with fresh seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.runs import paper
from fidelitree.spaces.draw import Stream
from small import true_error

if TYPE_CHECKING:
    from collections.abc import Callable

ALARM = 1e-7
RUNS = 200
schedules = pytest.mark.parametrize("schedule", ["printed", "corrected"])


def target_of(seed: int) -> tuple[Callable[..., object], ft.ProductSpace, float]:
    """Trees, threshold functions and random tables of 6 or 7 bits, with their own biases and epsilon."""
    rng = np.random.default_rng(seed)
    n = 6 if seed % 4 == 3 else int(rng.integers(6, 8))
    space = ft.ProductSpace.bernoulli(n, rng.uniform(0.2, 0.8, n))
    kinds: list[Callable[[], Callable[..., object]]] = [
        lambda: ft.targets.balanced(space, 3, seed),
        lambda: ft.targets.chain(space, n, seed),
        lambda: ft.targets.majority(n),
        lambda: ft.targets.TruthTable(rng.random(2**n) < 0.35),
    ]
    return kinds[seed % 4](), space, float(rng.uniform(0.22, 0.3))


def errors(schedule: str) -> list[tuple[float, float]]:
    """True error and epsilon of every run."""
    found = []
    for seed in range(RUNS):
        target, space, epsilon = target_of(seed)
        result = ft.practical_top_down(target, space, epsilon, 0.1, seed=seed, schedule=schedule)
        found.append((true_error(result.tree, target, space), epsilon))
    return found


def broken(found: list[tuple[float, float]]) -> bool:
    """Whether more trees have an error above epsilon than delta = 0.1 allows."""
    return too_many(sum(error > epsilon for error, epsilon in found), RUNS, 0.1, ALARM)


@schedules
def test_at_most_a_share_of_delta_has_an_error_above_epsilon(schedule: str) -> None:
    found = errors(schedule)
    assert not broken(found)
    assert np.median([error / epsilon for error, epsilon in found]) > 0.4, "the runs are no walk-over"


@schedules
def test_stopping_at_twice_epsilon_would_be_seen(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = paper.SetSizes.errors_allowed
    monkeypatch.setattr(paper.SetSizes, "errors_allowed", lambda sizes, j: 8 / 3 * allowed(sizes, j))
    assert broken(errors(schedule))


def bounds_broken(schedule: str, leaves: int = 32) -> bool:
    """Whether certified bounds of trees cut off at a size are exceeded more often than at their level.

    The sets are far too small for the stop test, and labels are often wrong: the bound must be true all the same,
    except with probability delta/(8 j^2) for the tree of j leaves.
    """
    exceeded, runs = 0, 20
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        space = ft.ProductSpace.bernoulli(9, rng.uniform(0.3, 0.7, 9))
        target = ft.targets.TruthTable(rng.integers(0, 2, 512))
        result = ft.practical_top_down(target, space, 0.05, 0.9, seed=seed, schedule=schedule, max_leaves=leaves)
        assert result.tree.size == leaves
        exceeded += true_error(result.tree, target, space) > result.certificate.error_bound
    return too_many(exceeded, runs, 0.9 / (8 * leaves**2), ALARM)


@pytest.fixture
def tiny_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper.SetSizes, "pairs", lambda sizes, j: 100)
    monkeypatch.setattr(paper.SetSizes, "labels", lambda sizes, j: 3 * j)
    monkeypatch.setattr(paper.SetSizes, "tests", lambda sizes, j: 3 * j)
    monkeypatch.setattr(paper.SetSizes, "errors_allowed", lambda sizes, j: -1)


@schedules
@pytest.mark.usefixtures("tiny_sets")
def test_certified_bounds_are_true_however_small_the_sets(schedule: str) -> None:
    assert not bounds_broken(schedule)


# The judge is the same for both schedules, so a fault is planted under one of them.


@pytest.mark.usefixtures("tiny_sets")
def test_measuring_the_error_on_the_inputs_that_label_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    named, confused = Stream.named, {"certify": "label"}
    monkeypatch.setattr(Stream, "named", lambda seed, purpose: named(seed, confused.get(purpose, purpose)))
    assert bounds_broken("printed")


@pytest.mark.usefixtures("tiny_sets")
def test_a_bound_that_is_only_the_estimate_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "upper_bound", lambda errors, samples, level: errors / samples)
    assert bounds_broken("printed")
