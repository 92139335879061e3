"""A run without a budget ends by itself where epsilon is out of reach, with the best tree it can vouch for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs import all_answers as everything
from fidelitree.runs.outcome import AS_GOOD, best_so_far
from fidelitree.runs.strategies import table_limits as reach
from fidelitree.runs.strategies.table_limits import LEAST, LearningCurve

SQUARE = ft.ProductSpace([ft.Numeric("x", 0, 1), ft.Numeric("y", 0, 1)])


def scattered(batch: Any) -> Any:
    """No structure at all: a hash of where the input lies on a fine grid."""
    cells = np.floor(batch["x"] * 5_000).astype(np.uint64) * np.uint64(7_919) + np.floor(batch["y"] * 5_000).astype(
        np.uint64
    )
    return (cells * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(63)


def test_a_target_without_structure_ends_the_run_by_itself() -> None:
    result = ft.distill(scattered, SQUARE, 0.1)
    assert result.reason.startswith("no small tree was found that is good enough: after ")
    assert re.search(r" needs more than \d+ leaves: 100,000 labels would leave [2-5]\d[\d.]*% or more$", result.reason)
    assert result.queries.asked < 20_000
    assert result.tree.size == 1, "no tree is better than a constant"
    assert 0.45 < result.certificate.error_bound < 0.6


def striped(batch: Any) -> Any:
    return np.floor(batch["x"] * 20) % 2


def test_what_only_looks_hopeless_at_first_is_found() -> None:
    result = ft.distill(striped, SQUARE, 0.05)
    assert result.certificate.holds
    assert result.tree.size <= 30


def test_a_finite_space_that_can_be_asked_in_full_is_in_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "LEAST", 300)
    monkeypatch.setattr(everything, "_ROWS", 0)
    space = ft.ProductSpace([ft.Numeric.from_values(name, range(15)) for name in "abc"])
    answers = np.random.default_rng(0).integers(0, 2, 15**3)
    result = ft.distill(lambda b: answers[225 * b["a"] + 15 * b["b"] + b["c"]], space, 0.1)
    assert (result.certificate.method, result.certificate.holds) == ("exact", True)
    assert result.tree.size > 512


def seen(one: LearningCurve, *portions: tuple[int, float, float]) -> bool:
    for labels, fitted, held in portions:
        one.see(labels, fitted, held)
    return one.hopeless


def test_errors_that_do_not_fall_are_hopeless_and_errors_that_fall_are_not() -> None:
    flat = [(4_000, 0.2, 0.47), (6_400, 0.25, 0.47), (10_240, 0.3, 0.46)]
    assert seen(LearningCurve(0.1, 512, 100_000), *flat)
    assert not seen(LearningCurve(0.45, 512, 100_000), *flat)
    falling = [(4_000, 0.2, 0.4), (6_400, 0.2, 0.3), (10_240, 0.2, 0.2)]
    assert not seen(LearningCurve(0.05, 512, 100_000), *falling)
    assert seen(LearningCurve(0.05, 512, 12_000), *falling), "the labels to come are too few"


def test_nothing_is_given_up_early() -> None:
    flat = [(count, 0.3, 0.47) for count in (1_000, 2_000, 4_000, LEAST - 1)]
    assert not seen(LearningCurve(0.1, 512, 100_000), *flat)
    assert seen(LearningCurve(0.1, 512, 100_000), *flat, (LEAST, 0.3, 0.47))


def test_few_leaves_are_seen_to_be_too_few_by_what_they_were_fitted_to() -> None:
    portions = [(400, 0.4, 0.41), (800, 0.4, 0.41)]
    assert seen(LearningCurve(0.1, 2, 100_000), *portions)
    assert not seen(LearningCurve(0.1, 2, 100_000), (400, 0.11, 0.4), (800, 0.11, 0.4)), "that may be chance"
    assert not seen(LearningCurve(0.1, 4, 100_000), *portions), "they are too few to say so"
    assert seen(LearningCurve(0.1, 4, 100_000, rows=800), *portions), "there are no more"


def test_one_portion_alone_says_it_only_where_both_shares_are_close() -> None:
    assert seen(LearningCurve(0.1, 512, 100_000), (20_000, 0.37, 0.45))
    assert not seen(LearningCurve(0.1, 512, 100_000), (20_000, 0.2, 0.45))


# --- the best certified tree, not the last one

BITS = ft.ProductSpace.bernoulli(6)


@pytest.mark.parametrize("space", [BITS, None], ids=["space", "rows"])
def test_a_larger_tree_with_a_higher_bound_does_not_replace_an_earlier_one(space: ft.ProductSpace | None) -> None:
    attempts = Attempts(0.05, 0.05)
    small, large = ft.targets.balanced(BITS, 2, seed=0), ft.targets.balanced(BITS, 4, seed=1)
    for tree, errors in ((small, 220), (large, 230)):
        attempts.open(tree)
        attempts.all[-1].count(errors, 1_000)
    assert best_so_far(attempts, space, None).tree == small


def test_of_trees_about_as_good_it_is_the_smaller() -> None:
    attempts = Attempts(0.05, 0.05)
    small, large = ft.targets.balanced(BITS, 2, seed=0), ft.targets.balanced(BITS, 4, seed=1)
    for tree, errors in ((large, 1_980), (small, 2_000)):
        attempts.open(tree)
        attempts.all[-1].count(errors, 10_000)
    least, other = (attempt.error_bound for attempt in attempts.all)
    assert least < other < least + AS_GOOD * 0.198
    assert best_so_far(attempts, None, None).tree == small
