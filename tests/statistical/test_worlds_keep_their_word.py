"""How often a certificate over a fitted world is false: no more often than delta.

The true error of every tree is known: all inputs of a small world are listed with their probabilities, and the target
is any function of them. ALARM is the chance that code which just keeps its promise fails with fresh seeds. A planted
fault, prunings that are weighed too lightly, must be seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many

ALARM = 1e-7
EPSILON = 0.2
BITS = 8


def table(seed: int, rows: int = 300) -> dict[str, Any]:
    """Eight bits, each of which mostly repeats the last one: marginals say little about them."""
    random = np.random.default_rng(seed)
    columns = [random.random(rows) < 0.5]
    for _ in range(BITS - 1):
        columns.append(np.where(random.random(rows) < 0.9, columns[-1], ~columns[-1]))
    return {f"x{i}": column for i, column in enumerate(columns)}


def rumour(seed: int) -> Any:
    """A parity of two neighbours for some inputs, and anything for the others."""
    random = np.random.default_rng(seed)
    answers, listens = random.random(1 << BITS) < 0.5, random.random(1 << BITS) < random.uniform(0.05, 0.5)

    def target(batch: Any) -> Any:
        bits = np.stack([np.asarray(batch[f"x{i}"]) for i in range(BITS)]).astype(np.intp)
        place = (bits << np.arange(BITS)[:, None]).sum(axis=0)
        return np.where(listens[place], answers[place], bits[0] ^ bits[4])

    return target


def true_error(tree: ft.Tree, target: Any, world: Any) -> float:
    inner = world.product.whole.inputs(0, 1 << BITS)
    chances = chances_of(inner, world)
    return float(chances[tree.predict_inner(inner) != target(world.batch(inner))].sum())


def chances_of(inner: Any, world: Any) -> Any:
    """The probability of every input, from what the world is made of."""
    if isinstance(world, ft.Mixture):
        return sum(weight * one.chances(inner) for weight, one in zip(world.weights, world.components, strict=True))
    chances = np.ones(len(inner))
    codes = inner.T.astype(np.intp)
    for i, (parent, probabilities) in enumerate(zip(world.dependence.parents, world.dependence.tables, strict=True)):
        chances *= probabilities[codes[parent] if parent >= 0 else 0, codes[i]]
    return chances


def shares_of(delta: float, seeds: range, kind: Any = ft.ChowLiu, told: Any = rumour, **limits: Any) -> list[float]:
    """For each run its true error over its bound."""
    shares = []
    for seed in seeds:
        world, target = kind.from_data(table(seed)), told(seed)
        result = ft.distill(target, world, EPSILON, delta, seed=seed, **limits)
        shares.append(true_error(result.tree, target, world) / result.certificate.error_bound)
    return shares


@pytest.mark.parametrize("kind", [ft.ChowLiu, ft.Mixture])
@pytest.mark.parametrize(("delta", "start"), [(0.05, 0), (0.3, 5_000)])
def test_bounds_over_a_fitted_world_are_true(kind: Any, delta: float, start: int, soak: bool) -> None:
    runs = 1_000 if soak else 20
    shares = shares_of(delta, range(start, start + runs), kind, max_queries=250)
    assert not too_many(sum(share > 1 for share in shares), runs, delta, ALARM)
    assert np.quantile(shares, 0.75) > 0.3, "the runs are no walk-over"


def test_masses_that_are_not_the_worlds_own_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pruning that seems to lose next to nothing then loses much."""
    monkeypatch.setattr(ft.ChowLiu, "mass", lambda world, region: region.mass / 100)
    shares = shares_of(0.01, range(12), told=lambda seed: lambda batch: batch["x0"] ^ batch["x4"])
    assert too_many(sum(share > 1 for share in shares), 12, 0.01, ALARM)
