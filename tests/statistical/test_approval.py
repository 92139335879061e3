"""`assert_agrees`: how often Wald's test fails a model whose error is the approved one, or passes one that is worse.

Both are promised to happen with probability at most delta. Each count of 4,000 simulated calls is compared with the
binomial tail at that probability: it would be exceeded by correct code with a chance below one in a million.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chances import too_many
from fidelitree.runs.agree.claim import Approval
from fidelitree.theory.sequential import Bet

RUNS, DELTA = 4_000, 0.05


def verdicts(rule: Approval, error: float, seed: int) -> dict[bool | None, int]:
    """What many calls end with for a model of this error; portions are asked as an audit asks them."""
    random = np.random.default_rng(seed)
    found: dict[bool | None, int] = {True: 0, False: 0, None: 0}
    for _ in range(RUNS):
        bet = Bet(rule.level)
        while bet.samples < rule.patience and (rows := rule.looks(bet)[0]):
            rows = int(min(rows, rule.patience - bet.samples))
            bet.count(int(random.binomial(rows, error)), rows)
        found[rule.verdict(bet.errors, bet.samples)] += 1
    return found


@pytest.mark.parametrize("approved", [0.0, 0.05, 0.15])
def test_both_errors_are_at_most_delta(approved: float) -> None:
    rule = Approval.of(approved, 0.02, DELTA)
    assert not too_many(verdicts(rule, rule.low, 1)[False], RUNS, DELTA, alarm=1e-6)
    assert not too_many(verdicts(rule, rule.high, 2)[True], RUNS, DELTA, alarm=1e-6)


def test_a_model_that_is_three_points_worse_fails() -> None:
    """By Wald's approximation one in 10,000 passes; 98 of 100 must fail."""
    rule = Approval.of(0.1, 0.02, 0.01)
    assert not too_many(RUNS - verdicts(rule, 0.13, 3)[False], RUNS, 0.02, alarm=1e-6)


def test_this_test_can_fail() -> None:
    rule = Approval.of(0.05, 0.02, DELTA)
    bold = replace(rule, delta=4 * DELTA)  # a test that spends four times what it says
    assert too_many(verdicts(bold, rule.low, 4)[False], RUNS, DELTA, alarm=1e-6)
