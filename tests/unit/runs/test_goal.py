"""What was asked for and what was found stand in the certificate, each in its place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import fidelitree as ft
from fidelitree.asking.counted import Counted
from fidelitree.asking.memory import Memory
from fidelitree.certificates.attempts import Attempts
from fidelitree.certificates.certificate import ASSUMES_UNFORESEEN, Certificate
from fidelitree.runs import goal as issue
from fidelitree.runs.goal import Goal
from fidelitree.runs.input_source import DrawnSource
from fidelitree.runs.outcome import Outcome
from fidelitree.runs.session import Session
from fidelitree.theory.sequential import error_bound, level_in
from fidelitree.trees.tree import Tree
from small import cube

SPACE = ft.ProductSpace.bernoulli(3)
FIRST = Tree.build(SPACE, [(1, 1, 2), 0, 1], [0, 1])
SECOND = Tree.build(SPACE, [(0, 1, 2), 0, 1], [0, 1])
PRUNED = Tree.constant(SPACE, 1)
DETERMINISTIC, DISTRIBUTION = "the target is deterministic", "inputs follow the stated product distribution"


def run(deterministic: bool) -> Session:
    """Eight labels asked to learn, eighty to test the second of two attempts, one of them wrong."""
    counted = Counted(SECOND.predict, SPACE, Memory() if deterministic else None)
    counted.ask(cube(3), "label")
    inputs = np.tile(cube(3), (10, 1))
    counted.ask(inputs, "certify")
    attempts = Attempts(0.3, 0.05)
    attempts.open(FIRST)
    attempts.open(SECOND)
    labels = SECOND.predict(inputs)
    labels[5] = 1 - labels[5]
    attempts.count(inputs, labels)
    return Session(counted, DrawnSource(SPACE, 7), attempts)


def test_the_certificate_of_an_attempt_says_all_about_it() -> None:
    tested = run(deterministic=True)
    outcome = Outcome(PRUNED, tested.attempts.all[1], differs=0.125)
    wanted = Goal(0.3, 0.05, 7, seed_chosen=False, split_quality=True)
    level = level_in("run", 2, 0.05)
    made = issue.result_of(outcome, tested, wanted, "").certificate
    assert made.confusion is not None
    assert (made.confusion.tests, made.confusion.wrong) == (80, 41)
    assert replace(made, confusion=None) == Certificate(
        epsilon=0.3,
        delta=0.05,
        error_bound=error_bound(1, 80, level) + 0.125,
        samples=80,
        errors=41,
        tested_errors=1,
        method="sequential",
        tree_digest=PRUNED.digest,
        space_digest=SPACE.digest,
        seed=7,
        seed_chosen=False,
        split_quality=True,
        assumes=(DETERMINISTIC, DISTRIBUTION),
        protocol="prequential",
        attempts=2,
        attempt=2,
        level=level,
        differs=0.125,
        tested_digest=tested.attempts.all[1].tree.digest,
        queries={"label": 8, "certify": 80},
    )


def test_a_noisy_target_is_not_assumed_to_be_deterministic() -> None:
    tested = run(deterministic=False)
    outcome = Outcome(SECOND, tested.attempts.all[1], differs=0.0)
    certificate = issue.result_of(outcome, tested, Goal(0.3, 0.05, 7), "").certificate
    assert certificate.assumes == (DISTRIBUTION, ASSUMES_UNFORESEEN)
    assert (certificate.seed_chosen, certificate.split_quality) == (True, False)


def test_an_error_that_is_known_makes_the_certificate_exact() -> None:
    tested = run(deterministic=True)
    outcome = Outcome(PRUNED, tested.attempts.all[0], differs=0.125, error=0.5)
    found = issue.result_of(outcome, tested, Goal(None, 0.05, 7), "").certificate
    assert found.confusion is not None
    assert (found.confusion.level, found.confusion.wrong) == (None, 0.5)
    found = replace(found, confusion=None)
    assert found == issue.exact_certificate(tested.counted, PRUNED.digest, 0.5, None)
    assert found == Certificate(
        epsilon=None,
        delta=0.0,
        error_bound=0.5,
        samples=88,
        errors=None,
        method="exact",
        tree_digest=PRUNED.digest,
        space_digest=SPACE.digest,
        queries={"label": 8, "certify": 80},
    )


def test_an_exact_error_that_rounding_puts_above_one_is_one() -> None:
    assert issue.exact_certificate(run(True).counted, PRUNED.digest, 1 + 1e-15, 0.1).error_bound == 1


def test_nothing_more_is_wanted_unless_it_is_said() -> None:
    wanted = Goal(0.3, 0.05, 7)
    assert (wanted.seed_chosen, wanted.split_quality, wanted.few_leaves, wanted.smallest) == (True, False, False, False)
