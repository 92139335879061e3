"""Bounds that a surrogate helps are false no more often than their level, at any look; two faults go red.

Labels are x1, but for a share of inputs (x3); the surrogate answers x1, but for another share (x2); the tree answers
x1, but for a third (x0). So the tree's error and its disagreement with the surrogate are known exactly. Seeds are
fixed; ALARM is the chance that code which just keeps its promise fails with others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.asking.journal.ledger import LedgerEntry
from fidelitree.certificates.helped import Adviser, HelpedAttempt
from fidelitree.theory.control import Disagreement
from fidelitree.theory.sequential import FRONTIER
from fidelitree.trees.ensemble import Ensemble
from fidelitree.trees.tree import Tree

ALARM, LEVEL, DRAWS = 1e-7, 0.2, 2_000
STEPS = [20 + 10 * look for look in range(16)]
SPACE = ft.ProductSpace.bernoulli(5, [0.12, 0.5, 0.03, 0.04, 0.5])
TREE = Tree.build(SPACE, [(0, 1, 4), (1, 2, 3), 0, 1, (1, 5, 6), 1, 0], [0, 1])


def xor(one: float, two: float) -> float:
    return one * (1 - two) + two * (1 - one)


ERROR, DIFFERS = xor(0.12, 0.04), xor(0.12, 0.03)


class Rule:
    """A surrogate that was fixed beforehand; where it is ``told`` the labels, it was fitted to what is counted."""

    digest = "rule"
    told: np.ndarray | None = None

    def predict_inner(self, inner: np.ndarray) -> np.ndarray:
        return inner[:, 1] ^ inner[:, 2] if self.told is None else self.told


Drawn = Callable[[np.random.Generator], Disagreement]


def exact(rng: np.random.Generator) -> Disagreement:
    return Disagreement(DIFFERS)


def drawn(rng: np.random.Generator) -> Disagreement:
    return Disagreement(rng.binomial(DRAWS, DIFFERS) / DRAWS, DRAWS)


def only_estimated(rng: np.random.Generator) -> Disagreement:
    return Disagreement(rng.binomial(150, DIFFERS) / 150)


def false(rng: np.random.Generator, disagreement: Drawn, fitted: bool) -> bool:
    """Whether the bound is below the error at any look."""
    rule = Rule()
    tested = HelpedAttempt(TREE, 0.5, LedgerEntry(FRONTIER, 1, {}), Adviser(cast(Ensemble, rule)))
    tested.level, tested.disagreement = LEVEL, disagreement(rng)
    for rows in STEPS:
        inner = (rng.random((rows, 5)) < SPACE.biases).astype(np.uint8)
        labels: Any = inner[:, 1] ^ inner[:, 3]
        rule.told = labels if fitted else None
        tested.see(inner, labels)
        if tested.certifies(ERROR * (1 - 1e-9)):
            return True
    return False


def hits(disagreement: Drawn, runs: int, seed: int, fitted: bool = False) -> int:
    rng = np.random.default_rng(seed)
    return sum(false(rng, disagreement, fitted) for _ in range(runs))


@pytest.mark.parametrize("disagreement", [exact, drawn])
def test_a_helped_bound_keeps_its_level(disagreement: Drawn, soak: bool) -> None:
    runs = 20_000 if soak else 600
    found = hits(disagreement, runs, seed=21)
    assert not too_many(found, runs, LEVEL, ALARM)
    assert found > 0.01 * runs, "the runs are no walk-over"


def test_a_disagreement_that_is_only_estimated_is_seen() -> None:
    assert too_many(hits(only_estimated, 600, seed=22), 600, LEVEL, ALARM)


def test_a_surrogate_that_was_fitted_to_what_is_counted_is_seen() -> None:
    assert too_many(hits(exact, 200, seed=23, fitted=True), 200, LEVEL, ALARM)
