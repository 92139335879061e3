"""The fewest leaves: the optimum where it can be had, never more than the paper's tree elsewhere, always certified."""

from __future__ import annotations

import itertools
import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking import limits as budget
from fidelitree.search.optimal import affordable
from fidelitree.search.optimal.rollout import Rollouts
from fidelitree.targets import TruthTable
from small import true_error

S = ft.ProductSpace.bernoulli


def plain(target: Any) -> Any:
    """A target that nobody can look into."""

    def answers(batch: Any) -> Any:
        return target(batch)

    return answers


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_it_is_the_optimum_where_all_inputs_are_asked(seed: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    target, space = TruthTable(rng.integers(0, 3, 64)), S(6, rng.uniform(0.2, 0.8, 6))
    result = ft.distill(plain(target), space, epsilon, strategy="smallest")
    assert result.tree.size == ft.learners.optimal(target, space, epsilon).tree.size
    assert result.certificate.method == "exact"
    assert result.certificate.error_bound == pytest.approx(true_error(result.tree, target, space), abs=1e-12)
    assert result.certificate.holds
    assert result.queries.asked == 64


def test_any_features() -> None:
    number = ft.Numeric.from_values("x", range(6))
    space = ft.ProductSpace([ft.Categorical("c", range(5)), number, ft.Boolean("b", 0.3)])

    def target(batch: Any) -> Any:
        return ((batch["c"] % 2 == 1) ^ (batch["x"] > 2)) & (batch["b"] == 1)

    result = ft.distill(target, space, 0, strategy="smallest")
    assert result.tree.size == ft.learners.optimal(target, space).tree.size == 5


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_what_is_too_large_for_the_optimum_is_searched_from_the_papers_tree(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A circuit of 17 inputs: all prunings of Algorithm 1's tree are considered, and more."""
    monkeypatch.setattr(affordable, "NUMBERS", 300 * affordable.NODE)
    monkeypatch.setattr(affordable, "FUNCTIONS", 10_000)
    target = ft.targets.expression("(a & b | c & d | e & f | g & h) & (i | j & k) ^ (l & m & n | o & p & q)")
    greedy = ft.build_top_down(target, target.space, epsilon).tree
    result = ft.distill(target, target.space, epsilon, strategy="smallest")
    assert result.tree.size < greedy.size or not epsilon
    assert result.tree.size <= greedy.size
    assert result.certificate.holds
    assert ft.tree_error(result.tree, target, target.space) == pytest.approx(result.certificate.error_bound, abs=1e-12)
    again = ft.distill(target, target.space, epsilon, strategy="smallest")
    assert again.tree == result.tree


def test_the_search_alone_finds_the_optimum_of_a_small_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affordable, "LISTED", 1)
    target = ft.targets.hidden_weighted_bit(7)
    for epsilon in (0.0, 0.1):
        found = ft.distill(target, S(7), epsilon, strategy="smallest").tree
        assert found.size == ft.learners.optimal(target, S(7), epsilon).tree.size


def test_no_time_for_any_search_leaves_the_papers_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affordable, "LISTED", 1)
    monkeypatch.setattr(Rollouts, "_step", lambda self, steps: (_ for _ in ()).throw(affordable.SearchEnded))
    target = ft.targets.tribes(2, 3)
    result = ft.distill(target, S(6), 0.1, strategy="smallest")
    assert result.tree == ft.build_top_down(target, S(6), 0.1).tree


def test_steps_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affordable, "LISTED", 1)
    monkeypatch.setattr(affordable, "NUMBERS", 0)
    target = ft.targets.selector_parity(2, 2, 3)
    result = ft.distill(target, S(10), 0, strategy="smallest")
    assert result.tree.size <= ft.build_top_down(target, S(10), 0).tree.size
    assert true_error(result.tree, target, S(10)) == 0


def test_branch_and_bound_finds_the_optimum_of_a_circuit_of_many_inputs() -> None:
    """A choice among eight inputs by three others, each in disguise: 22 inputs, every input must be tested."""
    bits = [f"(d{k} & e{k})" for k in range(8)]
    ways = [" & ".join(f"{'' if k >> j & 1 else '~'}a{j}" for j in range(3)) for k in range(8)]
    target = ft.targets.expression(" | ".join(f"{way} & {bit}" for way, bit in zip(ways, bits, strict=True)))
    result = ft.distill(target, target.space, 0, strategy="smallest")
    assert result.tree.size == 24
    assert result.certificate.holds
    assert ft.tree_error(result.tree, target, target.space) == 0


def test_values_that_are_never_drawn_need_no_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affordable, "NUMBERS", 0)
    target, space = ft.targets.parity(6), S(6, [0.5, 0.0, 0.3, 1.0, 0.2, 0.5])
    result = ft.distill(target, space, 0, strategy="smallest")
    assert result.tree.size == 16
    assert ft.tree_error(result.tree, target, space) == 0


