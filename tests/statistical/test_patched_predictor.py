"""A predictor that was patched where one audit caught it: the next audit, with the same seed, is a test all the same.

The predictor errs on twice epsilon of inputs. Its maker reads the test inputs of an audit, repairs exactly these, and
has it audited again. 100 times, delta = 0.05: ``too_many`` accuses audits that just keep their word with probability
1e-6. Inputs have 40 bits, so that what is repaired weighs less than 1e-8.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.runs.agree import audit

SPACE = ft.ProductSpace.bernoulli(40)
EPSILON, DELTA, TRIALS, ALARM = 0.0625, 0.05, 100, 1e-6


def target(batch: Any) -> Any:
    return batch[:, 0]


class Patched:
    """Wrong where three bits are 1, an eighth of all inputs, but for those that were repaired."""

    def __init__(self, repaired: frozenset[bytes] = frozenset()) -> None:
        self.repaired = repaired

    def __call__(self, batch: Any) -> Any:
        wrong = batch[:, 5:8].all(axis=1)
        known = np.array([row.tobytes() in self.repaired for row in np.ascontiguousarray(batch)])
        return target(batch) ^ (wrong & ~known)


def attacked(seed: int) -> ft.Certificate:
    """Audit, repair what was asked, audit again with the same seed."""
    seen: list[bytes] = []

    def spied_on(batch: Any) -> Any:
        seen.extend(row.tobytes() for row in np.ascontiguousarray(batch))
        return target(batch)

    ft.certify(Patched(), spied_on, SPACE, EPSILON, DELTA, seed=seed)
    return ft.certify(Patched(frozenset(seen)), target, SPACE, EPSILON, DELTA, seed=seed)


def false_ones() -> int:
    """The error is 1/8, less what weighs nothing."""
    return sum(attacked(seed).error_bound < 0.1249 for seed in range(TRIALS))


def test_audits_with_a_chosen_seed_cannot_be_trained_for(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()  # what the machine gives, but the same on every run of this test

    def unforeseen() -> str:
        return hashlib.sha256(f"audit {next(numbers)}".encode()).hexdigest()[:32]

    monkeypatch.setattr(audit, "fresh_entropy", unforeseen, raising=False)
    assert not too_many(false_ones(), TRIALS, DELTA, ALARM)


def test_the_same_attack_succeeds_where_entropy_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "fresh_entropy", lambda: "0" * 32)
    assert false_ones() == TRIALS
