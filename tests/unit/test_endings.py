"""Whatever ends a run - Ctrl-C, queries, time - labels in hand give a bound, for every strategy and kind of space."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.draw import Stream, draw
from fidelitree.region import Region
from fidelitree.result import Distillation

DELTA = 1e-3
WEIGHTS = np.array(
    [0.9, -1.0, 1.1, 0.7, -0.8, 1.2, -0.6, 0.5, 1.0, -0.9, 0.8, 1.1, -0.7, 0.6, 1.0, -1.1, 0.9, 0.8, 1, 1]
)
BITS = ft.ProductSpace.bernoulli(20)
NUMBERS = ft.ProductSpace(
    [*(ft.Numeric(f"x{i}", -1.0, 1.0) for i in range(6)), ft.Categorical("kind", [*"abcdefgh"]), ft.Boolean("on", 0.5)]
)


def votes(batch: Any) -> Any:
    """A weighted vote of 20 bits: no small tree comes near it."""
    return (batch @ WEIGHTS) > 3.6


def curved(batch: Any) -> Any:
    """A curved border in six numbers, moved by a category: the same."""
    total = sum(np.sin((3 + i) * np.asarray(batch[f"x{i}"], float)) for i in range(6))
    return np.where(total + (np.asarray(batch["kind"]) > "c") > 0.9, "high", "low")


def table(rows: int = 4_000) -> ft.Rows:
    random = np.random.default_rng(5)
    columns: dict[str, Any] = {f"x{i}": random.uniform(-1, 1, rows) for i in range(6)}
    return ft.Rows({**columns, "kind": random.choice([*"abcdefgh"], rows), "on": random.random(rows) < 0.5})


BETTER = ({}, {"prefer": "leaves"}, {"strategy": "smallest"})
DOORS: dict[str, tuple[Callable[[Any], Any], Any, dict[str, Any]]] = {
    **{f"bits {options}": (votes, BITS, options) for options in (*BETTER, {"strategy": "influence"})},
    **{f"numbers {options}": (curved, NUMBERS, options) for options in (*BETTER, {"strategy": "influence"})},
    **{f"rows {options}": (curved, table(), options) for options in BETTER},
}


def stopped(target: Callable[[Any], Any], after: int) -> Callable[[Any], Any]:
    """The target, and Ctrl-C once it has answered so many inputs."""
    seen = 0

    def asked(batch: Any) -> Any:
        nonlocal seen
        labels = target(batch)
        if seen >= after:
            raise KeyboardInterrupt
        seen += len(labels)
        return labels

    return asked


def honest(result: Distillation, target: Callable[[Any], Any], space: Any) -> bool:
    """Whether the bound is true, and the tree no worse than a constant, as far as 20 000 inputs tell."""
    product = space.product if isinstance(space, ft.Rows) else space
    inputs = product.batch(draw(Region.whole(product), Stream.named(99, "judge"), 0, 20_000).T)
    labels = np.asarray(target(inputs))
    error = float((result.tree.predict(inputs) != labels).mean())
    constant = 1 - max(np.unique(labels, return_counts=True)[1]) / len(labels)
    enough = result.certificate.samples > 100  # fewer do not tell a tree from a constant
    return error <= result.certificate.error_bound + 0.02 and (error <= constant + 0.02 or not enough)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("after", [400, 900])
def test_an_interrupt_leaves_a_bound(door: str, after: int) -> None:
    target, space, options = DOORS[door]
    result = ft.distill(stopped(target, after), space, 0.02, DELTA, **options)
    assert result.reason == "interrupted"
    assert result.certificate.error_bound < (0.9 if after < 900 or "bits" in door else 0.7)
    assert honest(result, target, space)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("queries", [400, 1_000])
def test_queries_leave_a_bound(door: str, queries: int) -> None:
    target, space, options = DOORS[door]
    result = ft.distill(target, space, 0.02, DELTA, max_queries=queries, **options)
    assert result.reason == f"max_queries = {queries}"
    assert result.queries.asked <= queries
    assert result.certificate.error_bound < (0.9 if queries < 1_000 or "bits" in door else 0.7)
    assert honest(result, target, space)


@pytest.mark.parametrize("learner", ["cart", "id3", "c45", "streed"])
@pytest.mark.parametrize("space", [BITS, NUMBERS])
def test_an_interrupted_learner_has_a_bound_too(learner: str, space: ft.ProductSpace) -> None:
    target = votes if space is BITS else curved
    result = getattr(ft.learners, learner)(stopped(target, 600), space, 0.02, DELTA)
    assert result.reason == "interrupted"
    assert result.certificate.error_bound < 0.75