@pytest.mark.parametrize("looks", [5, 6, 21, 101, 401, 2_001])
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("listed", [1, 1 << 16])
def test_any_time_will_do(looks: int, epsilon: float, listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that strikes at every look: what was found by then is returned, with the error that it has."""
    monkeypatch.setattr(affordable, "LISTED", listed)
    clock = itertools.count(int(time.monotonic()))
    target = ft.targets.selector_parity(2, 2, 2)

    def look() -> float:  # threads that other tests have left behind do not turn it
        return next(clock) if threading.current_thread() is threading.main_thread() else time.monotonic()

    with monkeypatch.context() as patch:
        patch.setattr(budget, "time", SimpleNamespace(monotonic=look))
        result = ft.distill(target, S(8), epsilon, strategy="smallest", max_seconds=looks)
    error = true_error(result.tree, target, S(8))
    assert result.certificate.error_bound == pytest.approx(error, abs=1e-12)
    assert result.certificate.holds == (error <= epsilon)
    if looks >= 2_000:
        assert result.tree.size == ft.learners.optimal(target, S(8), epsilon).tree.size
    elif not result.certificate.holds:
        assert result.reason == f"max_seconds = {looks}"


@pytest.mark.parametrize("looks", [4, 7, 13, 51])
def test_a_clock_may_strike_before_all_inputs_are_asked(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, target = itertools.count(int(time.monotonic())), ft.targets.majority(9)
    with monkeypatch.context() as patch:
        patch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        result = ft.distill(plain(target), S(9), 0.05, strategy="smallest", max_seconds=looks, batch_size=16)
    error = true_error(result.tree, target, S(9))
    assert error <= result.certificate.error_bound + 1e-12
    assert result.reason in (f"max_seconds = {looks}", "certified")


@pytest.mark.parametrize("p", [0.5, 0.3])
def test_a_black_box_of_many_bits(p: float) -> None:
    space = S(20, p)
    target = ft.targets.chain(space, 8, seed=1)
    auto = ft.distill(plain(target), space, 0.1, seed=0)
    few = ft.distill(plain(target), space, 0.1, seed=0, strategy="smallest", max_queries=20_000)
    assert few.certificate.holds
    assert few.queries.asked <= 20_000
    assert few.tree.size <= auto.tree.size
    assert ft.tree_error(few.tree, target, space) <= few.certificate.error_bound
    cart = ft.learners.cart(plain(target), space, 0.1, 0.05, 0)
    assert few.tree.size <= cart.tree.size


def test_numbers_are_no_larger_than_auto() -> None:
    space = ft.ProductSpace([ft.Numeric(name, 0, 1) for name in "abc"])

    def target(batch: Any) -> Any:
        return batch["a"] + batch["b"] > 1.2

    auto = ft.distill(target, space, 0.1, seed=3)
    few = ft.distill(target, space, 0.1, seed=3, strategy="smallest")
    assert few.certificate.holds
    assert few.tree.size <= auto.tree.size


def test_limits_are_kept() -> None:
    target = ft.targets.majority(9)
    result = ft.distill(target, S(9), 0, strategy="smallest", max_leaves=20)
    assert result.tree.size <= 20
    assert not result.certificate.holds
    space = S(20)
    early = ft.distill(plain(ft.targets.balanced(space, 4, seed=1)), space, 0.1, strategy="smallest", max_queries=300)
    assert early.queries.asked <= 300
    with pytest.raises(ft.ParameterError, match="strategy must be one of auto, influence, smallest; got 'least'"):
        ft.distill(target, S(9), strategy="least")
    with pytest.raises(ft.ParameterError, match="epsilon must be above 0 where not every input can be asked"):
        ft.distill(plain(lambda batch: batch[:, 0]), S(30), 0, strategy="smallest")


def test_a_noisy_target_is_not_enumerated() -> None:
    result = ft.distill(plain(ft.targets.majority(5)), S(5), 0.2, strategy="smallest", deterministic=False)
    assert result.certificate.method == "sequential"
    assert result.certificate.holds


def test_the_certificate_of_a_smaller_tree_says_how_far_it_is_from_the_tested_one() -> None:
    space = S(20, 0.3)
    target = ft.targets.balanced(space, 4, seed=1)
    result = ft.distill(plain(target), space, 0.1, seed=1, strategy="smallest")
    certificate = result.certificate
    assert certificate.tree_digest == result.tree.digest
    assert 0 < certificate.differs < certificate.error_bound <= 0.1
    assert ft.tree_error(result.tree, target, space) <= certificate.error_bound
