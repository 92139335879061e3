"""Targets that list their own answers: certificates are exact, and trees are no larger than they must be."""

from __future__ import annotations

import numpy as np
import pytest

import fidelitree as ft
from small import cube

MAJORITY = ft.targets.majority(13)
TABLE = ft.targets.TruthTable(MAJORITY(cube(13)))
RARE = ft.ProductSpace.bernoulli(13, 0.1)
CARRY = ft.targets.expression("a & b | c & (a ^ b) | d & e & f | g & h & i & j | k & ~l & m & n & o")


@pytest.mark.parametrize("seed", range(3))
def test_a_truth_table_ends_with_an_exact_certificate(seed: int) -> None:
    result = ft.distill(TABLE, RARE, 0.05, seed=seed)
    certificate = result.certificate
    assert (certificate.method, certificate.delta, certificate.holds) == ("exact", 0, True)
    assert certificate.error_bound == pytest.approx(ft.tree_error(result.tree, TABLE, RARE))


def test_a_circuit_ends_with_an_exact_certificate_for_fewer_labels_than_a_stranger() -> None:
    space = CARRY.space
    known = [ft.distill(CARRY, space, 0.1, seed=seed) for seed in range(3)]
    black_box = [ft.distill(CARRY.__call__, space, 0.1, seed=seed) for seed in range(3)]
    assert all(result.certificate.method == "exact" and result.certificate.holds for result in known)
    assert np.median([result.queries.asked for result in known]) < np.median([r.queries.asked for r in black_box])


def test_a_budget_ends_with_the_exact_error_of_what_there_is() -> None:
    result = ft.distill(CARRY, CARRY.space, 0.001, max_queries=60)
    assert result.reason == "max_queries = 60"
    assert (result.certificate.method, result.certificate.holds) == ("exact", False)
    assert result.certificate.error_bound == pytest.approx(ft.tree_error(result.tree, CARRY, CARRY.space))


def test_max_leaves_is_respected_and_its_error_exact() -> None:
    result = ft.distill(CARRY, CARRY.space, 0.05, max_leaves=3)
    assert result.tree.size <= 3
    assert result.certificate.error_bound == pytest.approx(ft.tree_error(result.tree, CARRY, CARRY.space))
    assert not result.certificate.holds


def test_a_noisy_answer_is_not_looked_up() -> None:
    result = ft.distill(TABLE, RARE, 0.05, deterministic=False)
    assert result.certificate.method == "sequential"


def test_a_circuit_that_is_too_large_to_know_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fidelitree.runs.known_answers.exact_error", lambda tree, counted: None)
    result = ft.distill(CARRY, CARRY.space, 0.1)
    assert (result.certificate.method, result.certificate.holds) == ("sequential", True)
