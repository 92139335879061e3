"""How often a certificate of `distill` is false: no more often than delta, and the check sees planted faults.

First the protocol alone, under the hardest conditions: every tree that a simulated run can come up with has an error
of exactly epsilon, so every certificate is false. Then whole runs, whose true errors are known exactly. Counts of
independent runs with fixed seeds are compared with the binomial tail at delta; ALARM is the chance that code which
just keeps its promise fails such a check with fresh seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from chances import too_many
from fidelitree import attempts as protocol
from fidelitree import auto
from fidelitree.attempts import Attempt, Attempts
from fidelitree.tree import Tree
from small import Bits, true_error

ALARM = 1e-7
EPSILON, DELTA = 0.1, 0.2

# Every feature is 1 with probability epsilon, the target is 0, and tree i predicts feature i.
TREES = 64
SPACE = ft.ProductSpace.bernoulli(TREES, EPSILON)
ALL_TREES = [Tree.build(SPACE, [(i, 1, 2), 0, 1], [0, 1]) for i in range(TREES)]
POOL, STEP, GATE, INPUTS = 24, 4, 12, 240

Fault = Callable[[Attempts, Attempt, Bits, Bits], None]


def no_fault(attempts: Attempts, opened: Attempt, grown_on: Bits, gate: Bits) -> None:
    """What an attempt counts before it was opened: nothing."""


def gate_counted(attempts: Attempts, opened: Attempt, grown_on: Bits, gate: Bits) -> None:
    count(opened, gate)


def growth_counted(attempts: Attempts, opened: Attempt, grown_on: Bits, gate: Bits) -> None:
    count(opened, grown_on)


def delta_undivided(attempts: Attempts, opened: Attempt, grown_on: Bits, gate: Bits) -> None:
    opened.level = attempts.delta


def count(attempt: Attempt, inputs: Bits) -> None:
    attempt.count(int(attempt.tree.predict(inputs).sum()), len(inputs))


def certifies_something(rng: np.random.Generator, fault: Fault) -> bool:
    """A run in which no tree is good enough.

    It keeps the tree with the fewest mistakes on everything seen so far, counted inputs included, and opens an attempt
    for it after GATE inputs in a row without one. All attempts read the same inputs.
    """
    inputs = (rng.random((INPUTS, TREES)) < EPSILON).astype(np.uint8)
    labels = np.zeros(STEP, np.intp)
    attempts = Attempts(EPSILON, DELTA)
    grown, at, grown_until = int(inputs[:POOL].sum(axis=0).argmin()), POOL, POOL
    while at < INPUTS:
        batch, at = inputs[at : at + STEP], at + STEP
        attempts.count(batch, labels)
        if any(attempt.certifies(EPSILON) for attempt in attempts.all):
            return True
        if batch[:, grown].any():
            grown, grown_until = int(inputs[:at].sum(axis=0).argmin()), at
        elif at - grown_until >= GATE:
            before = len(attempts.all)
            attempts.open(ALL_TREES[grown])
            if len(attempts.all) > before:
                fault(attempts, attempts.all[-1], inputs[:grown_until], inputs[grown_until:at])
    return False


def share(fault: Fault, paths: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    return sum(certifies_something(rng, fault) for _ in range(paths))
