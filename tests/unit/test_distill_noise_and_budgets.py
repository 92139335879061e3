"""``distill`` of noisy targets, of targets that contradict themselves, and for the best tree within a budget.

Where a certified bound is compared with the true error, delta is 1e-7, so that a false bound is a bug.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.events import Event, Finished
from fidelitree.theory.sequential import error_bound, level_in
from small import Bits, true_error

DELTA = 1e-7
FAIR = ft.ProductSpace.bernoulli(11)
MUX = ft.targets.multiplexer(3)


class Noisy:
    """Answers wrongly with some probability, every time anew."""

    def __init__(self, target: Any, share: float) -> None:
        self.target, self.share, self.rows = target, share, 0
        self.random = np.random.default_rng(0)

    def __call__(self, batch: Bits) -> Any:
        self.rows += len(batch)
        return self.target(batch) ^ (self.random.random(len(batch)) < self.share)


# --- noise


def test_every_answer_of_a_noisy_target_is_asked_anew() -> None:
    target = Noisy(MUX, 0.02)
    result = ft.distill(target, ft.ProductSpace.bernoulli(11, 0.1), 0.1, DELTA, deterministic=False)
    assert result.queries.asked == result.queries.paid == target.rows
    assert result.certificate.assumes == ("inputs follow the stated product distribution",)
    assert "deterministic" not in str(result.certificate)
    assert result.certificate.holds
    # The tree errs where it differs from the clean function and the noise does not mend it, and where it does not.
    clean = true_error(result.tree, MUX, result.space)
    assert clean * 0.98 + (1 - clean) * 0.02 <= result.certificate.error_bound


def test_a_noisy_target_is_never_enumerated() -> None:
    """Five bits have 32 inputs, and asking each of them once would say nothing about the noise."""
    target, space = Noisy(ft.targets.majority(5), 0.05), ft.ProductSpace.bernoulli(5)
    result = ft.distill(target, space, 0.3, deterministic=False)
    assert result.certificate.method == "sequential"
    certificate = ft.certify(result.tree, target, space, 0.3, seed=0, deterministic=False)
    assert certificate.method == "sequential"
    with pytest.raises(ft.ParameterError, match=r"epsilon must be above 0 with deterministic=False.*; got 0"):
        ft.distill(MUX, FAIR, 0, deterministic=False)


@pytest.mark.parametrize("features", [11, 60])
def test_noise_confuses_the_learner_without_breaking_it(features: int) -> None:
    """Inputs come again with another label; a walk between them would have nowhere to go."""
    space = ft.ProductSpace.bernoulli(features, [0.5] * 4 + [0.01] * (features - 4))
    target = Noisy(ft.targets.parity(features, 4), 0.1)
    result = ft.distill(target, space, 0.2, DELTA, deterministic=False, max_queries=1000)
    assert result.certificate.error_bound >= 0.1


def test_a_contradiction_ends_the_run_and_names_the_way_out() -> None:
    space = ft.ProductSpace.bernoulli(11, 0.05)
    with pytest.raises(ft.TargetError, match=r"differently the second time.*pass deterministic=False"):
        ft.distill(Noisy(MUX, 0.5), space, 0.05)


# --- the best tree within a budget


@pytest.mark.parametrize("queries", [40, 300])
def test_without_an_epsilon_the_budget_is_spent_on_the_smallest_error(queries: int) -> None:
    result = ft.distill(MUX, FAIR, None, DELTA, max_queries=queries)
    assert result.queries.paid == result.queries.asked + result.queries.paid["check"] == queries
    assert result.reason == f"max_queries = {queries}"
    assert result.certificate.epsilon is None
    assert result.certificate.holds == (result.certificate.error_bound < 1)
    assert true_error(result.tree, MUX, FAIR) <= result.certificate.error_bound
    assert "asked for" not in str(result.certificate)


def test_more_queries_certify_less_error() -> None:
    bounds = [ft.distill(MUX, FAIR, None, max_queries=n).certificate.error_bound for n in (60, 1800)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 0.01


def test_a_budget_for_all_inputs_gives_the_exact_answer() -> None:
    result = ft.distill(MUX, FAIR, None, max_queries=2048)
    assert (result.certificate.method, result.certificate.error_bound) == ("exact", 0)
    few = ft.distill(MUX, FAIR, None, max_queries=2048, max_leaves=8)
    assert few.tree.size <= 8
    assert few.certificate.error_bound == pytest.approx(true_error(few.tree, MUX, FAIR))


def test_without_an_epsilon_it_is_the_knee_of_the_frontier() -> None:
    found, curve = ft.distill(MUX, FAIR, None, max_leaves=5), ft.frontier(MUX, FAIR, max_leaves=5)
    assert (found.tree, found.certificate) == (curve.knee.tree, curve.knee.certificate)
    assert [point.leaves for point in found.frontier or ()] == [point.leaves for point in curve]
    with pytest.raises(ft.ParameterError, match='epsilon must be a number with strategy="influence"; got None'):
        ft.distill(MUX, FAIR, None, strategy="influence", max_queries=100)


# --- endings


def test_a_bound_follows_from_what_the_certificate_says(soak: bool) -> None:
    for seed in range(30 if soak else 8):
        space = ft.ProductSpace.bernoulli(20, 0.3)
        target = ft.targets.balanced(space, 4, seed)
        certificate = ft.distill(target, space, 0.1, seed=seed).certificate
        assert certificate.level == level_in("run", certificate.attempt, 0.05)
        assert certificate.attempt <= certificate.attempts
        assert certificate.errors_of_test is not None
        tested = error_bound(certificate.errors_of_test, certificate.samples, certificate.level)
        assert certificate.error_bound == pytest.approx(min(1, tested + certificate.differs), rel=1e-8)


def test_a_budget_that_is_not_reached_changes_nothing(soak: bool) -> None:
    """Where known inputs cost nothing, a last portion is cut as if none of it were known: a whole one must be left."""
    for n, spare in ((24, 0), (14, 40)):
        for seed in range(40 if soak else 10):
            space = ft.ProductSpace.bernoulli(n, 0.3)
            target = ft.targets.balanced(space, 4, seed)
            free = ft.distill(target, space, 0.1, seed=seed)
            enough = max(free.queries.asked, free.queries.paid)  # checks are rows paid, which a limit is about too
            tight = ft.distill(target, space, 0.1, seed=seed, max_queries=int(enough) + spare)
            assert (tight.tree, tight.certificate, tight.reason) == (free.tree, free.certificate, free.reason)


def test_chasing_fewer_leaves_ends() -> None:
    """Once certified, a run goes on for at most as many queries again, whatever it is told on the way."""
    space = ft.ProductSpace.bernoulli(12, 0.3)
    for seed in range(12):
        certified: list[int] = []

        def watch(event: Event, seen: list[int] = certified) -> None:
            if getattr(event, "error_bound", 1) <= 0.2:
                seen.append(event.asked)

        result = ft.distill(ft.targets.chain(space, 40, seed), space, 0.2, 0.2, seed=seed, observer=watch)
        assert result.queries.asked <= 2 * certified[0]


def test_a_budget_that_ends_in_the_first_lesson_still_uses_what_is_known() -> None:
    space = ft.ProductSpace.bernoulli(60)
    result = ft.distill(lambda batch: batch[:, 7], space, 0.05, max_queries=34)
    assert result.tree.size > 1


def test_a_run_that_is_cut_short_after_its_certificate_gives_the_smallest_tree_that_holds() -> None:
    space = ft.ProductSpace.bernoulli(20, 0.3)
    cut_short = 0
    for seed in range(6):
        target = ft.targets.balanced(space, 4, seed)
        told: dict[str, Any] = {"prefer": "leaves", "seed": seed, "max_seconds": 1e9}
        result = ft.distill(target, space, 0.1, observer=_Interrupt(0.08), **told)
        assert result.reason in ("certified, then interrupted", "certified")
        assert result.certificate.holds
        if result.reason != "certified":
            cut_short += 1
            sooner = ft.distill(target, space, 0.1, observer=_Interrupt(0.1), **told)
            assert result.tree.size <= sooner.tree.size
    assert cut_short, "or the test shows nothing"


class _Interrupt:
    """Presses Ctrl-C once some error is certified."""

    def __init__(self, bound: float) -> None:
        self.bound = bound

    def __call__(self, event: Event) -> None:
        if getattr(event, "error_bound", 1) <= self.bound:
            raise KeyboardInterrupt


def test_an_interrupt_when_all_is_done_does_not_lose_the_result() -> None:
    def observer(event: Event) -> None:
        if isinstance(event, Finished):
            raise KeyboardInterrupt

    for epsilon in (0, 0.1):
        assert ft.distill(MUX, FAIR, epsilon, observer=observer).reason == "certified"


def test_a_seed_is_checked_where_it_is_not_needed() -> None:
    with pytest.raises(ft.ParameterError, match="seed must be at least 0; got -1"):
        ft.distill(MUX, FAIR, 0, seed=-1)
