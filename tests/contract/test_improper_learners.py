"""What every learner of functions that are no trees must do; they are found in their registry."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.repeats import most_checks
from fidelitree.learners import IMPROPER, LearntFunction
from fidelitree.learners.gopalan_kalai_klivans import projected
from fidelitree.learners.spectrum import Halves, Polynomial, characters
from mixed import MIXED
from small import cube

BITS = ft.ProductSpace.bernoulli(14, 0.4)
TARGET = ft.targets.chain(BITS, 4, seed=3)
FEW = ft.ProductSpace.bernoulli(5)
Learn = Callable[..., LearntFunction]


@pytest.fixture(params=sorted(IMPROPER))
def learn(request: pytest.FixtureRequest) -> Learn:
    return IMPROPER[request.param][0]


def answers(batch: Any) -> Any:
    return TARGET.predict(batch)


def test_one_signature_and_a_file_that_tells_its_end(learn: Learn) -> None:
    given = list(inspect.signature(learn).parameters)
    assert given == ["target", "space", "epsilon", "delta", "seed", "options"]
    assert getattr(ft.learners, learn.__name__) is learn
    text = " ".join((inspect.getdoc(inspect.getmodule(learn)) or "").split())
    assert "Running time:" in text
    assert "Where its guarantee ends:" in text


def test_its_certificate_is_one_of_certify_and_its_answers_are_counted(learn: Learn) -> None:
    asked = 0

    def watched(batch: Any) -> Any:
        nonlocal asked
        asked += len(batch)
        return answers(batch)

    results = []
    for seed in range(1, 5):
        asked = 0
        results.append(learn(watched, BITS, 0.1, 0.05, seed))
        told = sum(results[-1].queries.values())
        assert asked <= told + 64 + most_checks(told), "repeats are remembered, and some of them checked"
    held = [one for one in results if one.certificate.holds]
    assert len(held) >= 3, "a function that errs a little less than epsilon may be left undecided"
    result = held[0]
    assert result.certificate.entropy is not None, "inputs that nobody could foresee"
    assert result.certificate.space_digest == BITS.digest
    inputs = BITS.draw(4_000, seed=9)
    assert (result.predict(inputs) != answers(inputs)).mean() <= 0.1


def test_same_seed_same_function(learn: Learn) -> None:
    one, two = (learn(answers, BITS, 0.1, 0.05, 7).function for _ in range(2))
    assert one == two


@pytest.mark.parametrize("label", [0, "spam"])
def test_a_constant(learn: Learn, label: int | str) -> None:
    result = learn(lambda batch: np.full(len(batch), label), FEW, 0.1)
    assert result.certificate.holds
    assert result.predict(np.zeros((2, 5))).tolist() == [label] * 2


def test_no_error_where_none_is_allowed(learn: Learn) -> None:
    result = learn(lambda batch: np.where(batch[:, 3] == 1, "yes", "no"), FEW, 0.0)
    assert (result.certificate.method, result.certificate.error_bound) == ("exact", 0)
    assert result.predict(cube(5)).tolist() == ["yes" if row[3] else "no" for row in cube(5)]


@pytest.mark.parametrize("most", [60, 700])
def test_a_budget_of_queries(learn: Learn, most: int) -> None:
    result = learn(answers, BITS, 0.05, max_queries=most)
    assert sum(result.queries.values()) <= most + 1
    inputs = BITS.draw(4_000, seed=9)
    assert (result.predict(inputs) != answers(inputs)).mean() <= result.certificate.error_bound


def test_other_features_more_labels_and_unknown_options_are_refused(learn: Learn) -> None:
    with pytest.raises(ft.ParameterError, match="space must hold bits only for this learner"):
        learn(lambda batch: np.zeros(3), MIXED, 0.1)
    with pytest.raises(ft.ParameterError, match="target must have at most two labels for this learner; got 3"):
        learn(lambda batch: batch[:, :2].sum(axis=1), FEW, 0.1)
    with pytest.raises(ft.ParameterError, match="options must be its own or"):
        learn(answers, BITS, wrong=3)


def test_a_hidden_parity_is_one_coefficient() -> None:
    found = ft.learners.kushilevitz_mansour(ft.targets.parity(20, 5), ft.ProductSpace.bernoulli(20), 0.1)
    assert list(found.function.coefficients) == [(0, 1, 2, 3, 4)]
    assert str(found.function) == "a polynomial of 1 term, degree 5"


def test_an_agnostic_learner_bears_noise() -> None:
    """A fixed tenth of all inputs has the wrong label; nothing that fits is small."""
    flipped = np.random.default_rng(0).random(1 << 12) < 0.1

    def noisy(batch: Any) -> Any:
        place = (batch.astype(np.int64) << np.arange(12)).sum(axis=1)
        return (batch[:, 0] & batch[:, 1]) ^ flipped[place]

    found = ft.learners.gopalan_kalai_klivans(noisy, ft.ProductSpace.bernoulli(12), 0.2)
    assert found.certificate.holds
    assert found.certificate.epsilon == 0.2


def test_a_monotone_target_is_learnt_from_labels_alone() -> None:
    found = ft.learners.odonnell_servedio(ft.targets.majority(9), ft.ProductSpace.bernoulli(9), 0.1)
    assert found.certificate.holds
    assert set(found.queries) == {"label", "certify"}
    with pytest.raises(ft.ParameterError, match="degree must be at least 1; got 0"):
        ft.learners.odonnell_servedio(ft.targets.majority(9), ft.ProductSpace.bernoulli(9), degree=0)


def test_projection_is_the_nearest_point() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        told = {(i,): float(value) for i, value in enumerate(rng.normal(size=5))}
        near = projected(told, 1.0)
        kept = np.array([near.get(key, 0.0) for key in told])
        wanted = np.array(list(told.values()))
        assert np.abs(kept).sum() <= 1 + 1e-12
        for _ in range(50):
            other = rng.normal(size=5)
            other /= max(1.0, np.abs(other).sum())
            assert ((wanted - kept) ** 2).sum() <= ((wanted - other) ** 2).sum() + 1e-9


def test_characters_are_orthonormal_and_large_ones_are_found() -> None:
    biases = np.array([0.3, 0.5, 0.8])
    bits = cube(3)
    chances = np.prod(np.where(bits == 1, biases, 1 - biases), axis=1)
    told = characters(bits, biases)
    np.testing.assert_allclose(
        (chances[:, None, None] * told[:, :, None] * told[:, None, :]).sum(axis=0), np.eye(3), atol=1e-12
    )
    every = [(np.repeat(bits, 8, axis=0), np.tile(bits, (8, 1))) for _ in range(3)]
    halves = []
    for k, (one, two) in enumerate(every, 1):
        alike = (one[:, k:] == two[:, k:]).all(axis=1)
        halves.append((one[alike], two[alike]))
    zero = tuple((np.zeros(len(one), np.intp), np.zeros(len(one), np.intp)) for one, _ in halves)
    found = Halves(np.full(3, 0.5), tuple(halves), zero).large(
        lambda rows, codes: 1.0 - 2 * (rows[:, 0] ^ rows[:, 2]), 0.5
    )
    assert found == [(0, 2)]


def test_a_polynomial_with_a_threshold() -> None:
    both = Polynomial(ft.ProductSpace.bernoulli(2), ("no", "yes"), {(0,): 1.0, (1,): 1.0}, threshold=1.0)
    assert both.predict(cube(2)).tolist() == ["yes" if row.all() else "no" for row in cube(2)]
    assert both.degree == 1
