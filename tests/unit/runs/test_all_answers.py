"""Runs over any features that end by knowing every answer: no error at all, or exactly the error they state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fidelitree as ft
from fidelitree.errors import ParameterError
from fidelitree.runs import all_answers as everything
from fidelitree.runs import economics
from mixed import MIXED, every_input, mixed_spaces, mixed_tree

if TYPE_CHECKING:
    from collections.abc import Callable

FINITE = ft.ProductSpace(
    [
        ft.Boolean("owner", 0.3),
        ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
        ft.Numeric.from_values("rooms", [1, 1, 2, 2, 2, 3, 5]),
    ]
)


def rule(batch: Any) -> Any:
    return np.where(batch["job"] == "pilot", "fly", np.where((batch["rooms"] > 2) & (batch["owner"] == 1), "own", "-"))


def exact_error(tree: ft.Tree, target: Callable[[Any], Any], space: ft.ProductSpace) -> float:
    rows, chances = every_input(space)
    return float(chances[np.asarray(tree.predict(space.batch(rows))) != np.asarray(target(space.batch(rows)))].sum())


@pytest.fixture(autouse=True)
def short_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """These functions are small."""
    monkeypatch.setattr(everything, "MOST_WORK", 0)


def test_no_error_at_all() -> None:
    result = ft.distill(rule, FINITE, epsilon=0)
    certificate = result.certificate
    assert (certificate.method, certificate.delta, certificate.error_bound, certificate.errors) == ("exact", 0, 0, None)
    assert certificate.holds
    assert result.reason == "certified"
    assert result.tree.size == 4
    assert exact_error(result.tree, rule, FINITE) == 0
    assert result.queries.asked["enumerate"] == FINITE.points == certificate.samples == 24
    assert dict(result.queries.paid) == {"enumerate": 24, "check": 24}
    assert str(certificate).startswith("Exact: this tree agrees with the target on 100% of all inputs")


@settings(max_examples=30)
@given(mixed_spaces(finite=True), st.integers(0, 10_000), st.sampled_from([0.0, 1e-9, 0.02, 0.2]))
def test_the_error_is_the_true_one_and_small_enough(space: ft.ProductSpace, seed: int, epsilon: float) -> None:
    target = mixed_tree(space, np.random.default_rng(seed), ["a", "b", "c"])
    result = ft.distill(target, space, epsilon=epsilon, prefer="leaves")
    assert result.certificate.method == "exact"
    assert result.certificate.holds, result.reason
    assert result.certificate.error_bound == pytest.approx(exact_error(result.tree, target, space), abs=1e-12)
    assert result.tree.size <= max(1, target.size)


@pytest.mark.parametrize("epsilon", [0, 1e-13])
def test_inputs_that_almost_never_occur_count_too(epsilon: float) -> None:
    rare = {"x": 1 - 1e-6, "y": 1e-6}
    space = ft.ProductSpace([ft.Categorical("a", rare), ft.Categorical("b", rare), ft.Boolean("c", 0.5)])
    result = ft.distill(lambda batch: (batch["a"] == "y") & (batch["b"] == "y"), space, epsilon=epsilon)
    assert (result.certificate.holds, result.certificate.error_bound, result.tree.size) == (True, 0, 3)


def test_inputs_that_never_occur_do_not_count() -> None:
    space = ft.ProductSpace([ft.Categorical("a", {"x": 1, "y": 0}), ft.Boolean("b", 0.0), ft.Boolean("c", 0.5)])
    result = ft.distill(lambda batch: (batch["a"] == "y") | (batch["b"] == 1) | (batch["c"] == 1), space, epsilon=0)
    assert (result.certificate.error_bound, result.tree.size) == (0, 2)


def skewed() -> tuple[ft.ProductSpace, Callable[[Any], Any]]:
    """Random answers, and probabilities over thirty orders of magnitude."""
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.full(6, 0.05), 3)
    space = ft.ProductSpace([ft.Categorical(name, dict(enumerate(chances[i]))) for i, name in enumerate("abc")])
    answers = rng.integers(0, 2, (6, 6, 6))
    return space, lambda batch: answers[batch["a"], batch["b"], batch["c"]]


@pytest.mark.parametrize("epsilon", [0.0, 1e-7, 1e-3])
def test_probabilities_of_very_different_size(epsilon: float) -> None:
    space, target = skewed()
    result = ft.distill(target, space, epsilon=epsilon, prefer="leaves")
    error = exact_error(result.tree, target, space)
    assert result.certificate.error_bound == pytest.approx(error, abs=1e-15)
    assert error <= epsilon
    assert result.certificate.holds


def test_a_tree_without_an_error_is_found_however_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search may stop above an error that is a few millionths: then it goes on to the end."""
    monkeypatch.setattr(economics, "STEPS", 1)
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 2, (9, 9, 9, 2))
    space = ft.ProductSpace([*(ft.Categorical(name, range(9)) for name in "abc"), ft.Boolean("d", 0.5)])
    result = ft.distill(lambda b: answers[b["a"], b["b"], b["c"], b["d"].astype(int)], space, 2e-6, prefer="leaves")
    assert result.certificate.error_bound == 0
    assert result.tree.size > 300


