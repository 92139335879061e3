"""A run without a budget ends by itself where epsilon is out of reach, with the best tree it can vouch for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates.attempts import Attempts
from fidelitree.runs import all_answers as everything
from fidelitree.runs import economics
from fidelitree.runs.outcome import best_so_far

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
    assert re.search(r"; 10% needs more than \d+ lea(f|ves)$", result.reason)
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
    monkeypatch.setattr(economics, "HOPELESS_FROM", 300)
    monkeypatch.setattr(everything, "MOST_WORK", 0)
    space = ft.ProductSpace([ft.Numeric.from_values(name, range(15)) for name in "abc"])
    answers = np.random.default_rng(0).integers(0, 2, 15**3)
    result = ft.distill(lambda b: answers[225 * b["a"] + 15 * b["b"] + b["c"]], space, 0.1)
    assert (result.certificate.method, result.certificate.holds) == ("exact", True)
    assert result.tree.size > 512


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
    assert least < other < least + (0.198 / 10_000) ** 0.5  # a standard error
    assert best_so_far(attempts, None, None).tree == small
