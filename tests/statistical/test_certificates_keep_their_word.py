"""How often a certificate of `distill` is false: no more often than delta, and the check sees planted faults.

First the protocol alone, under the hardest conditions: every tree that a simulated run can come up with has an error
of exactly epsilon, so every certificate is false. Then whole runs, whose true errors are known exactly. Counts of
independent runs with fixed seeds are compared with the binomial tail at delta; ALARM is the chance that code which
just keeps its promise fails such a check with fresh seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree.certificates.attempts import Attempt, Attempts
from fidelitree.theory.sequential import level_of_attempt
from fidelitree.trees.tree import Tree
from small import Bits, true_error

ALARM = 1e-7

# --- the protocol alone: every feature is 1 with probability epsilon, the target is 0, and tree i predicts feature i

EPSILON, DELTA = 0.1, 0.2
TREES = 64
SPACE = ft.ProductSpace.bernoulli(TREES, EPSILON)
ALL_TREES = [Tree.build(SPACE, [(i, 1, 2), 0, 1], [0, 1]) for i in range(TREES)]
POOL, STEP, INPUTS = 24, 4, 240
READY = 12  # inputs without a mistake before an attempt is opened

Fault = Callable[[Attempts, Bits, Bits], None]


def no_fault(attempts: Attempts, grown_on: Bits, gate: Bits) -> None:
    """What the newest attempt takes from before it was opened: nothing."""


def gate_counted(attempts: Attempts, grown_on: Bits, gate: Bits) -> None:
    _count(attempts.all[-1], gate)


def growth_counted(attempts: Attempts, grown_on: Bits, gate: Bits) -> None:
    _count(attempts.all[-1], grown_on)


def delta_undivided(attempts: Attempts, grown_on: Bits, gate: Bits) -> None:
    attempts.all[-1].level = attempts.delta


def _count(attempt: Attempt, inputs: Bits) -> None:
    attempt.count(int(attempt.tree.predict(inputs).sum()), len(inputs))


def certified_attempt(rng: np.random.Generator, fault: Fault) -> int:
    """The number of the attempt that is certified in a run where no tree is good enough; 0 for none.

    The run keeps the tree with the fewest mistakes on everything seen so far, counted inputs included, and opens an
    attempt for it after a gate of inputs without one. All attempts read the same inputs.
    """
    inputs = (rng.random((INPUTS, TREES)) < EPSILON).astype(np.uint8)
    labels = np.zeros(STEP, np.intp)
    attempts = Attempts(EPSILON, DELTA)
    grown, grown_until, at = int(inputs[:POOL].sum(axis=0).argmin()), POOL, POOL
    while at < INPUTS:
        batch, at = inputs[at : at + STEP], at + STEP
        attempts.count(batch, labels)
        for attempt in attempts.all:
            if attempt.certifies(EPSILON):
                return attempt.number
        if batch[:, grown].any():
            grown, grown_until = int(inputs[:at].sum(axis=0).argmin()), at
        elif at - grown_until >= READY and all(attempt.tree != ALL_TREES[grown] for attempt in attempts.all):
            attempts.open(ALL_TREES[grown])
            fault(attempts, inputs[:grown_until], inputs[grown_until:at])
    return 0


def certified(fault: Fault, runs: int, seed: int) -> np.ndarray:
    """How often each attempt was the certified one; entry 0 counts the runs that certified nothing."""
    rng = np.random.default_rng(seed)
    return np.bincount([certified_attempt(rng, fault) for _ in range(runs)], minlength=3)


def broken(counts: np.ndarray) -> bool:
    """Whether more runs ended with a certificate, each of them false, than delta allows."""
    return too_many(int(counts[1:].sum()), int(counts.sum()), DELTA, ALARM)


def test_trees_with_an_error_of_epsilon_are_certified_with_at_most_delta(soak: bool) -> None:
    counts = certified(no_fault, 20_000 if soak else 2_000, seed=1)
    assert not broken(counts)
    for attempt in range(1, len(counts)):
        assert not too_many(int(counts[attempt]), int(counts.sum()), level_of_attempt(attempt, DELTA), ALARM)
    assert counts[1:].sum() > 0.05 * counts.sum(), "the runs are no walk-over"
    assert counts[2:].sum() > 0, "and not the first attempt's alone"


@pytest.mark.parametrize("fault", [gate_counted, growth_counted, delta_undivided])
def test_planted_faults_of_the_protocol_would_be_seen(fault: Fault) -> None:
    assert broken(certified(fault, 1_000, seed=2))


# --- whole runs


class Case(NamedTuple):
    target: Callable[[Any], Any]
    space: ft.ProductSpace
    epsilon: float
    max_queries: int | None


def case_of(seed: int) -> Case:
    """Random trees and paths, which can be learnt, and majorities, tribes and linear rules, which are hard."""
    rng = np.random.default_rng(seed)
    kind = ("balanced", "chain", "majority", "tribes", "linear")[seed % 5]
    n = int(rng.integers(8, 13 if kind in ("balanced", "chain") else 10))
    space = ft.ProductSpace.bernoulli(n, rng.uniform(0.1, 0.9, n) if seed % 2 else [0.5, 0.3, 0.1][seed % 3])
    weights = rng.normal(size=n)
    kinds: dict[str, Callable[[], Callable[[Any], Any]]] = {
        "balanced": lambda: ft.targets.balanced(space, 4, seed),
        "chain": lambda: ft.targets.chain(space, n, seed),
        "majority": lambda: ft.targets.majority(n),
        "tribes": lambda: lambda rows: ft.targets.tribes(2, n // 2)(rows[:, : n // 2 * 2]),
        "linear": lambda: lambda rows: rows @ weights > weights.sum() / 2,
    }
    return Case(kinds[kind](), space, (0.1, 0.2)[seed // 5 % 2], None if kind in ("balanced", "chain") else 140)


class Tally(NamedTuple):
    runs: int
    false: int
    shares: list[float]
    """Of each run, the true error over the error that was certified."""


def distil_all(delta: float, seeds: range) -> Tally:
    """Runs that drew their test inputs; a certificate by enumeration must be right whatever delta is."""
    shares, false = [], 0
    for seed in seeds:
        case = case_of(seed)
        result = ft.distill(case.target, case.space, case.epsilon, delta, seed=seed, max_queries=case.max_queries)
        error, bound = true_error(result.tree, case.target, case.space), result.certificate.error_bound
        if result.certificate.method == "exact":
            assert error == pytest.approx(bound, abs=1e-12)
            continue
        shares.append(error / bound if bound else np.inf)
        false += error > bound + 1e-12
    return Tally(len(shares), false, shares)


@pytest.mark.parametrize(("delta", "start"), [(0.05, 0), (0.2, 1000)])
def test_certified_bounds_of_whole_runs_are_true(delta: float, start: int, soak: bool) -> None:
    tally = distil_all(delta, range(start, start + (1000 if soak else 100)))
    assert not too_many(tally.false, tally.runs, delta, ALARM)
    assert tally.runs > 50, "most runs draw"
    assert np.quantile(tally.shares, 0.75) > 0.35, "the runs are no walk-over"


def test_a_certificate_that_is_only_the_estimate_would_be_seen() -> None:
    from benchmarks.campaign.faults import deciding

    with deciding(lambda errors, samples, epsilon, level: errors <= epsilon * samples):
        tally = distil_all(0.05, range(80))
    assert too_many(tally.false, tally.runs, 0.05, ALARM)