@pytest.mark.parametrize("most", [1, 2, 3, 4, 9])
def test_max_leaves_ends_with_the_exact_error(most: int) -> None:
    result = ft.distill(rule, FINITE, epsilon=0, max_leaves=most)
    assert result.tree.size == {1: 1, 2: 2, 3: 2}.get(most, 4), "a third leaf alone would gain nothing"
    assert result.certificate.error_bound == pytest.approx(exact_error(result.tree, rule, FINITE), abs=1e-15)
    assert result.certificate.holds == (most >= 4)
    assert result.reason == ("certified" if most >= 4 else f"max_leaves = {most}")


@pytest.mark.parametrize("options", [{}, {"prefer": "leaves"}, {"epsilon": None, "max_queries": 500}])
def test_where_all_inputs_are_few_they_are_all_asked(options: dict[str, Any]) -> None:
    result = ft.distill(rule, FINITE, **options)
    assert result.certificate.method == "exact"
    assert result.queries.asked == 24
    assert result.certificate.error_bound == pytest.approx(exact_error(result.tree, rule, FINITE), abs=1e-15)


def test_the_papers_tree_from_all_answers() -> None:
    result = ft.distill(rule, FINITE, epsilon=0, strategy="influence")
    assert result.tree == ft.build_top_down(rule, FINITE, 0).tree
    assert result.certificate.error_bound == 0
    assert len(result.trace) == result.tree.size - 1


def test_one_feature_with_one_value() -> None:
    space = ft.ProductSpace([ft.Categorical("job", ["clerk"])])
    result = ft.distill(lambda batch: batch["job"] == "clerk", space, epsilon=0)
    assert (result.tree.size, result.queries.asked, result.tree.labels.tolist()) == (1, 1, [True])


def test_only_numbers_and_one_of_them_constant() -> None:
    space = ft.ProductSpace([ft.Numeric.from_values("a", range(40)), ft.Numeric.from_values("b", [7.5])])
    result = ft.distill(lambda batch: (batch["a"] > 12) & (batch["a"] <= 30.5) & (batch["b"] > 7), space, epsilon=0)
    assert (result.tree.size, result.certificate.error_bound) == (3, 0)


def test_no_error_of_a_noisy_target_is_zero() -> None:
    with pytest.raises(ParameterError, match="epsilon must be above 0 with deterministic=False"):
        ft.distill(rule, FINITE, epsilon=0, deterministic=False)


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        (MIXED, {}, "infinitely many inputs are more than 1,048,576; got 0 - raise max_queries"),
        (FINITE, {"max_queries": 23}, "24 inputs are more than 23; got 0"),
        (FINITE, {"max_seconds": 0}, "max_seconds = 0 ended the run; got 0"),
    ],
)
def test_no_error_needs_all_inputs(space: ft.ProductSpace, options: dict[str, Any], message: str) -> None:
    def never(batch: Any) -> Any:
        pytest.fail("refused before asking")

    with pytest.raises(ParameterError, match=message):
        ft.distill(never, space, epsilon=0, **options)


def test_an_interrupt_before_anything_was_learnt_leaves_a_true_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """With this budget all inputs are asked at once, in blocks; the first block is all there is."""
    monkeypatch.setattr("fidelitree.asking.counted.block_rows", lambda features: 10)
    calls: list[int] = []

    def target(batch: Any) -> Any:
        calls.append(len(batch["rooms"]))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return rule(batch)

    result = ft.distill(target, FINITE, epsilon=None, max_queries=500)
    assert result.reason == "interrupted"
    assert result.tree.size == 1
    assert result.certificate.error_bound == 1
    assert not result.certificate.holds
