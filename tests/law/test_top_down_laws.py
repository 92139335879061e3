"""Algorithm 1 as the package runs it: its trace obeys the corrected lemmas and size theorem, and is the reference's."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import fidelitree as ft
from law import laws
from law.optima import UNIT, Facts, biases, tables_of

Floats = NDArray[np.float64]

STEP_LAWS = [
    laws.lemma_4_4_corrected,
    laws.lemma_4_5_corrected,
    laws.lemma_4_6_corrected,
    laws.lemma_4_7_corrected,
    laws.size_form_1,
    laws.size_form_2,
    laws.size_form_3,
]


@dataclass(frozen=True)
class Grown(Facts):
    """Facts whose growth was measured on the package instead of worked out here."""

    growth: tuple[Floats, Floats, Floats]


def run(table: NDArray[np.uint8], bias: tuple[int, ...], epsilon: float = 0.0) -> ft.Distillation:
    space = ft.ProductSpace.bernoulli(len(bias), [p / UNIT for p in bias])
    return ft.build_top_down(ft.targets.TruthTable(table), space, epsilon)


def grown(tables: NDArray[np.uint8], bias: tuple[int, ...]) -> Grown:
    """Score of each step, cost and error before it; a record holds them after its split."""
    start = Facts(tables, bias)
    growth = np.zeros((3, len(tables), 2 ** len(bias) - 1))
    for row, table in enumerate(tables):
        trace = run(table, bias).trace
        steps = len(trace)
        growth[0, row, :steps] = [record.score for record in trace]
        growth[1, row, :steps] = [start.influence[row], *(record.cost for record in trace)][:steps]
        growth[2, row, :steps] = [start.error[row], *(record.error for record in trace)][:steps]
    return Grown(tables, bias, (growth[0], growth[1], growth[2]))


@cache
def all_grown(n: int) -> list[Grown]:
    """Every target with every bias; of three bits a quarter of the targets with each bias, of four bits 16 of them.

    FIDELITREE_SOAK=1 takes all targets of three bits.
    """
    step = {3: 1 if os.environ.get("FIDELITREE_SOAK") == "1" else 4, 4: 512}.get(n, 1)
    return [grown(tables_of(n)[at % step :: step], bias) for at, bias in enumerate(biases(n))]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_trace_has_the_reference_scores_and_costs(n: int) -> None:
    """Achieved values, not choices: equal scores may be split in any order, which changes errors but not scores."""
    for t in all_grown(n):
        score, cost, _ = Facts(t.tables, t.biases).growth
        np.testing.assert_allclose(t.growth[0], score, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(t.growth[1] * (score > 0), cost * (score > 0), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_trace_has_the_reference_errors_where_no_scores_tie(n: int) -> None:
    compared = 0
    for t in all_grown(n):
        score, _, error = Facts(t.tables, t.biases).growth
        distinct = ((np.diff(score, axis=1) != 0) | (score[:, 1:] == 0)).all(axis=1)
        alone = distinct & ~_tied_features(t)
        compared += int(alone.sum())
        np.testing.assert_allclose(t.growth[2][alone], (error * (score > 0))[alone], rtol=1e-12, atol=1e-14)
    assert compared > 0


def _tied_features(t: Facts) -> NDArray[np.bool_]:
    ordered = np.sort(t.scores, axis=2)
    if ordered.shape[2] < 2:
        return np.zeros(len(ordered), dtype=bool)
    return np.asarray(((ordered[:, :, -1] == ordered[:, :, -2]) & (ordered[:, :, -1] > 0)).any(axis=1))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_lemma_4_3_cost_drops_by_the_score(n: int) -> None:
    for t in all_grown(n):
        score, cost, _ = t.growth
        after = np.append(cost[:, 1:], np.zeros((len(cost), 1)), axis=1)
        np.testing.assert_allclose(cost - after, score, atol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_lemma_4_1_error_is_at_most_the_cost(n: int) -> None:
    for t in all_grown(n):
        assert not laws.exceeds(t.growth[2], t.growth[1]).any()


@pytest.mark.parametrize("law", STEP_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_law_holds_for_the_trace(law: laws.Law, n: int) -> None:
    for t in all_grown(n):
        bad = law(t)
        assert not bad.any(), f"{t.tables[bad.argmax()]} with biases {t.biases} out of {UNIT}"


@pytest.mark.parametrize("n", [2, 3, 4])
def test_size_at_every_error_level(n: int) -> None:
    """Asked for any epsilon from one error of the trace up to the error before, Algorithm 1 stops there."""
    rng = np.random.default_rng(n)
    for _ in range(40):
        bias = biases(n)[rng.integers(len(biases(n)))]
        table = tables_of(n)[rng.integers(len(tables_of(n)))]
        constant = run(table, bias, 0.5)
        errors = [constant.certificate.error_bound, *(record.error for record in run(table, bias).trace)]
        assert constant.tree.size == 1
        for epsilon in {*errors, *(error * 0.999 for error in errors)}:
            result = run(table, bias, epsilon)
            assert result.tree.size == 1 + next(t for t, error in enumerate(errors) if error <= epsilon)
            assert result.certificate.holds
            assert result.certificate.error_bound <= epsilon
